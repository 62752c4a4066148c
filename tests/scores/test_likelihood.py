"""Likelihood attribution: chance where adapters are equal, and by hand where they are not."""

import numpy as np
import pandas as pd
import pytest

from favor.scores.likelihood import SHARED, attributed, by_author, likelihood_scores, reading

CLIENTS = ["client_001", "client_002", "client_003", "client_004"]
TOPICS = dict(zip(CLIENTS, ["arts", "arts", "sport", "sport"], strict=True))


def rows(gain, method="m", seed=1, texts=3, tokens=10) -> pd.DataFrame:
    """The table ``likelihood`` of a run: ``gain(reader, writer, text)`` in nats per token, "" the neutral writer."""
    found = []
    for reader in CLIENTS:
        for writer, kind in [*((client, "client") for client in CLIENTS), ("", "neutral")]:
            for text in range(texts):
                value = -40.0 - text + tokens * gain(reader, writer, text)
                sums = (value, -40.0 - text, value / 2, (-40.0 - text) / 2)
                sizes = (tokens, 4 * tokens, tokens // 2)
                topics = (TOPICS[reader], kind, writer, TOPICS.get(writer, ""))
                found.append((seed, method, reader, *topics, text, *sizes, *sums))
    columns = "seed method client client_topic kind writer topic text tokens characters function_tokens log_likelihood"
    return pd.DataFrame(found, columns=[*columns.split(), "base", "function_log_likelihood", "function_base"])


def values_of(frame, methods=("m",), without=None) -> dict:
    scores = likelihood_scores(frame, CLIENTS, list(methods), without or {}, 7, 200)
    keys = scores[["method", "metric", "variant"]].itertuples(index=False, name=None)
    return dict(zip(keys, zip(scores["value"], scores["note"], strict=True), strict=True))


def own_voice(reader, writer, text) -> float:
    return 0.5 if reader == writer else 0.1


def test_equal_adapters_give_chance_and_no_interval() -> None:
    noise = np.random.default_rng(3)
    frame = rows(lambda reader, writer, text: 0.2 * CLIENTS.index(writer or CLIENTS[0]) + 1e-9 * noise.normal())
    found = values_of(frame)
    assert found["m", "likelihood_top1", ""][0] == 1 / 4
    assert found["m", "likelihood_mrr", ""][0] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, abs=1e-12)
    assert found["m", "likelihood_auc", ""][0] == 0.5
    assert found["m", "likelihood_voice_gain", ""][0] == 0.0
    for metric in ("likelihood_top1", "likelihood_mrr", "likelihood_auc", "likelihood_voice_gain"):
        value, note = found["m", metric, "low"]
        assert np.isnan(value)
        assert note == SHARED
    assert found["m", "likelihood_top1", "same_topic"][0] == 1 / 2
    assert found["m", "likelihood_own_gain", ""][0] == pytest.approx(0.3)


def test_gains_by_hand() -> None:
    """Reader i gains .1 on everything, its own author's texts .5; the neutral sentences -.2."""
    frame = rows(lambda reader, writer, text: own_voice(reader, writer, text) if writer else -0.2)
    found = values_of(frame)
    for metric, value in (("own", 0.5), ("others", 0.1), ("voice", 0.4), ("neutral", -0.2)):
        assert found["m", f"likelihood_{metric}_gain", ""][0] == pytest.approx(value)
        if metric != "neutral":
            assert found["m", f"likelihood_{metric}_gain", "low"][0] == pytest.approx(value)
    assert found["m", "likelihood_voice_gain", "bits_per_character"][0] == pytest.approx(0.4 / 4 / np.log(2))
    assert found["m", "likelihood_voice_gain", "function_words"][0] == pytest.approx(0.4)
    assert [found["m", f"likelihood_{name}", ""][0] for name in ("top1", "mrr", "auc")] == [1.0, 1.0, 1.0]


def test_an_adapter_that_is_good_at_every_text_attracts_none() -> None:
    """client_001's adapter gains 2 nats more on every text than any other."""
    frame = rows(lambda *key: own_voice(*key) + 2.0 * (key[0] == "client_001"))
    assert values_of(frame)["m", "likelihood_top1", ""][0] == 1.0


def test_ties_share_the_hit() -> None:
    """Two of four adapters are equal and best at client_001's texts: half a hit, ranks 1 and 2."""
    frame = rows(lambda reader, writer, text: float(TOPICS[reader] == TOPICS.get(writer)))
    found = attributed(reading(frame, CLIENTS))
    assert set(found["top1"]) == {0.5}
    assert set(found["mrr"]) == {0.75}


