"""Sample family: how different several continuations of one prompt by one author are."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from favor.scores.common_prompts import bigram_overlaps
from favor.scores.inputs import ScoreInputs
from favor.scores.metric import CONTROLS, Metric, Score, scores_frame
from favor.scores.settings import Samples

_NOVELTY = (
    "after NoveltyBench (Zhang et al. 2025): classes of a prompt's samples, two alike where their word bigrams are"
)
METRICS = (
    Metric("distinct_samples", "Distinct-k", 1.0, float("inf"), "higher", _NOVELTY),
    Metric("sample_overlap", "Bigram overlap", 0.0, 1.0, "none",
        "mean Jaccard similarity of two samples' word bigrams"),
)  # fmt: skip


def distinct(overlaps: np.ndarray, threshold: float) -> int:
    """Return the number of classes of k samples: each joins the first class whose first member it is like.

    overlaps: [k, k]. Two samples are alike from ``threshold`` on.
    """
    first: list[int] = []
    for sample in range(len(overlaps)):
        if not any(overlaps[sample, other] >= threshold for other in first):
            first.append(sample)
    return len(first)


def score(inputs: ScoreInputs, settings: Samples) -> pd.DataFrame:
    """Score the prompts with at least two samples that passed the filter; means over prompts.

    Settings: ``compared_words`` (of a text's start) and ``threshold`` of the Jaccard similarity of word bigrams.
    """
    scores: list[Score] = []
    for run in inputs.runs:
        if run.method in CONTROLS:
            continue
        texts = np.array(inputs.texts(run), dtype=object)
        groups = [places for places in run.survivors.groupby("prompt_id").indices.values() if len(places) > 1]
        matrices = [_matrix(list(texts[places]), settings.compared_words, inputs.words) for places in groups]
        values: Sequence[list[float]] = (
            [float(distinct(matrix, settings.threshold)) for matrix in matrices],
            [float(matrix[np.triu_indices(len(matrix), k=1)].mean()) for matrix in matrices],
        )
        for metric, found in zip(METRICS, values, strict=True):
            value = float(np.mean(found)) if found else float("nan")
            note = "no prompt has two samples that passed the filter (generation.samples)"
            scores.append(Score(run.seed, run.method, "", metric.name, "", value, len(found), note))
    return scores_frame(scores)


def _matrix(texts: list[str], compared_words: int, words: str) -> np.ndarray:
    matrix = np.eye(len(texts))
    first, second = np.triu_indices(len(texts), k=1)
    matrix[first, second] = matrix[second, first] = bigram_overlaps(texts, compared_words, words)
    return matrix
