"""Geometry family: how well apart the outputs of different authors lie, and how far that is from human text."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.metrics import silhouette_score

from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import CONTROLS, Metric, Score, scores_frame
from favor.scores.settings import InSpaces

METRICS = (
    Metric("silhouette", "Silhouette", -1.0, 1.0, "higher", "Rousseeuw 1987, cosine distance, clusters are authors"),
    Metric("centroid_distance", "Centroid", 0.0, 2.0, "higher", "mean cosine distance between author centroids"),
    Metric("silhouette_gap", "Gap-Silh.", -2.0, 2.0, "higher", "silhouette of outputs minus human continuations"),
    Metric("centroid_gap", "Gap-Cent.", -2.0, 2.0, "higher", "centroid distance of outputs minus human continuations"),
)


def silhouette(vectors: np.ndarray, authors: np.ndarray) -> float:
    """Mean silhouette of unit rows [n, d] under cosine distance, clusters being authors [n].

    A row alone in its cluster counts 0. NaN unless there are at least 2 authors and an author with 2 rows.
    """
    labels = np.unique(authors.astype(str), return_inverse=True)[1]
    if not 2 <= labels.max(initial=-1) + 1 < len(labels):
        return float("nan")
    return float(silhouette_score(vectors, labels, metric="cosine"))


def centroid_distance(vectors: np.ndarray, authors: np.ndarray) -> float:
    """Mean over pairs of authors of 1 - cosine between their mean vectors; NaN with fewer than 2 authors."""
    names, labels = np.unique(authors.astype(str), return_inverse=True)
    if len(names) < 2:
        return float("nan")
    member = np.eye(len(names))[labels]
    sums = member.T @ vectors
    unit = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return float(1.0 - (unit @ unit.T)[np.triu_indices(len(names), k=1)].mean())


def score(inputs: ScoreInputs, settings: InSpaces) -> pd.DataFrame:
    """Score every run and control in every encoder. Setting ``encoders`` (None: all).

    A gap compares a run with the human continuations of the same prompts: those whose outputs passed the filter. Of
    several samples of a prompt the first one counts, for samples lie close together whoever they are of.
    """
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        for run in inputs.runs:
            scores += _score_run(inputs, encoder, run)
    return scores_frame(scores)


def _score_run(inputs: ScoreInputs, encoder: str, run: Run) -> Iterator[Score]:
    first = (run.survivors["sample"] == 0).to_numpy()
    vectors = inputs.vectors(encoder, run)[first]
    authors = run.survivors["client"].to_numpy(dtype=object)[first]
    values = {"silhouette": silhouette(vectors, authors), "centroid_distance": centroid_distance(vectors, authors)}
    if run.method not in CONTROLS:
        human = inputs.gold_vectors(encoder, run)[first]
        values["silhouette_gap"] = values["silhouette"] - silhouette(human, authors)
        values["centroid_gap"] = values["centroid_distance"] - centroid_distance(human, authors)
    note = "needs two authors, one with two outputs that passed the filter"
    for metric, value in values.items():
        yield Score(run.seed, run.method, encoder, metric, "", value, len(authors), note)