def test_permuted_adapters_permute_the_matrix() -> None:
    noise = np.random.default_rng(5).normal(size=(4, 4))
    drawn = rows(lambda reader, writer, text: noise[CLIENTS.index(reader), CLIENTS.index(writer or CLIENTS[0])])
    order = dict(zip(CLIENTS, [CLIENTS[place] for place in (2, 0, 3, 1)], strict=True))
    moved = drawn.assign(client=drawn["client"].map(order))
    before, after = reading(drawn, CLIENTS).matrix(), reading(moved, CLIENTS).matrix()
    np.testing.assert_allclose(before, noise, atol=1e-12)
    np.testing.assert_allclose(after[[2, 0, 3, 1]], before, atol=1e-12)


def test_others_of_the_same_topic() -> None:
    """On client_001's texts the adapter of its topic gains .3, those of the other topic .1."""
    frame = rows(
        lambda reader, writer, text: 0.5 if reader == writer else 0.1 + 0.2 * (TOPICS[reader] == TOPICS.get(writer))
    )
    plain, same = (by_author(reading(frame, CLIENTS), topic)["likelihood_others_gain"] for topic in (False, True))
    np.testing.assert_allclose(plain, (0.3 + 0.1 + 0.1) / 3)
    np.testing.assert_allclose(same, 0.3)


@pytest.mark.parametrize("topics", [["indUnk"] * 4, ["arts", "sport", "law", "indUnk"]])
def test_nobody_shares_an_unknown_topic(topics) -> None:
    of = dict(zip(CLIENTS, topics, strict=True))
    frame = rows(own_voice)
    frame = frame.assign(client_topic=frame["client"].map(of), topic=frame["writer"].map(of).fillna(""))
    found = values_of(frame)
    assert np.isfinite(found["m", "likelihood_voice_gain", ""][0])
    for metric in ("likelihood_voice_gain", "likelihood_top1"):
        value, note = found["m", metric, "same_topic"]
        assert np.isnan(value)
        assert note


def test_one_author_with_texts_has_values_without_intervals() -> None:
    frame = pd.concat([rows(own_voice, "a"), rows(lambda *key: own_voice(*key) / 2, "b")])
    found = values_of(frame[frame["writer"].isin(["client_001", ""])], ("a", "b"))
    assert found["a", "likelihood_own_gain", ""][0] == pytest.approx(0.5)
    assert np.isnan(found["a", "likelihood_own_gain", "low"][0])
    assert found["a", "likelihood_own_gain", "low"][1].startswith("one author")
    assert found["a", "likelihood_own_gain", "minus:b"] == (pytest.approx(0.25), "")
    assert found["a", "likelihood_own_gain", "minus:b_p"][1] == "needs two authors with a value in both rows"


def test_a_client_without_texts_or_without_a_model_is_left_out() -> None:
    frame = rows(own_voice)
    texts = frame[frame["writer"] != "client_004"]
    assert values_of(texts)["m", "likelihood_voice_gain", ""][0] == pytest.approx(0.4)
    models = by_author(reading(frame[frame["client"] != "client_004"], CLIENTS))
    assert np.isnan(models["likelihood_own_gain"][3])
    assert np.isnan(models["likelihood_top1"][3])
    nothing = values_of(frame[frame["kind"] == "neutral"])
    assert "no client has a held-out text" in nothing["m", "likelihood_top1", ""][1]


def test_only_texts_behind_a_value_are_counted() -> None:
    """Three texts of each of four authors, under two seeds: client_004 has no model, client_003 no topical rival."""
    frame = rows(own_voice)
    frame = pd.concat([frame, frame.assign(seed=2)])
    scores = likelihood_scores(frame[frame["client"] != "client_004"], CLIENTS, ["m"], {}, 7, 200)
    found = scores.set_index(["metric", "variant"])["n"]
    for metric in ("own_gain", "voice_gain", "top1", "auc"):
        assert found[f"likelihood_{metric}", ""] == 18
    assert found["likelihood_others_gain", ""] == 24
    assert found["likelihood_top1", "same_topic"] == found["likelihood_top1", "same_topic_chance"] == 12
    assert found["likelihood_author_top1", "client_001"] == 6


def test_rows_are_compared_over_authors_and_a_row_without_adapters_says_why() -> None:
    both = [rows(own_voice, "a"), rows(lambda *key: own_voice(*key) / 2, "b"), rows(own_voice, "a", seed=2)]
    found = values_of(pd.concat(both), ("a", "b", "c"), {"c": "prompted"})
    assert found["a", "likelihood_voice_gain", "minus:b"][0] == pytest.approx(0.2)
    assert found["a", "likelihood_top1", "minus:b"][0] == 0.0
    assert found["a", "likelihood_voice_gain", "minus:b_p"][0] < found["a", "likelihood_top1", "minus:b_p"][0] == 1.0
    assert found["c", "likelihood_voice_gain", ""][1] == "prompted"


def test_another_language_has_no_function_words() -> None:
    frame = rows(own_voice).assign(function_tokens=1)
    value, note = values_of(frame)["m", "likelihood_voice_gain", "function_words"]
    assert np.isnan(value)
    assert "English" in note
