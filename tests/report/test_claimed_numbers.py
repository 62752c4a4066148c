"""numbers.json has the claims of the report, and beside survivors' gains what the strict measure says of the pair."""

import numpy as np
import pandas as pd
import pytest
from tests.report.test_findings import ABOVE, AT_CHANCE, evidence, facts, kept
from tests.scores import test_likelihood as planted
from tests.scores.test_likelihood import rows

from favor.paper.numbers import entry
from favor.report.claimed_numbers import with_claims
from favor.report.findings import adapters, voices
from favor.report.paper_agreement import number_macros, number_rows
from favor.scores.likelihood import likelihood_scores

GAIN = entry("author_accuracy_gain", "Survivors", "Main results", 0.044, 0.1, chosen=("Ditto", "FedDPA"))


def test_every_claim_has_its_interval_its_p_and_what_may_be_said() -> None:
    table = evidence(p={frozenset(("favor", "fedavg")): 0.001})
    scores = kept({"favor": ABOVE, "fedavg": AT_CHANCE})
    found = {each["key"]: each for each in with_claims([GAIN], facts(table, scores))}
    shown = found["claim_difference_fedavg"]
    assert (shown["value"], shown["low"], shown["high"]) == pytest.approx((0.22, 0.17, 0.27))
    assert shown["p"] == pytest.approx(0.004)  # Holm over four rows
    assert shown["claim"] == "above"
    assert shown["by_seed"] == pytest.approx([0.22])
    assert found["claim_difference_local_only"]["claim"] == "open"
    assert (found["claim_voice_favor"]["claim"], found["claim_voice_fedavg"]["claim"]) == ("above", "open")
    assert "no method has seen attribute to the author: FAVoR minus FedAvg" in shown["what"]


def test_the_gain_over_survivors_has_the_strict_number_beside() -> None:
    given = [GAIN, entry("updates", "Updates", "Efficiency", 72.0, 72.0)]
    gain, other, *_ = with_claims(given, facts(scores=kept({})))
    # By the strict measure FAVoR is at .30 and Ditto at .20, p = .9.
    assert gain["value"] == 0.044
    assert (gain["strict"]["value"], gain["strict"]["claim"]) == (pytest.approx(0.1), "open")
    assert "strict" not in other


def test_four_authors_show_nothing_and_have_no_interval() -> None:
    found = with_claims([], facts(evidence(half=0.0), kept({"favor": ABOVE}), authors=4))
    assert found
    assert {each["claim"] for each in found} == {"open"}
    assert not any({"low", "high", "p"} & set(each) for each in found)


def test_claims_are_macros_with_their_intervals_and_no_rows_of_the_papers_numbers() -> None:
    found = with_claims([GAIN], facts(scores=kept({"favor": ABOVE})))
    macros = number_macros({"demo": found})
    for name, value in (("", "0.100"), ("Low", "0.050"), ("P", "1.000")):
        assert rf"\newcommand{{\FavorDemoClaimDifferenceDitto{name}}}{{{value}}}" in macros
    shown, absent = number_rows(found)
    assert (shown["Number"].tolist(), absent) == (["Survivors"], "")


def test_a_row_that_forgets_is_praised_nowhere(monkeypatch) -> None:
    """Ditto's adapters gain .3 on own texts and .1 on others'; FAVoR's gain nothing on own ones and lose .5 on others'.

    By the difference of both, and by whose texts go to whom, FAVoR is far better than Ditto.
    """
    clients = [f"client_{number:03d}" for number in range(8)]
    monkeypatch.setattr(planted, "CLIENTS", clients)
    monkeypatch.setattr(planted, "TOPICS", dict.fromkeys(clients, "arts"))
    noise = np.random.default_rng(1)
    learns = rows(lambda reader, writer, text: (0.3 if reader == writer else 0.1) + 0.2 * noise.normal(), "ditto", 1, 6)
    forgets = rows(lambda reader, writer, text: -0.5 * (reader != writer) + 0.05 * noise.normal(), "favor", 1, 6)
    scores = likelihood_scores(pd.concat([learns, forgets]), clients, ("favor", "ditto"), {}, 7, 500)
    value = scores[scores["variant"] == ""].set_index(["method", "metric"])["value"]
    for metric in ("likelihood_voice_gain", "likelihood_top1", "likelihood_auc"):
        assert value["favor", metric] > value["ditto", metric]
    table = evidence(values={"favor": 0.3, "ditto": 0.3, "gold": 0.5})
    made = facts(table, methods=("favor", "ditto"), authors=8, likelihood=scores)
    said = adapters(made)
    assert "Above chance, and better than the base on their own authors: Ditto." in said
    assert "not shown to read their own authors better than the base, which forgetting others gives too: FAVoR." in said
    assert "no voice gain is claimed, as forgetting gives one too" in said
    found = {each["key"]: each for each in with_claims([], made)}
    assert (found["claim_adapters_favor"]["known"], found["claim_adapters_ditto"]["known"]) == (False, True)
    assert found["claim_adapters_favor"]["claim"] == "above"
    gains = found["claim_adapters_favor"]["gains"]
    assert gains["own"][1] < 0 < gains["own"][2]
    assert gains["voice"][0] == pytest.approx(gains["own"][0] - gains["others"][0])
    assert gains["neutral"][2] < 0


def test_what_is_ruled_out_or_below_is_called_so() -> None:
    """The margin is .2, half of the way from 1 / 20 to .45: Ditto's .1 +- .05 lies within it."""
    table = evidence(p={frozenset(("favor", "local_only")): 0.001})
    scores = kept({"favor": ABOVE, "ditto": (0.01, 0.004, 0.025), "gold": (0.5, 0.45, 0.55)})
    made = facts(table, scores)
    found = {each["key"]: each["claim"] for each in with_claims([], made)}
    assert found["claim_difference_local_only"] == "below"
    assert found["claim_difference_ditto"] == "ruled out"
    assert found["claim_difference_fedavg"] == "open"
    assert found["claim_voice_ditto"] == "below"
    said = voices(made)
    assert "Below chance: Ditto." in said
    assert "Half of the voice or more is ruled out for Ditto." in said
