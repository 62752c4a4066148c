"""Common-prompt family: are different authors' continuations of one prompt alike, and can their author be told?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from favor.scores.copying import word_list
from favor.scores.inputs import Run, ScoreInputs, authors_of, read_encoders
from favor.scores.metric import ALL_SEEDS, CONTROLS, Metric, Score, scores_frame
from favor.scores.prototypes import predict, prototypes
from favor.scores.settings import CommonPrompts
from favor.statistics.bootstrap import (
    RATE,
    auc,
    interval,
    mean_draws,
    observed_and_resampled,
    pair_auc_draws,
    pair_mean_draws,
)
from favor.statistics.diversity import ngrams
from favor.statistics.variance_components import random_effects, row_share_limits, shares

NEEDS = "prompts.common"  # key of an experiment without which nothing is scored
_ALIKE = "Padmakumar and He 2024, homogenisation"
_COSINE = f"{_ALIKE}: mean cosine of two authors' continuations"
_JACCARD = f"{_ALIKE}: mean Jaccard similarity of the word bigrams of two authors' continuations"
_SHARE = "variance components of the style vectors (Henderson 1953, Method I)"
METRICS = (
    Metric("common_similarity", "Same prompt", -1.0, 1.0, "none", f"{_COSINE} of one common prompt"),
    Metric("own_prompt_similarity", "Own prompts", -1.0, 1.0, "none", f"{_COSINE} of their own prompts"),
    Metric("common_overlap", "Same prompt", 0.0, 1.0, "none", f"{_JACCARD} of one common prompt"),
    Metric("own_prompt_overlap", "Own prompts", 0.0, 1.0, "none", f"{_JACCARD} of their own prompts"),
    Metric("common_accuracy", "Author Acc.", 0.0, 1.0, "higher",
        "continuations of common prompts nearest to their author"),
    Metric("common_auc", "AUC, one prompt", 0.0, 1.0, "higher",
        "positives: one author, two common prompts; negatives: two authors, one prompt"),
    Metric("author_share", "Author", 0.0, 1.0, "higher", f"{_SHARE}: share between authors"),
    Metric("prompt_share", "Prompt", 0.0, 1.0, "none", f"{_SHARE}: share between prompts"),
    Metric("remainder_share", "Remainder", 0.0, 1.0, "none", f"{_SHARE}: what is left, with the interaction"),
)  # fmt: skip
_LEAST_AND_MOST = {metric.name: (metric.minimum, metric.maximum) for metric in METRICS}
OTHER_PROMPT = "other_prompt"
SHARES = ("author_share", "prompt_share", "remainder_share")
# compared_words: of a text's start, behind the bigrams
_NOBODY = "people wrote no continuations of the common prompts"
_TOO_FEW = "needs two authors and two prompts with outputs that passed the filter"
_IN_SOME_SEED = f"{_TOO_FEW}, under every seed"


@dataclass(frozen=True)
class Crossed:
    """All pairs of texts, the upper triangle of n x n: the places of both authors, and whether the prompt is one."""

    left: np.ndarray
    right: np.ndarray
    same_prompt: np.ndarray

    @classmethod
    def of(cls, items: pd.DataFrame, clients: Sequence[str]) -> Crossed:
        """Return the pairs of the rows of ``items`` (client, prompt_id), whose authors are among ``clients``."""
        author, prompt = np.searchsorted(clients, items["client"].astype(str)), pd.factorize(items["prompt_id"])[0]
        first, second = np.triu_indices(len(items), k=1)
        return cls(author[first], author[second], prompt[first] == prompt[second])

    def _kept(self, same_prompt: bool, apart: bool) -> np.ndarray:
        own = (self.left == self.right) & ~self.same_prompt & apart
        return own | (self.left != self.right) & (self.same_prompt == same_prompt)

    def value(self, values: np.ndarray, same_prompt: bool, apart: bool = False) -> tuple[float, int]:
        """Return (mean, pairs) of ``values`` over pairs of two authors, on one prompt or on two; NaN without any.

        ``apart``: (AUC, pairs) of pairs of one author on two prompts against these.
        """
        kept = self._kept(same_prompt, apart)
        chosen = values[kept]
        if apart:
            return auc(chosen, (self.left == self.right)[kept]), len(chosen)
        return (float(chosen.mean()) if len(chosen) else float("nan")), len(chosen)

    def draws(self, values: np.ndarray, same_prompt: bool, counts: np.ndarray, apart: bool = False) -> np.ndarray:
        """Return that mean or AUC in every draw of authors, [draws]."""
        kept, of_pairs = self._kept(same_prompt, apart), pair_auc_draws if apart else pair_mean_draws
        return of_pairs(values[kept], self.left[kept], self.right[kept], counts)


# (method, encoder, metric, variant) -> its values in every draw of authors, an array per seed, the outputs behind them.
Draws = dict[tuple[str, str, str, str], list[tuple[np.ndarray, int]]]


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of all unordered pairs of unit rows [n, d]."""
    return (vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)]


