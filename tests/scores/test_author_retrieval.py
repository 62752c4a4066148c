"""Author retrieval on human texts: ranks by hand, planted and random vectors, topics."""

import numpy as np
import pandas as pd
import pytest
from tests.scores.conftest import direction

from favor.scores import author_retrieval
from favor.scores.author_retrieval import neighbours, retrieval_scores, search, unproven
from favor.scores.inputs import Sources
from favor.scores.metric import SOURCE, scores_frame
from favor.scores.settings import Resampled
from favor.scores.stel import stel_scores


def sources(texts) -> Sources:
    """Texts (client, topic, angle in degrees) in the plane."""
    frame = pd.DataFrame([(client, f"{client}{place}", topic) for place, (client, topic, _) in enumerate(texts)])
    vectors = np.array([direction(angle) for *_, angle in texts])
    return Sources(frame.set_axis(["client", "item", "topic"], axis=1), vectors)


def clouds(seed, spread, authors=12, texts=8, dimension=16) -> tuple[Sources, Sources]:
    """Training and held-out texts around a random centre per author; without a spread, around none."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(authors, dimension)) * (0.0 if spread is None else 1.0 / spread)
    parts = []
    for _ in range(2):
        vectors = np.repeat(centres, texts, axis=0) + generator.normal(size=(authors * texts, dimension))
        names = [f"client_{number:03d}" for number in np.repeat(range(authors), texts)]
        topics = [f"topic {number % 3}" for number in np.repeat(range(authors), texts)]
        frame = pd.DataFrame({"client": names, "item": range(len(names)), "topic": topics})
        parts.append(Sources(frame, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)))
    return parts[0], parts[1]


def scored(train, test, draws=400) -> pd.DataFrame:
    return scores_frame(retrieval_scores("e", train, test, draws, 1))


def test_ranks_by_hand(score_value) -> None:
    # centroids at 0 (a), 90 (b) and 180 (c) degrees
    train = sources([("a", "s", -10), ("a", "s", 10), ("b", "s", 90), ("c", "t", 180)])
    # a's texts: 12 (nearest a: rank 1) and 80 (b, a, c: rank 2); b's 130 (b 40, c 50: rank 1); c's 100 (b, c, a: 2)
    test = sources([("a", "s", 12), ("a", "s", 80), ("b", "s", 130), ("c", "t", 100)])
    found = scored(train, test)
    assert score_value(found, "retrieval_accuracy", method=SOURCE) == 0.5
    assert score_value(found, "retrieval_mrr", method=SOURCE) == pytest.approx((1 + 0.5 + 1 + 0.5) / 4)
    assert score_value(found, "retrieval_chance", method=SOURCE) == pytest.approx(1 / 3)
    # degrees to the own centroid: 12, 80, 40, 80; to others: 78, 168 (a), 10, 100 (a), 130, 50 (b), 100, 10 (c).
    # 12 and 40 beat six of the eight (not the two of 10), each 80 beats four (100, 100, 130, 168)
    assert score_value(found, "retrieval_auc", method=SOURCE) == pytest.approx((6 + 6 + 4 + 4) / 32)
    # same topic: a and b alone, of topic s; the two texts of a and the one of b; a2 is nearer to b
    assert score_value(found, "retrieval_accuracy", "same_topic", SOURCE) == pytest.approx(2 / 3)
    assert score_value(found, "retrieval_chance", "same_topic", SOURCE) == pytest.approx(1 / 2)


def test_centroids_that_tie_share_the_first_place() -> None:
    train = sources([("a", "s", 0), ("b", "s", 0), ("c", "s", 90)])
    found, _ = search(train, sources([("a", "s", 0), ("c", "s", 0)]))
    ranked = {metric: values.tolist() for metric, values in found.ranked().items()}
    assert ranked == {"retrieval_accuracy": [0.5, 0.0], "retrieval_mrr": [1 / 1.5, 1 / 3]}


def test_neighbours_by_hand() -> None:
    test = sources([("a", "s", 0), ("a", "s", 50), ("b", "s", 10), ("b", "s", 60), ("c", "s", 180)])
    authors, right, chance = neighbours(test)
    # c has one text and is not asked; everybody's nearest text is another author's
    assert authors.tolist() == [0, 0, 1, 1]
    assert right.tolist() == [0, 0, 0, 0]
    assert chance.tolist() == [1 / 4] * 4
    assert neighbours(sources([("a", "s", 0), ("a", "s", 5), ("b", "s", 90), ("b", "s", 99)]))[1].tolist() == [1] * 4


def test_planted_authors_are_found(score_value) -> None:
    found = scored(*clouds(1, spread=0.3))
    assert score_value(found, "retrieval_accuracy", method=SOURCE) == 1.0
    assert score_value(found, "neighbour_accuracy", method=SOURCE) == 1.0
    # All right: t(.975, 11) = 2.201, and 1 / (1 + 2.201^2 / 12) with twelve authors.
    assert score_value(found, "retrieval_auc", "low", SOURCE) == pytest.approx(0.7124, abs=1e-3)
    assert score_value(found, "retrieval_chance", "same_topic", SOURCE) == pytest.approx(1 / 4)
    assert unproven(found) == {}


def test_random_vectors_are_at_chance_and_named(score_value) -> None:
    rates, areas = [], []
    for seed in range(12):
        found = scored(*clouds(seed, spread=None), draws=100)
        rates.append(score_value(found, "retrieval_accuracy", method=SOURCE))
        areas.append(score_value(found, "retrieval_auc", method=SOURCE))
    assert np.mean(rates) == pytest.approx(1 / 12, abs=0.03)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.02)
    named = unproven(scored(*clouds(3, spread=None)))
    assert list(named) == ["e"]
    assert named["e"].startswith("is not shown to separate the writers' own texts (AUC 0.")


def test_one_author_is_not_tested_and_that_is_said() -> None:
    train, test = sources([("a", "s", 0)]), sources([("a", "s", 5), ("a", "s", 9)])
    found = scored(train, test)
    assert found["value"].isna().all()
    assert unproven(found)["e"].startswith("was not tested on the writers' own texts (needs held-out texts")
    without = Sources(test.frame.iloc[:0], test.vectors[:0])
    assert scored(train, without)["value"].isna().all()


def test_a_topic_unknown_of_everybody_gives_no_rival(score_value) -> None:
    train, test = (Sources(part.frame.assign(topic="indUnk"), part.vectors) for part in clouds(1, spread=0.3))
    found = scored(train, test)
    assert score_value(found, "retrieval_accuracy", method=SOURCE) == 1.0
    assert np.isnan(score_value(found, "retrieval_accuracy", "same_topic", SOURCE))


def test_two_authors_of_one_topic_count_as_one_for_the_interval_of_their_auc(score_value) -> None:
    """Wilson's limits of 1 with t of N - 1 degrees of freedom reach down to 1 / (1 + t^2 / N)."""
    for topics, t, clusters in (("abab", 12.706, 2), ("aaaa", 3.182, 4), ("aabb", 12.706, 2), ("aaab", 4.303, 3)):
        texts = [(name, topic, 60 * place) for place, (name, topic) in enumerate(zip("pqrs", topics, strict=True))]
        found = scored(sources([*texts, ("t", "z", 300)]), sources([*texts, ("t", "z", 300)]))
        assert score_value(found, "retrieval_auc", "same_topic", SOURCE) == 1
        low = score_value(found, "retrieval_auc", "same_topic_low", SOURCE)
        assert low == pytest.approx(1 / (1 + t**2 / clusters), abs=1e-4), topics
        # Accuracies are of each author's own texts.
        low = score_value(found, "retrieval_accuracy", "same_topic_low", SOURCE)
        authors = 3 if topics == "aaab" else 4
        assert low == pytest.approx(1 / (1 + {3: 4.303, 4: 3.182}[authors] ** 2 / authors), abs=1e-4), topics


