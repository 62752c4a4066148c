"""MAUVE family: how far the distribution of a run's outputs is from that of the human continuations."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import Metric, Score, scores_frame
from favor.scores.settings import Mauve

_REFERENCE = "Pillutla et al. 2021, on the encoder's unit rows"
METRICS = (
    Metric("mauve", "MAUVE", 0.0, 1.0, "higher", f"{_REFERENCE}; mean over k-means seeds"),
    Metric("mauve_deviation", "MAUVE sd", 0.0, 1.0, "none", f"{_REFERENCE}; sample deviation over k-means seeds"),
    Metric("mauve_buckets", "Buckets", 2.0, float("inf"), "none", "human continuations / 10, at least 2"),
)
MINIMUM_TEXTS = 20  # fewer texts than this make two buckets of noise


def mauve_values(outputs: np.ndarray, human: np.ndarray, seeds: list[int]) -> tuple[list[float], int]:
    """Return (MAUVE for each k-means seed, number of buckets) of two samples of unit rows [n, d] and [m, d].

    There are m / 10 buckets, whatever n is: with fewer buckets the value is higher, and a method must not gain by what
    the filter takes from it.
    """
    import faiss
    from mauve import compute_mauve  # GPL-3, and slow to import: nothing else in the package touches it

    buckets = max(2, round(len(human) / 10))
    features = [rows.astype(np.float32) for rows in (outputs, human)]
    kmeans = faiss.Kmeans
    # ten texts per bucket are MAUVE's rule; faiss would print a line about each clustering because they are under 39
    faiss.Kmeans = partial(kmeans, min_points_per_centroid=1)  # type: ignore[misc,assignment]
    try:
        found = [compute_mauve(*features, num_buckets=buckets, seed=seed) for seed in seeds]
    finally:
        faiss.Kmeans = kmeans  # type: ignore[misc]
    # equal histograms have MAUVE 1; the library's area under its curve may then say 0.75, as all points tie
    return [1.0 if np.array_equal(each.p_hist, each.q_hist) else float(each.mauve) for each in found], buckets


def score(inputs: ScoreInputs, settings: Mauve) -> pd.DataFrame:
    """Compare each run's surviving outputs with the human continuations of all prompts of its seed.

    Settings: ``encoders`` (None: all) and ``kmeans_seeds``. The value depends on encoder, n and buckets.
    Buckets are the same for all methods of a seed; n is not where outputs failed the filter. The control ``shuffled``
    is the same set of texts as ``gold``: no value.
    """
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        for run in inputs.runs:
            scores += _score_run(inputs, encoder, run, settings.kmeans_seeds)
    return scores_frame(scores)


def _score_run(inputs: ScoreInputs, encoder: str, run: Run, seeds: list[int]) -> Iterator[Score]:
    outputs, human = inputs.vectors(encoder, run), inputs.sources(encoder, "gold", run.seed).vectors
    figures = dict.fromkeys((metric.name for metric in METRICS), float("nan"))
    note = f"fewer than {MINIMUM_TEXTS} outputs passed the filter"
    if run.method == "shuffled":
        note = "the same texts as the own continuations"
    elif min(len(outputs), len(human)) >= MINIMUM_TEXTS:
        values, buckets = mauve_values(outputs, human, seeds)
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        figures = {"mauve": float(np.mean(values)), "mauve_deviation": deviation, "mauve_buckets": float(buckets)}
        note = "one k-means seed has no deviation"
    for metric, value in figures.items():
        yield Score(run.seed, run.method, encoder, metric, "", value, len(outputs), note)