def bigram_overlaps(texts: Sequence[str], compared_words: int, words: str = "paper") -> np.ndarray:
    """Return the Jaccard similarity of the word bigrams of all unordered pairs of texts; 0 where both have none.

    Only the first ``compared_words`` words of a text count, for longer texts share fewer of their bigrams.
    """
    grams = [sorted(set(ngrams(word_list(text, words)[:compared_words], 2))) for text in texts]
    places, vocabulary = pd.factorize(pd.Series([gram for own in grams for gram in own], dtype=object))
    starts = np.concatenate([[0], np.cumsum([len(own) for own in grams])]).astype(int)
    shape = len(texts), max(1, len(vocabulary))
    present = csr_matrix((np.ones(len(places)), places, starts), shape=shape)
    first, second = np.triu_indices(len(texts), k=1)
    common = (present @ present.T).toarray()[first, second]
    sizes = np.diff(starts)
    either = sizes[first] + sizes[second] - common
    return np.divide(common, either, out=np.zeros(len(common)), where=either > 0)


def score(inputs: ScoreInputs, settings: CommonPrompts) -> pd.DataFrame:
    """Score every run's continuations of the common prompts that passed the filter.

    Variant ``other_prompt``: two authors on two common prompts instead of one, which is what similarity and AUC are by
    chance, where the prompt is not what two texts share. The control ``gold`` has the similarity of people's own
    continuations of their own prompts, and ``shuffled`` the accuracy of a guess. A method with one adapter for all
    gives all authors one text: similarity 1, accuracy 1 / authors, author share 0, AUC 0.5 over two prompts and 0 over
    one, where the negatives are equal texts.

    ``low`` and ``high`` (``other_prompt_low`` and so on) are the 95 % interval over authors, of the mean over seeds and
    for these prompts. Prompts are fixed: methods are compared on the same ones, and other prompts give other values,
    which an interval over authors does not cover. That of the author's share is the mean of the seeds' limits; the
    other shares have none. Shares take the first of several samples of a prompt, because the model behind them has one
    observation per author and prompt, or independent ones.

    Settings: ``encoders`` (None: all), ``compared_words``, and ``draws`` and ``seed`` of the bootstrap.
    """
    counts = observed_and_resampled(len(inputs.clients), settings.seed, settings.draws)
    scores: list[Score] = []
    draws: Draws = {}
    limits: dict[tuple[str, str], list[tuple[float, float, int]]] = {}  # of the author's share in each seed, and n
    encoders = read_encoders(inputs, settings.encoders)
    for run in inputs.runs:
        overlaps = bigram_overlaps(inputs.texts(run), settings.compared_words, inputs.words)
        found = Crossed.of(run.survivors, inputs.clients).value(overlaps, same_prompt=False)
        scores.append(_row(run, "", "own_prompt_overlap", "", *found))
        if run.method in CONTROLS:
            scores += _controls(inputs, run, encoders)
    for run in inputs.common_runs:
        overlaps = bigram_overlaps(inputs.texts(run), settings.compared_words, inputs.words)
        crossed = Crossed.of(run.survivors, inputs.clients)
        scores += _compared(run, "", "common_overlap", crossed, overlaps, counts, draws)
    for encoder in encoders:
        prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
        for run in inputs.runs:
            crossed = Crossed.of(run.survivors, inputs.clients)
            found = crossed.value(cosines(inputs.vectors(encoder, run)), same_prompt=False)
            scores.append(_row(run, encoder, "own_prompt_similarity", "", *found))
        for run in inputs.common_runs:
            scores += _score_run(inputs, run, encoder, prototype, counts, draws)
            scores += _shares(inputs, run, encoder, limits.setdefault((run.method, encoder), []))
    for (method, encoder), seeds in limits.items():
        low, high = np.mean([ends for *ends, _ in seeds], axis=0)
        n = sum(n for *_, n in seeds)
        scores += Score(ALL_SEEDS, method, encoder, "author_share", "", np.nan, n, _IN_SOME_SEED).ends((low, high))
    return scores_frame([*scores, *_intervals(inputs, draws, counts)])


