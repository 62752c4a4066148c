"""Author retrieval family: does an encoder find the author of a human text that nothing was learnt from?

Every held-out text (test split) looks for its author among the clients' centroids, the normalised means of their
training texts, and for a text by the same author among the other held-out ones. It looks at human texts only, so its
rows belong to no run: their method is "source" and their seed 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.inputs import ScoreInputs, Sources, read_encoders
from favor.scores.metric import SOURCE, Metric, Score, scores_frame
from favor.scores.prototypes import prototypes
from favor.scores.settings import Resampled
from favor.scores.verification import rows_at_once
from favor.statistics.bootstrap import (
    RATE,
    compared,
    interval,
    mean_draws,
    observed_and_resampled,
    pair_auc_draws,
)

_CENTROIDS = "held-out human texts against the clients' centroids of training texts"
METRICS = (
    Metric("retrieval_accuracy", "Author found", 0.0, 1.0, "higher", f"{_CENTROIDS}; nearest is the author's own"),
    Metric("retrieval_mrr", "MRR", 0.0, 1.0, "higher", f"{_CENTROIDS}; mean reciprocal rank of the author's own"),
    Metric("retrieval_auc", "Human AUC", 0.0, 1.0, "higher", f"{_CENTROIDS}; own above other authors'"),
    Metric("neighbour_accuracy", "Neighbour's author", 0.0, 1.0, "higher", "the nearest other held-out text is theirs"),
    Metric("retrieval_chance", "Chance", 0.0, 1.0, "none", "accuracy of guessing an author"),
    Metric("neighbour_chance", "Chance", 0.0, 1.0, "none", "accuracy of guessing another held-out text"),
)  # fmt: skip
SAME_TOPIC = "same_topic"


@dataclass(frozen=True)
class Search:
    """Held-out texts against centroids.

    Cosines [n, c], the place of each text's own author [n], and what it is compared with: boolean [n, c], always with
    its own.
    """

    cosines: np.ndarray
    own: np.ndarray
    candidates: np.ndarray

    def ranked(self) -> dict[str, np.ndarray]:
        """Return two metrics of each text [n]: the first place, or the own part of it where centroids tie; 1 / rank.

        The rank of the own centroid is in the middle of those that tie with it.
        """
        places, others = (np.arange(len(self.own)), self.own), self.candidates.copy()
        others[places] = False
        own = self.cosines[places][:, None]
        above, level = ((others & beside).sum(axis=1) for beside in (self.cosines > own, self.cosines == own))
        first = np.where(above == 0, 1.0 / (1.0 + level), 0.0)
        return {"retrieval_accuracy": first, "retrieval_mrr": 1.0 / (1.0 + above + level / 2)}

    def among(self, candidates: np.ndarray) -> Search:
        """Return the search among fewer centroids, of the texts that have a rival left."""
        kept = candidates.sum(axis=1) > 1
        return Search(self.cosines[kept], self.own[kept], candidates[kept])


def search(train: Sources, test: Sources) -> tuple[Search, np.ndarray]:
    """Return the search among all authors, and which of its cells [n, c] stay among authors of one known topic.

    Authors are those of ``train``; texts of others are left out. An author has the topics of the training texts.
    """
    authors = sorted(set(train.frame["client"]))
    kept = test.frame["client"].isin(authors).to_numpy()
    texts, vectors = test.frame[kept], test.vectors[kept]
    own = np.searchsorted(authors, texts["client"].to_numpy(dtype=str))
    cosines = np.zeros((len(texts), len(authors)))
    if cosines.size:
        cosines = vectors @ prototypes(train, authors).T
    topics = [set(rows) - {UNKNOWN_TOPIC} for _, rows in train.frame.groupby("client")["topic"]]
    shared = np.array([[topic in known for known in topics] for topic in texts["topic"]], dtype=bool)
    shared = shared.reshape(cosines.shape)
    shared[~shared[np.arange(len(own)), own]] = False  # a text of a topic that its author does not train on
    return Search(cosines, own, np.ones(cosines.shape, dtype=bool)), shared


def neighbours(test: Sources) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the author's place, whether the nearest other text is the author's, and the chance of that: three [n].

    Of texts whose author has another one; of several nearest texts, the share that is the author's.
    """
    names, authors = np.unique(test.frame["client"].to_numpy(dtype=str), return_inverse=True)
    sizes = np.bincount(authors, minlength=len(names))[authors]
    found = np.zeros(len(authors))
    for rows in rows_at_once(len(authors), len(authors)):
        cosines = test.vectors[rows] @ test.vectors.T
        places = np.arange(len(authors))[rows]
        cosines[np.arange(len(places)), places] = -np.inf
        nearest = cosines == cosines.max(axis=1, initial=-np.inf, keepdims=True)
        found[rows] = (nearest & (authors[places][:, None] == authors)).sum(axis=1) / nearest.sum(axis=1).clip(min=1)
    kept = sizes > 1
    return authors[kept], found[kept], ((sizes - 1) / max(1, len(authors) - 1))[kept]


