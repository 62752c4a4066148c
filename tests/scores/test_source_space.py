"""Probe, effect sizes and human-human verification."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.formula.api import ols

from favor.scores import source_space
from favor.scores.inputs import Sources
from favor.scores.settings import SourceSpace
from favor.scores.source_space import human_pairs, probe
from favor.statistics.effect_sizes import effect_sizes, omega_squared, permuted_author_effect


def labelled(seed, strength=1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """90 texts by 9 authors of 3 topics in 4 coordinates; the author shifts the first, the topic the second one."""
    generator = np.random.default_rng(seed)
    authors = np.repeat([f"a{i}" for i in range(9)], 10)
    topics = np.repeat(["s", "t", "u"], 30)
    vectors = generator.normal(size=(90, 4))
    vectors[:, 0] += strength * np.repeat(generator.normal(size=9), 10) * 2
    vectors[:, 1] += np.repeat([0.0, 2.0, -1.0], 30)
    return vectors, authors, topics


def test_omega_squared_by_hand() -> None:
    # groups (1, 3) and (5, 7): means 2 and 6, grand mean 4. SSb = 2*4 + 2*4 = 16, SSw = 4, MSw = 4 / 2 = 2,
    # SSt = 20: (16 - 1 * 2) / (20 + 2) = 14 / 22
    vectors = np.array([[1.0], [3.0], [5.0], [7.0]])
    assert omega_squared(vectors, np.array(["a", "a", "b", "b"]))[0] == pytest.approx(14 / 22)
    # two strata shifted by 100 add their sums: SSb = 32, SSw = 8, MSw = 8 / 4, dfb = 2: (32 - 4) / (40 + 2)
    both = np.concatenate([vectors, vectors + 100])
    groups = np.array(["a", "a", "b", "b", "c", "c", "d", "d"])
    strata = np.array(["s"] * 4 + ["t"] * 4)
    assert omega_squared(both, groups, strata)[0] == pytest.approx(28 / 42)


def test_omega_squared_against_statsmodels() -> None:
    vectors, authors, topics = labelled(1)
    found = effect_sizes(vectors, authors, topics)
    for coordinate in range(4):
        frame = pd.DataFrame({"y": vectors[:, coordinate], "author": authors, "topic": topics})
        table = sm.stats.anova_lm(ols("y ~ C(topic)", frame).fit())
        between, within = table["sum_sq"]
        mean_within = table["mean_sq"].iloc[1]
        expected = (between - table["df"].iloc[0] * mean_within) / (between + within + mean_within)
        assert found.topic[coordinate] == pytest.approx(expected, abs=1e-12)
        # author within topic: the author model against the topic model
        full, small = ols("y ~ C(author)", frame).fit(), ols("y ~ C(topic)", frame).fit()
        nested = sm.stats.anova_lm(small, full).iloc[1]
        mean_within = full.ssr / full.df_resid
        expected = (nested["ss_diff"] - nested["df_diff"] * mean_within) / (small.ssr + mean_within)
        assert found.author[coordinate] == pytest.approx(expected, abs=1e-12)
    assert found.author.argmax() == 0
    assert found.topic.argmax() == 1
    # least-squares slope through the origin of topic on author effects
    slope = np.linalg.lstsq(found.author[:, None], found.topic, rcond=None)[0][0]
    assert found.slope == pytest.approx(slope)
    assert found.ratio == pytest.approx(found.author.mean() / found.topic.mean())


def test_strata_need_three_authors_and_a_known_topic() -> None:
    vectors, authors, topics = labelled(2)
    extra = np.random.default_rng(0).normal(size=(30, 4)) + 50
    more_authors = np.concatenate([authors, np.repeat(["p", "q"], 5), np.repeat(["x", "y", "z", "w"], 5)])
    more_topics = np.concatenate([topics, ["pair"] * 10, ["indUnk"] * 20])
    found = effect_sizes(np.concatenate([vectors, extra]), more_authors, more_topics)
    alone = effect_sizes(vectors, authors, topics)
    np.testing.assert_allclose(found.author, alone.author)
    assert found.texts == 90
    assert effect_sizes(vectors[:30], authors[:30], topics[:30]) is None


def test_permuted_authors_explain_nothing() -> None:
    vectors, authors, topics = labelled(3)
    found = effect_sizes(vectors, authors, topics)
    null = permuted_author_effect(vectors, authors, topics, seed=1, draws=30)
    assert abs(null.mean()) < 0.03 < found.author.mean()


def sources(vectors, authors, topics) -> Sources:
    frame = pd.DataFrame({"client": authors, "item": [f"d{i}" for i in range(len(authors))], "topic": topics})
    return Sources(frame, vectors)


def test_human_pairs_by_hand() -> None:
    # a, a, b in topic s; c in t; d, d in indUnk: positives aa, dd; negatives ab, ab
    authors, topics = np.array(list("aabcdd")), np.array(["s", "s", "s", "t", "indUnk", "indUnk"])
    pairs = human_pairs(sources(np.eye(6), authors, topics))
    assert (pairs.positive.sum(), (~pairs.positive).sum()) == (2, 2)


def test_probe_picks_c_on_validation_and_scores_test() -> None:
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(4, 6)) * 2

    def part(n) -> Sources:
        owner = np.repeat(np.arange(4), n)
        return sources(centres[owner] + generator.normal(size=(4 * n, 6)), np.array(list("abcd"))[owner], owner)

    train, validation, test = part(20), part(6), part(10)
    accuracy, f1, strength = probe(train, validation, test, [0.0001, 1.0], 500)
    assert accuracy > 0.85
    assert f1 > 0.85
    assert strength in (0.0001, 1.0)
    # relabelled validation texts must not move the fitted weights, only the choice of C
    assert probe(train, validation, test, [1.0], 500)[:2] == probe(train, part(3), test, [1.0], 500)[:2]


def test_family(three_authors) -> None:
    human = three_authors.source_embeddings["e"]
    held = human[human["kind"] == "train"].assign(item=lambda frame: frame["item"] + "h")
    human = pd.concat([human, held.assign(kind="validation"), held.assign(kind="test")])
    inputs = replace(three_authors, source_embeddings={"e": human})
    scores = source_space.score(inputs, SourceSpace(permutations=0)).set_index(["metric", "variant"])
    assert (set(scores["method"]), set(scores["seed"])) == ({"source"}, {0})
    assert scores.loc[("probe_accuracy", ""), "value"] == 1.0
    assert scores.loc[("source_auc", ""), "value"] == 1.0
    assert scores.loc[("dimension", ""), "value"] == 2
    assert np.isnan(scores.loc[("effect_ratio", ""), "value"])
    assert "two topics" in scores.loc[("effect_ratio", ""), "note"]
    missing = source_space.score(three_authors, SourceSpace()).set_index(["metric", "variant"])
    assert missing.loc[("probe_accuracy", ""), "note"] == "no validation or test texts were embedded"


def test_a_coordinate_that_is_constant_within_topics_has_no_part() -> None:
    vectors, authors, topics = labelled(1)
    of_topic = np.unique(topics, return_inverse=True)[1].astype(float)
    found = effect_sizes(np.column_stack([np.full(90, 0.1), vectors, of_topic]), authors, topics)
    alone = effect_sizes(vectors, authors, topics)
    assert found is not None
    assert alone is not None
    assert found.coordinates.tolist() == [1, 2, 3, 4]
    assert found.ratio == alone.ratio
    assert effect_sizes(np.ones((90, 2)), authors, topics) is None