def _intervals(inputs: ScoreInputs, draws: Draws, counts: np.ndarray) -> Iterator[Score]:
    authors = authors_of(inputs.common_runs)
    for (method, encoder, metric, variant), seeds in draws.items():
        drawn = np.stack([values for values, _ in seeds])
        # One text for all authors has similarity 1 and AUC 0 by construction, which are no shares of trials.
        of_outputs = metric == "common_accuracy"  # the others are of pairs
        ends = interval(drawn, authors[method], RATE if of_outputs else None, None if of_outputs else counts)
        few = "needs outputs of two authors, and some under every seed" if of_outputs else _IN_SOME_SEED
        pooled = Score(ALL_SEEDS, method, encoder, metric, variant, np.nan, sum(size for _, size in seeds), few)
        yield from pooled.ends(np.clip(ends, *_LEAST_AND_MOST[metric]))


def _row(run: Run, encoder: str, metric: str, variant: str, value: float, n: int, note: str = _TOO_FEW) -> Score:
    return Score(run.seed, run.method, encoder, metric, variant, value, n, note)


def _compared(
    run: Run, encoder: str, metric: str, crossed: Crossed, values: np.ndarray, counts: np.ndarray, draws: Draws
) -> Iterator[Score]:
    """Yield a measure of pairs of texts, on one common prompt and on two, and keep its draws."""
    apart = metric == "common_auc"
    for variant in ("", OTHER_PROMPT):
        value, n = crossed.value(values, not variant, apart)
        drawn = crossed.draws(values, not variant, counts, apart)
        draws.setdefault((run.method, encoder, metric, variant), []).append((drawn, n))
        yield _row(run, encoder, metric, variant, value, n)


def _controls(inputs: ScoreInputs, run: Run, encoders: Sequence[str]) -> Iterator[Score]:
    """Yield what people's texts have no value of, but for the accuracy of a guess."""
    pairs = [("", "common_overlap"), *product(encoders, ("common_similarity", "common_auc"))]
    asked = [(encoder, metric, variant) for encoder, metric in pairs for variant in ("", OTHER_PROMPT)]
    asked += [(encoder, metric, "") for encoder, metric in product(encoders, ("common_accuracy", *SHARES))]
    for encoder, metric, variant in asked:
        guess = run.method == "shuffled" and metric == "common_accuracy"
        value = 1 / len(inputs.clients) if guess else float("nan")
        yield _row(run, encoder, metric, variant, value, 0, _NOBODY)


def _score_run(
    inputs: ScoreInputs, run: Run, encoder: str, prototype: np.ndarray, counts: np.ndarray, draws: Draws
) -> Iterator[Score]:
    survivors, vectors = run.survivors, inputs.vectors(encoder, run)
    similarity, crossed = cosines(vectors), Crossed.of(survivors, inputs.clients)
    for metric in ("common_similarity", "common_auc"):
        yield from _compared(run, encoder, metric, crossed, similarity, counts, draws)
    true = survivors["client"].to_numpy(dtype=object)
    right = true == predict(vectors, prototype, inputs.clients)
    accuracy = float(right.mean()) if len(right) else float("nan")
    drawn = mean_draws(right.astype(np.float64), inputs.places(true), counts)
    draws.setdefault((run.method, encoder, "common_accuracy", ""), []).append((drawn, len(right)))
    yield _row(run, encoder, "common_accuracy", "", accuracy, len(right), "no output passed the filter")


def _shares(inputs: ScoreInputs, run: Run, encoder: str, limits: list[tuple[float, float, int]]) -> Iterator[Score]:
    first = (run.survivors["sample"] == 0).to_numpy()
    vectors = inputs.vectors(encoder, run)[first]
    authors, prompts = (run.survivors[name].to_numpy(dtype=object)[first] for name in ("client", "prompt_id"))
    parts = random_effects(vectors, (authors, prompts))
    limits.append((*row_share_limits(vectors, authors, prompts), len(vectors)))
    for metric, share in zip(SHARES, [float("nan")] * 3 if parts is None else shares(parts), strict=True):
        yield _row(run, encoder, metric, "", share, len(vectors))
