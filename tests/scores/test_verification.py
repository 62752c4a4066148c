"""Pairs, AUC and EER: by hand and against scikit-learn and torchmetrics."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torchmetrics.functional.classification import binary_eer

from favor.scores import source_space, verification
from favor.scores.settings import Verification
from favor.scores.verification import generated_pairs, sampled_negatives, source_pairs, topic_balanced_auc
from favor.statistics import roc
from favor.statistics.bootstrap import auc, eer_draws, observed
from favor.statistics.roc import Roc, separation


def equal_error_rate(scores, positive, interpolated=False) -> float:
    found = separation(lambda: [(scores, positive)])
    return found.interpolated_eer if interpolated else found.eer


def test_four_pairs_by_hand() -> None:
    scores = np.array([0.9, 0.6, 0.6, 0.1])
    positive = np.array([True, True, False, False])
    # positive-negative pairs: .9>.6, .9>.1, .6=.6 (half), .6>.1 = 3.5 of 4
    assert auc(scores, positive) == 0.875
    # thresholds inf, .9, .6, .1: (FPR, FNR) = (0, 1), (0, 1/2), (1/2, 0), (1, 0)
    curve = Roc.of(scores, positive)
    assert (curve.false / curve.negatives).tolist() == [0, 0, 0.5, 1]
    assert (curve.missed / curve.positives).tolist() == [1, 0.5, 0, 0]
    # |gap| is 1/2 at the second and the third; the first of them counts: (0 + 1/2) / 2
    assert equal_error_rate(scores, positive) == 0.25
    # the straight line from (0, 1/2) to (1/2, 0) meets FPR = FNR at 1/4
    assert equal_error_rate(scores, positive, interpolated=True) == 0.25
    # scores .9+ .8- .7+ .6+ : points (0,1), (0,2/3), (1,2/3), (1,1/3), (1,0); with one negative the ROC jumps from
    # FPR 0 to 1 at FNR 2/3, so the lines meet at 2/3; the nearest threshold is |1 - 2/3| = 1/3: EER 5/6
    scores, positive = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, True])
    assert equal_error_rate(scores, positive, interpolated=True) == pytest.approx(2 / 3)
    assert equal_error_rate(scores, positive) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("scores", "positive", "expected"),
    [
        # (FPR, FNR) = (1/3, 1), then (2/3, 0): both 2/3 apart, so the higher threshold counts
        ([0.9, 0.5, 0.5, 0.1], [0, 0, 1, 0], 2 / 3),
        # ..., (1/3, 1/2), (2/3, 1/2), ...: both 1/6 apart
        ([5, 4, 3, 2, 1], [0, 1, 0, 1, 0], 5 / 12),
        # ..., (1/2, 2/3), (1/2, 1/3), ...: both 1/6 apart
        ([5, 4, 3, 2, 1], [1, 0, 1, 0, 1], 7 / 12),
    ],
)
def test_equally_near_thresholds_by_hand(scores, positive, expected) -> None:
    values, flags, cluster = np.array(scores, dtype=float), np.array(positive, dtype=bool), np.arange(len(scores))
    assert equal_error_rate(values, flags) == expected
    assert eer_draws(values, flags, cluster, observed(len(scores)))[0] == expected


def _nearest_by_fractions(scores, positive) -> Fraction:
    """The definition, threshold by threshold, in rational numbers."""
    positives, negatives = int(positive.sum()), int((~positive).sum())
    rates = [(Fraction(0), Fraction(1))]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        taken = scores >= threshold
        rates.append(
            (Fraction(int((taken & ~positive).sum()), negatives), Fraction(int((~taken & positive).sum()), positives))
        )
    false, missed = min(rates, key=lambda pair: abs(pair[0] - pair[1]))  # min keeps the first of equals
    return (false + missed) / 2


def test_small_samples_against_rational_numbers() -> None:
    generator = np.random.default_rng(0)
    compared = 0
    for _ in range(1500):
        positive = generator.random(int(generator.integers(4, 30))) < generator.uniform(0.2, 0.8)
        scores, cluster = np.round(generator.random(len(positive)), 1), np.arange(len(positive))
        if positive.all() or not positive.any():
            continue
        exact = float(_nearest_by_fractions(scores, positive))
        assert equal_error_rate(scores, positive) == exact
        assert eer_draws(scores, positive, cluster, observed(len(positive)))[0] == exact
        compared += 1
    assert compared > 1400


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decimals", [1, 2, 9])
def test_against_scikit_learn_and_torchmetrics(seed, decimals) -> None:
    generator = np.random.default_rng(seed)
    positive = generator.random(400) < 0.2
    scores = np.clip(np.round(generator.normal(0.4, 0.2, 400) + 0.2 * positive, decimals), 0, 1)  # ties
    assert auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    torch.set_default_dtype(torch.float64)  # torchmetrics divides its counts in the default type
    try:
        oracle = binary_eer(torch.tensor(scores), torch.tensor(positive.astype(int)))
    finally:
        torch.set_default_dtype(torch.float32)
    assert equal_error_rate(scores, positive) == pytest.approx(float(oracle), abs=1e-9)


def test_extremes() -> None:
    positive = np.array([True, True, False])
    for scores, area, error in (([2.0, 3.0, 1.0], 1.0, 0.0), ([0.0, 0.0, 1.0], 0.0, 1.0), ([1.0] * 3, 0.5, 0.5)):
        assert auc(np.array(scores), positive) == area
        assert equal_error_rate(np.array(scores), positive) == error
    assert np.isnan(auc(np.ones(3), np.ones(3, dtype=bool)))
    assert np.isnan(equal_error_rate(np.ones(3), np.zeros(3, dtype=bool)))


def test_generated_pairs_of_one_topic_by_hand(inputs_maker) -> None:
    # a and b write of one topic, c of another, d and e of none that is known; e's second output failed the filter
    inputs = inputs_maker(
        train={name: [0] for name in "abcde"},
        gold={name: [0, 1] for name in "abcde"},
        generated={"a": [0, 10], "b": [5, 45], "c": [90, 91], "d": [180, 181], "e": [181, None]},
        topics={"a": "Student", "b": "Student", "c": "Arts", "d": "indUnk", "e": "indUnk"},
    )
    run = inputs.runs[0]
    pairs = generated_pairs(inputs.vectors("e", run), run, same_topic=True)
    # positives of a, b, c, d; negatives a-b only, at 5, 45, 5 and 35 degrees
    assert pairs.positive.sum() == 4
    np.testing.assert_allclose(np.sort(pairs.scores[~pairs.positive]), np.cos(np.radians([45, 35, 5, 5])), atol=1e-12)
    # positives at 10, 40, 1, 1 degrees against them: 40 beats 45 only, 10 beats 45 and 35, each 1 beats all four
    scores = verification.score(inputs, Verification(variants=["same_topic"]))
    row = scores.query("metric == 'generated_auc' and variant == 'same_topic' and method == 'm'")
    assert row[["value", "n"]].to_numpy().tolist() == [[pytest.approx(11 / 16), 8]]


def test_source_pairs_by_hand(inputs_maker) -> None:
    # topics: a, b Student; c Arts; d unknown. One run, two prompts an author, all pass.
    inputs = inputs_maker(
        train={name: [angle] for name, angle in zip("abcd", (0, 90, 180, 270), strict=True)},
        gold={"a": [0, 10], "b": [90, 100], "c": [180, 190], "d": [270, 280]},
        generated={"a": [0, 1], "b": [90, 91], "c": [180, 181], "d": [270, 271]},
        topics={"a": "Student", "b": "Student", "c": "Arts", "d": "indUnk"},
    )
    run = inputs.runs[0]
    vectors, gold = inputs.vectors("e", run), inputs.sources("e", "gold", 1)
    pairs = source_pairs(vectors, run, gold)
    # positives: every output with the author's other gold, 8. Negatives: a and b only, 2 outputs x 2 golds each way
    assert pairs.positive.sum() == 8
    assert (~pairs.positive).sum() == 8
    assert set(pairs.left[~pairs.positive]) == {"a", "b"}
    # a's first output (0 degrees) pairs with a's second gold (10), never with its own gold (0)
    np.testing.assert_allclose(pairs.scores[pairs.positive][:2], np.cos(np.radians([10, 1])), atol=1e-12)
    # any topic: each of 8 outputs meets 6 golds of others
    assert (~source_pairs(vectors, run, gold, same_topic=False).positive).sum() == 48
    # training texts: one an author, none is left out; negatives a-b and b-a: 2 outputs x 1
    train = source_pairs(vectors, run, inputs.sources("e", "train"))
    assert (train.positive.sum(), (~train.positive).sum()) == (8, 4)


def test_shuffled_control_never_meets_itself(inputs_maker) -> None:
    angles = {name: [i * 40.0, i * 40.0 + 3] for i, name in enumerate("abcdef")}
    inputs = inputs_maker(train=angles, gold=angles, generated={name: list(v) for name, v in angles.items()})
    run = inputs.runs[-1]  # "shuffled"
    pairs = source_pairs(inputs.vectors("e", run), run, inputs.sources("e", "gold", 1))
    assert pairs.scores.max() < 1 - 1e-6  # cosine 1 would be a text compared with itself


def test_negative_sampling_is_the_released_one() -> None:
    scores, positive = np.arange(6000.0), np.arange(6000) < 100
    parts = [slice(0, 50), slice(50, 3000), slice(3000, 6000)]
    kept, same = sampled_negatives(lambda: ((scores[part], positive[part]) for part in parts), 5900)
    assert (same.sum(), (~same).sum()) == (100, 5000)
    drawn = np.random.default_rng(42).choice(np.flatnonzero(~positive), size=5000, replace=False)
    np.testing.assert_array_equal(kept, np.concatenate([scores[:100], np.sort(scores[drawn])]))
    few, _ = sampled_negatives(lambda: [(scores[:500], positive[:500])], 400)
    assert len(few) == 500


def test_topic_balanced_auc_by_hand(inputs_maker) -> None:
    # Student: a at 0 degrees, its other continuation at 30, b's at 80: AUC 1. Arts: c's output at 90, its own other at
    # 180, d's at 100: AUC 0. e's topic is unknown, so it meets nobody else's texts.
    inputs = inputs_maker(
        train={name: [0] for name in "abcde"},
        gold={"a": [200, 30], "b": [80], "c": [200, 180], "d": [100], "e": [270, 280]},
        generated={"a": [0, None], "b": [None], "c": [90, None], "d": [None], "e": [270, 271]},
        topics={"a": "Student", "b": "Student", "c": "Arts", "d": "Arts", "e": "indUnk"},
    )
    run = inputs.runs[0]
    assert topic_balanced_auc(inputs.vectors("e", run), run, inputs.sources("e", "gold", 1)) == 0.5


@pytest.mark.parametrize("cells", [1, 90, 1000])
def test_pairs_in_blocks_are_all_pairs(inputs_maker, monkeypatch, cells) -> None:
    """Twelve authors with outputs at random angles, some of them equal, of three topics and an unknown one."""
    names, generator = "abcdefghijkl", np.random.default_rng(5)

    def angles(count) -> dict[str, list[float]]:
        return {name: (10.0 * generator.integers(0, 30, count)).tolist() for name in names}

    topics = {name: ("Student", "Arts", "Law", "indUnk")[place % 4] for place, name in enumerate(names)}
    inputs = inputs_maker(train=angles(3), gold=angles(4), generated=angles(4), topics=topics)
    run, gold = inputs.runs[0], inputs.sources("e", "gold", 1)
    vectors, test = inputs.vectors("e", run), inputs.sources("e", "gold")
    ways = [(generated_pairs, (vectors, run, same)) for same in (False, True)]
    ways += [(source_pairs, (vectors, run, gold, same)) for same in (False, True)]
    ways += [(source_space.human_pairs, (test,))]
    whole = [way(*given) for way, given in ways]
    assert [len(pairs.scores) for pairs in whole]  # before the parts are cut
    monkeypatch.setattr(verification, "CELLS", cells)
    for expected, (way, given) in zip(whole, ways, strict=True):
        found = way(*given)
        np.testing.assert_array_equal(found.left, expected.left)
        np.testing.assert_array_equal(found.right, expected.right)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-15)
        positive = np.concatenate([own for _, own in found.blocks()])
        np.testing.assert_array_equal(positive, expected.positive)
        assert all(len(scores) <= max(cells, 48) for scores, _ in found.blocks())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("decimals", [1, 3, 5, 16])
@pytest.mark.parametrize("held", [0, 5, 1 << 20])
def test_separation_in_blocks_is_that_of_all_pairs_in_every_bit(monkeypatch, seed, decimals, held) -> None:
    monkeypatch.setattr(roc, "HELD", held)
    generator = np.random.default_rng(seed)
    positive = generator.random(3000) < 0.1
    # Most scores within one bin of the first level, as those of an encoder that has learned little.
    scores = np.where(generator.random(3000) < 0.8, 0.9, 0.2) + 1e-6 * generator.normal(0, 1, 3000) + 1e-6 * positive
    scores = np.round(scores if decimals > 5 else generator.normal(0.4, 0.2, 3000) + 0.1 * positive, decimals)
    curve, size = Roc.of(scores, positive), 700
    found = separation(lambda: ((scores[k : k + size], positive[k : k + size]) for k in range(0, 3000, size)))
    assert found.auc == auc(scores, positive)
    assert found.eer == curve.equal_error_rate()
    assert found.interpolated_eer == curve.equal_error_rate(interpolated=True)
    assert (found.positives, found.pairs) == (positive.sum(), 3000)


def test_family(three_authors, score_value) -> None:
    scores = verification.score(three_authors, Verification())
    # pairs by hand: positives cos 20 = .940 and cos 60 = .5; negatives: a0-b90 0, a0-b30 .866, a0-c -1, a20-b90 .342,
    # a20-b30 .985, a20-c -.940, b90-c 0, b30-c -.866. .940 beats 7 of 8, .5 beats 6 of 8: 13 / 16
    assert score_value(scores, "generated_auc") == pytest.approx(13 / 16)
    assert score_value(scores, "generated_source_auc", method="gold") == 1.0
    assert not scores.duplicated(["seed", "method", "encoder", "metric", "variant"]).any()
    variants = set(scores.loc[scores["metric"] == "generated_source_auc", "variant"])
    assert variants == {"", "train_texts", "all_different", "topic_balanced"}
    variants = set(scores.loc[scores["metric"] == "generated_eer", "variant"])
    assert variants == {"", "same_topic", "sampled5000", "interpolated"}


def test_missing_class_is_a_dash_with_its_reason(inputs_maker) -> None:
    inputs = inputs_maker(train={"a": [0], "b": [90]}, gold={"a": [0], "b": [9]}, generated={"a": [1], "b": [2]})
    scores = verification.score(inputs, Verification())
    row = scores[(scores["method"] == "m") & (scores["metric"] == "generated_auc") & (scores["variant"] == "")].iloc[0]
    assert np.isnan(row["value"])
    assert row["note"] == "no same-author pairs"
