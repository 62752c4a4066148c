"""MAUVE on unit rows."""

import numpy as np

from favor.scores import mauve
from favor.scores.mauve import mauve_values
from favor.scores.settings import Mauve


def rows(seed, shift, n=120) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(n, 8))
    made[:, 0] += shift
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_near_distributions_score_higher_than_far_ones() -> None:
    near, buckets = mauve_values(rows(0, 0.0), rows(1, 0.0), [1, 2, 3])
    far, _ = mauve_values(rows(0, 0.0), rows(1, 8.0), [1, 2, 3])
    assert buckets == 12
    assert np.mean(near) > 0.8 > 0.2 > np.mean(far)
    assert mauve_values(rows(0, 0.0), rows(1, 0.0), [1, 2, 3])[0] == near
    # Buckets do not depend on what the filter leaves.
    assert mauve_values(rows(0, 0.0, 40), rows(1, 0.0), [1])[1] == 12


def test_equal_histograms_score_one() -> None:
    angles = np.radians([20.0 * i + shift for i in range(12) for shift in (0, 7)])
    same = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert mauve_values(same, same, [1, 2]) == ([1.0, 1.0], 2)


def test_family(inputs_maker, three_authors, score_value) -> None:
    angles = {f"c{i:02d}": [20.0 * i, 20.0 * i + 7] for i in range(12)}
    inputs = inputs_maker(train=angles, gold=angles, generated={key: [5.0, 8.0] for key in angles})
    scores = mauve.score(inputs, Mauve(kmeans_seeds=[1, 2]))
    assert score_value(scores, "mauve") < score_value(scores, "mauve", method="gold")
    assert score_value(scores, "mauve", method="gold") == 1.0
    assert score_value(scores, "mauve_buckets") == 2
    one = mauve.score(inputs, Mauve(kmeans_seeds=[1])).query("metric == 'mauve_deviation' and method != 'shuffled'")
    assert set(one["note"]) == {"one k-means seed has no deviation"}
    few = mauve.score(three_authors, Mauve())
    dealt = few["method"] == "shuffled"
    assert set(few.loc[~dealt, "note"]) == {"fewer than 20 outputs passed the filter"}
    assert set(few.loc[dealt, "note"]) == {"the same texts as the own continuations"}