def test_authors_of_other_topics_change_no_interval_of_one_topic(score_value) -> None:
    train, test = (Sources(part.frame.assign(topic="s"), part.vectors) for part in clouds(2, spread=3.0, authors=4))
    alone = scored(train, test)
    others = [("x", "t", 10), ("y", "u", 20)]
    far = np.zeros((2, 16))
    far[:, 0] = 1.0
    more = [
        Sources(pd.concat([part.frame, sources(others).frame]), np.concatenate([part.vectors, far]))
        for part in (train, test)
    ]
    for end in ("low", "high"):
        name = f"same_topic_{end}"
        expected = score_value(alone, "retrieval_auc", end, SOURCE)
        assert score_value(scored(*more), "retrieval_auc", name, SOURCE) == pytest.approx(expected)


def test_every_encoder_of_an_experiment_is_scored(inputs_maker) -> None:
    degrees = {"a": [-10, 10], "b": [80, 100]}
    inputs = inputs_maker(train=degrees, gold=degrees, generated=degrees)
    found = author_retrieval.score(inputs, Resampled(draws=100))
    assert set(found["encoder"]) == {"e"}
    assert set(found["metric"]) == {metric.name for metric in author_retrieval.METRICS}


def test_certificates_are_averaged_over_dimensions(score_value) -> None:
    items = pd.DataFrame(
        {"dimension": ["x", "x", "x", "y"], "stel": [1.0, 0.5, 0.0, 1.0], "stel_or_content": [0.0, 0.0, 0.0, 1.0]}
    )
    found = stel_scores({"e": items.assign(item=range(4))})
    assert score_value(found, "stel", "x", SOURCE) == 0.5
    assert score_value(found, "stel", method=SOURCE) == 0.75  # (1/2 + 1) / 2, not the mean of the items
    assert score_value(found, "stel_or_content", method=SOURCE) == 0.5
    assert score_value(found, "stel_items", method=SOURCE) == 4
