"""Source-space family: does an encoder carry the author in human text? Probe, effect sizes, strict verification.

It looks at human texts only, so its rows belong to no run: their method is "source" and their seed 0.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.inputs import ScoreInputs, Sources, read_encoders
from favor.scores.metric import SOURCE, Metric, Score, scores_frame
from favor.scores.prototypes import macro_f1
from favor.scores.settings import SourceSpace
from favor.scores.verification import Cells, Pairs, rows_at_once
from favor.statistics.effect_sizes import effect_sizes, permuted_author_effect
from favor.statistics.roc import separation

_REFERENCE = "paper, Source-Space Controls"
METRICS = (
    Metric("dimension", "Dim.", 0.0, math.inf, "none", _REFERENCE),
    Metric("probe_accuracy", "Author Acc.", 0.0, 1.0, "higher", f"{_REFERENCE}; multinomial logistic regression"),
    Metric("probe_macro_f1", "Macro-F1", 0.0, 1.0, "higher", f"{_REFERENCE}; multinomial logistic regression"),
    Metric("author_effect", "Author-in-topic ω²", -1.0, 1.0, "higher", _REFERENCE),
    Metric("topic_effect", "Topic ω²", -1.0, 1.0, "lower", _REFERENCE),
    Metric("effect_ratio", "A/T ratio", -math.inf, math.inf, "higher", _REFERENCE),
    Metric("origin_slope", "Topic-author slope", -math.inf, math.inf, "lower", _REFERENCE),
    Metric("source_auc", "Source AUC", 0.0, 1.0, "higher", f"{_REFERENCE}; human-human pairs, same-topic negatives"),
    Metric("source_eer", "Source EER", 0.0, 1.0, "lower", f"{_REFERENCE}; human-human pairs, same-topic negatives"),
)


def human_pairs(sources: Sources) -> Pairs:
    """All unordered pairs of human texts: same author, or another author of the same, known topic."""
    author, topic = (pd.factorize(sources.frame[key])[0] for key in ("client", "topic"))
    known = (sources.frame["topic"] != UNKNOWN_TOPIC).to_numpy()

    def cells() -> Iterator[Cells]:
        for rows in rows_at_once(len(author), len(author)):
            later = slice(rows.start, None)
            shared = (topic[rows, None] == topic[None, later]) & known[rows, None]
            first, second = np.nonzero(np.triu(shared | (author[rows, None] == author[None, later]), k=1))
            first, second = first + rows.start, second + rows.start
            parts = rows_at_once(len(first), sources.vectors.shape[1])
            sides = ((sources.vectors[first[part]], sources.vectors[second[part]]) for part in parts)
            yield np.concatenate([np.einsum("nd,nd->n", *side) for side in sides]), first, second

    return Pairs(cells, sources.frame["client"], sources.frame["client"])


def probe(
    train: Sources, validation: Sources, test: Sources, strengths: list[float], iterations: int
) -> tuple[float, float, float]:
    """Return (accuracy, macro-F1, C) on ``test`` of a class-balanced multinomial logistic regression.

    It is fitted on the unit rows of ``train``; C is the one of best macro-F1 on ``validation`` (the smallest
    on a tie), without refit. Macro-F1 runs over the authors present in the scored texts.
    """
    wanted = validation.frame["client"].to_numpy()
    models = [
        LogisticRegression(C=strength, class_weight="balanced", max_iter=iterations).fit(
            train.vectors, train.frame["client"]
        )
        for strength in sorted(strengths)
    ]
    values = [macro_f1(wanted, model.predict(validation.vectors), sorted(set(wanted))) for model in models]
    best = models[int(np.argmax(values))]
    predicted, true = best.predict(test.vectors), test.frame["client"].to_numpy()
    return float(accuracy_score(true, predicted)), macro_f1(true, predicted, sorted(set(true))), best.C


def score(inputs: ScoreInputs, settings: SourceSpace) -> pd.DataFrame:
    """Score every encoder on the clients' human texts."""
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        scores += _score_encoder(inputs, encoder, settings)
    return scores_frame(scores)


def _score_encoder(inputs: ScoreInputs, encoder: str, settings: SourceSpace) -> Iterator[Score]:
    def row(metric: str, value: float, n: int, note: str = "", variant: str = "") -> Score:
        return Score(0, SOURCE, encoder, metric, variant, value, n, note)

    train, validation, test = (inputs.sources(encoder, kind) for kind in ("train", "validation", "test"))
    yield row("dimension", float(train.vectors.shape[1]), len(train.frame))
    if len(validation.frame) and len(test.frame):
        accuracy, f1, _ = probe(train, validation, test, settings.regularisation, settings.iterations)
    else:
        accuracy = f1 = float("nan")
    note = "no validation or test texts were embedded"
    yield row("probe_accuracy", accuracy, len(test.frame), note)
    yield row("probe_macro_f1", f1, len(test.frame), note)
    found = separation(human_pairs(test).blocks)
    missing = "needs same-author and same-topic pairs of test texts"
    yield row("source_auc", found.auc, found.pairs, missing)
    yield row("source_eer", found.eer, found.pairs, missing)
    yield from _effects(inputs.sources(encoder, settings.effect_kind), settings, row)


def _effects(sources: Sources, settings: SourceSpace, row: Any) -> Iterator[Score]:
    authors, topics = (sources.frame[name].to_numpy(dtype=object).astype(str) for name in ("client", "topic"))
    found = effect_sizes(sources.vectors, authors, topics)
    note = "needs two topics with at least three authors, more texts than (topic, author) pairs, and texts that differ"
    nan = float("nan")
    n = found.texts if found else 0
    yield row("author_effect", float(found.author.mean()) if found else nan, n, note)
    yield row("topic_effect", float(found.topic.mean()) if found else nan, n, note)
    yield row("effect_ratio", found.ratio if found else nan, n, note)
    yield row("effect_ratio", found.mean_of_ratios if found else nan, n, note, "mean_of_ratios")
    yield row("origin_slope", found.slope if found else nan, n, note)
    if settings.permutations:
        null = permuted_author_effect(sources.vectors, authors, topics, 0, settings.permutations) if found else [nan]
        yield row("author_effect", float(np.mean(null)), n, note, "author_permutation")
