"""Silhouette, centroid distance and gaps."""

import numpy as np
import pandas as pd
import pytest
from tests.scores.conftest import direction
from tests.scores.copied_voices import copied_voices, repeated

from favor.scores import geometry
from favor.scores.geometry import centroid_distance, silhouette
from favor.scores.settings import InSpaces


def rows(*degrees) -> np.ndarray:
    return np.array([direction(each) for each in degrees])


def test_silhouette_by_hand() -> None:
    # a at 0 and 0, b at 90 and 90 degrees: own distance 0, other distance 1: silhouette 1 for each
    authors = np.array(["a", "a", "b", "b"], dtype=object)
    assert silhouette(rows(0, 0, 90, 90), authors) == pytest.approx(1.0)
    # interleaved, a at 0 and 90, b at 0 and 90: own 1, other (0 + 1) / 2: (0.5 - 1) / 1 = -0.5
    assert silhouette(rows(0, 90, 0, 90), authors) == pytest.approx(-0.5)
    # b alone counts 0; a: own 0, other 1: mean of 1, 1, 0
    assert silhouette(rows(0, 0, 90), authors[:3]) == pytest.approx(2 / 3)
    assert np.isnan(silhouette(rows(0, 90), np.array(["a", "b"], dtype=object)))
    assert np.isnan(silhouette(rows(0, 90), np.array(["a", "a"], dtype=object)))
    assert np.isnan(silhouette(np.zeros((0, 1)), np.array([], dtype=object)))


def test_centroid_distance_by_hand() -> None:
    # centroids at 10, 70 and 190 degrees: cosines of 60, 120 and 180 degrees = .5, -.5, -1; mean -1/3
    authors = np.array(["a", "a", "b", "c"], dtype=object)
    assert centroid_distance(rows(0, 20, 70, 190), authors) == pytest.approx(1 + 1 / 3)
    assert np.isnan(centroid_distance(rows(0, 1), np.array(["a", "a"], dtype=object)))


def test_family(three_authors, score_value) -> None:
    scores = geometry.score(three_authors, InSpaces())
    # centroids of the survivors: a at 10, b at 60, c at 180; of their gold: a 2.5, b 92.5, c 180
    made = 1 - np.cos(np.radians([50, 170, 120])).mean()
    human = 1 - np.cos(np.radians([90, 177.5, 87.5])).mean()
    assert score_value(scores, "centroid_distance") == pytest.approx(made)
    assert score_value(scores, "centroid_gap") == pytest.approx(made - human)
    assert score_value(scores, "silhouette") < score_value(scores, "silhouette", method="gold")
    assert set(scores.loc[scores["metric"] == "silhouette_gap", "method"]) == {"m"}


def test_further_samples_of_a_prompt_bring_no_authors_together() -> None:
    inputs = copied_voices()
    once, twice = (geometry.score(each, InSpaces()) for each in (inputs, repeated(inputs, "sample")))
    pd.testing.assert_frame_equal(once, twice)
