"""Diversity of runs: texts whose variety is known."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.scores.copied_voices import PROMPTS, by_method, copied_voices

from favor.scores import diversity
from favor.scores.settings import Diversity


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return diversity.score(copied_voices(one_voice=True), Diversity())


def test_one_text_for_all_has_no_variety(scores) -> None:
    for metric in ("style_vendi", "ngram_vendi", "self_bleu"):
        assert by_method(scores, metric)["same"] == pytest.approx(1.0)
    assert by_method(scores, "vendi_growth")["same"] == pytest.approx(0.0, abs=1e-9)
    ratios = by_method(scores, "compression_ratio")
    assert ratios["same"] > 5 * ratios["1.0"]


def test_human_text_is_as_varied_as_itself(scores) -> None:
    for metric in diversity.METRICS:
        if metric.name != "vendi_growth":
            assert by_method(scores, metric.name, "of_human")["gold"] == 1.0
    assert by_method(scores, "vendi_growth")["gold"] == by_method(scores, "vendi_growth", "human")["gold"]
    # the writer's outputs are of the same kind as the human text, whoever's voice they are in
    assert by_method(scores, "ngram_vendi", "of_human")["0.0"] == pytest.approx(1.0, abs=0.15)


def test_the_curve_ends_at_the_score_of_all_authors(scores) -> None:
    assert by_method(scores, "style_vendi", "authors_10") == pytest.approx(by_method(scores, "style_vendi"))
    assert by_method(scores, "style_vendi", "authors_1")["1.0"] < by_method(scores, "style_vendi", "authors_4")["1.0"]
    assert by_method(scores, "style_vendi", "human_authors_2")["1.0"] > 1.0


def test_texts_have_one_length_and_sets_one_size() -> None:
    inputs = copied_voices()
    short = inputs.common_length
    scores = diversity.score(inputs, Diversity(words=short + 1))
    rows = scores[(scores["metric"] == "self_bleu") & (scores["variant"] == "") & (scores["method"] == "1.0")]
    assert rows["n"].iloc[0] < 10 * PROMPTS  # the shortest human continuation, at least, has no place
    none = diversity.score(inputs, Diversity(words=10000))
    assert none["value"].isna().all()
    assert set(none["n"]) == {0}


def test_vendi_scores_of_equal_size_do_not_grow_with_the_texts_that_pass() -> None:
    inputs = copied_voices()
    made = inputs.generations
    # Half of the outputs of one method fail: its set is half as large, of texts of the same kind.
    odd = made.groupby("method").cumcount() % 2 == 1
    fewer = made.assign(passed=made["passed"] & ~(odd & (made["method"] == "1.0")))
    scores = diversity.score(replace(inputs, generations=fewer), Diversity(subsets=50))
    whole = diversity.score(inputs, Diversity())
    for metric in ("style_vendi", "ngram_vendi"):
        equal, plain = by_method(scores, metric, "equal"), by_method(scores, metric)
        assert equal["1.0"] == plain["1.0"] < 0.9 * plain["gold"]
        assert equal["gold"] < plain["gold"]
        assert abs(equal["gold"] - equal["1.0"]) < abs(plain["gold"] - plain["1.0"])
        # All sets have one size: every text counts.
        assert by_method(whole, metric, "equal") == pytest.approx(by_method(whole, metric))
    sizes = scores[(scores["metric"] == "style_vendi") & (scores["variant"] == "equal")]["n"]
    assert len(set(sizes)) == 1