def score(inputs: ScoreInputs, settings: Resampled) -> pd.DataFrame:
    """Score every encoder; settings: ``encoders`` (None: all), ``draws`` and ``seed`` of the bootstrap over authors.

    Variants: ``low`` and ``high`` (95 % interval over authors), and ``same_topic``, among authors of one topic.
    """
    encoders = read_encoders(inputs, settings.encoders)
    kinds = {name: [inputs.sources(name, kind) for kind in ("train", "test")] for name in encoders}
    return scores_frame(
        row
        for name, (train, test) in kinds.items()
        for row in retrieval_scores(name, train, test, settings.draws, settings.seed)
    )


def retrieval_scores(encoder: str, train: Sources, test: Sources, draws: int, seed: int) -> Iterator[Score]:
    """Score one encoder by the human texts of an experiment in its space."""
    everyone, shared = search(train, test)
    for variant, found in (("", everyone.among(everyone.candidates)), (SAME_TOPIC, everyone.among(shared))):
        note = "needs held-out texts of two authors" + (" of one topic" if variant else "")
        yield from _centroid_scores(encoder, variant, found, draws, seed, note)
    authors, right, chance = neighbours(test)
    several = len(set(authors)) > 1
    note = "needs two authors with two held-out texts each"
    counts = observed_and_resampled(max(1, authors.max(initial=-1) + 1), seed, draws)
    resampled = mean_draws(right, authors, counts) if several else None
    yield from _rows(encoder, "neighbour_accuracy", "", resampled, len(set(authors)), len(right), note)
    value = float(chance.mean()) if several else np.nan
    yield Score(0, SOURCE, encoder, "neighbour_chance", "", value, len(right), note)


def _centroid_scores(encoder: str, variant: str, found: Search, draws: int, seed: int, note: str) -> Iterator[Score]:
    n, several = len(found.own), len(set(found.own)) > 1
    authors = np.unique(np.concatenate([found.own, np.nonzero(found.candidates)[1]]))
    own, present = np.searchsorted(authors, found.own), len(set(found.own))
    counts = observed_and_resampled(max(1, len(authors)), seed, draws)
    for metric, values in found.ranked().items():
        resampled = mean_draws(values, own, counts) if several else None
        yield from _rows(encoder, metric, variant, resampled, present, n, note)
    text, author = np.nonzero(found.candidates)
    rival, near = np.searchsorted(authors, author), np.zeros((len(authors),) * 2, dtype=bool)
    near[own[text], rival] = True
    area = pair_auc_draws(found.cosines[text, author], own[text], rival, counts) if several else None
    yield from _rows(encoder, "retrieval_auc", variant, area, compared(near), n, note, counts)
    chance = float((1.0 / found.candidates.sum(axis=1)).mean()) if several else np.nan
    yield Score(0, SOURCE, encoder, "retrieval_chance", variant, chance, n, note)


def _rows(
    encoder: str,
    metric: str,
    variant: str,
    draws: np.ndarray | None,
    authors: int,
    n: int,
    note: str,
    counts: np.ndarray | None = None,
) -> Iterator[Score]:
    value, *ends = (np.nan,) * 3
    if draws is not None and np.isfinite(draws[0]) and np.isfinite(draws[1:]).any():
        value, *ends = float(draws[0]), *interval(draws, authors, RATE, counts)
    score = Score(0, SOURCE, encoder, metric, variant, value, n, note)
    yield from (score, *score.ends(ends))


def unproven(scores: pd.DataFrame) -> dict[str, str]:
    """Return why an encoder cannot be said to separate the writers' own texts, by encoder; {} where all can.

    It does where the 95 % interval of its AUC lies above the 0.5 of guessing.
    """
    found = {}
    for encoder, own in scores[scores["metric"] == "retrieval_auc"].groupby("encoder"):
        value = dict(zip(own["variant"], own["value"], strict=True))
        if math.isnan(value[""]):
            note = own.loc[own["variant"] == "", "note"].iloc[0]
            found[str(encoder)] = f"was not tested on the writers' own texts ({note})"
        elif value["low"] <= 0.5:
            ends = f"[{value['low']:.3f}, {value['high']:.3f}]"
            found[str(encoder)] = f"is not shown to separate the writers' own texts (AUC {value['']:.3f} {ends})"
    return found
