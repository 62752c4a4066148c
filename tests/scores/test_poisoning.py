"""What an attack takes from honest authors, by hand, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from tests.federation.test_poisoning import attacked
from tests.plan.conftest import *  # noqa: F403 - planners
from tests.scores.test_likelihood import CLIENTS, rows

from favor.foundation.errors import UserError
from favor.plan.keys import Key, run_key
from favor.scores.poisoning import UNAIMED, poisoning_scores
from favor.scores.settings import PoisoningScoring
from favor.statistics.settings import Bootstrap

OWN = dict(zip(CLIENTS, (0.5, 0.4, 0.3, 0.2), strict=True))


def values_of(here, beside, attackers, targets) -> dict:
    settings = PoisoningScoring(
        clients=CLIENTS, methods=["m"], bootstrap=Bootstrap(draws=200), attackers=attackers, targets=targets
    )
    scores = poisoning_scores(here, beside, settings)
    keys = scores[["metric", "variant"]].itertuples(index=False, name=None)
    return dict(zip(keys, scores[["value", "n", "note"]].itertuples(index=False, name=None), strict=True))


def undisturbed(reader, writer, text) -> float:
    return OWN[reader] if reader == writer else 0.1


def hijacked(reader, writer, text) -> float:
    """Every own gain falls by .1; that on the texts of client_004, the target, is .35 under every model."""
    return 0.35 if writer == "client_004" else undisturbed(reader, writer, text) - 0.1


def test_a_hijack_by_hand() -> None:
    # client_001 attacks, client_004 is the target: client_002 and client_003 are honest, with .3 and .2 of .4 and .3.
    found = values_of(rows(hijacked), rows(undisturbed), {"1": ["client_001"]}, {"1": "client_004"})
    assert found["poisoning_own_gain", ""][:2] == (pytest.approx(0.25), 2)
    assert found["poisoning_lost", ""][0] == pytest.approx(0.1)
    assert found["poisoning_lost", "low"][0] == pytest.approx(0.1)  # paired: both lose as much
    assert found["poisoning_target_gain", ""][0] == pytest.approx(0.35)
    # From .1 to .35 on the target's texts, from own to .1 less on own: .25 + .1.
    assert found["poisoning_turned", ""][0] == pytest.approx(0.35)
    assert found["poisoning_taken", ""][0] == 1.0
    assert found["poisoning_own_gain", "low"][0] < 0.25 < found["poisoning_own_gain", "high"][0]


def test_an_author_counts_under_the_seeds_under_which_it_is_honest() -> None:
    both = [pd.concat([rows(gain, seed=seed) for seed in (1, 2)]) for gain in (hijacked, undisturbed)]
    found = values_of(*both, {"1": ["client_001"], "2": ["client_002"]}, {"1": "client_004", "2": "client_004"})
    assert found["poisoning_own_gain", ""][:2] == (pytest.approx((0.4 + 0.3 + 0.2) / 3), 3)
    # client_001 keeps .4 of its own, above the .35 of the target.
    assert found["poisoning_taken", ""][0] == pytest.approx(2 / 3)


def test_without_a_hijack_no_voice_is_aimed_at() -> None:
    found = values_of(rows(hijacked), rows(undisturbed), {"1": ["client_001"]}, {})
    assert found["poisoning_own_gain", ""][1] == 3  # client_004 is honest like others
    value, _, note = found["poisoning_taken", ""]
    assert np.isnan(value)
    assert note == UNAIMED


def test_one_model_for_all_is_scored_like_others() -> None:
    shared = rows(lambda reader, writer, text: OWN.get(writer, 0.0))
    found = values_of(shared, shared, {"1": []}, {"1": "client_003"})
    assert found["poisoning_target_gain", ""][0] == pytest.approx(0.3)
    assert ("poisoning_target_gain", "low") not in found  # of one author
    assert found["poisoning_lost", ""][0] == 0
    assert found["poisoning_taken", ""][0] == pytest.approx(1 / 3)  # of .5, .4 and .2 the last
    assert 0 < found["poisoning_taken", "low"][0] < 1 / 3


def studied(config) -> None:
    """The smallest configuration hijacked, beside itself undisturbed."""
    attacked("hijack", 0.25)(config)
    section = config["experiments"]["micro"]
    section["evaluation"]["likelihood"] = {}
    attack = {"kind": "hijack", "share": 0}
    honest = {"extends": "micro", "federation": {"attack": attack}, "studies": {}, "tables": []}
    config["experiments"]["honest"] = honest
    section["studies"]["poisoning"] = {"beside": "honest"}
    config["sweeps"] = {"s": {"points": [{"label": "25", "experiment": "micro"}], "tables": ["poisoning"]}}


def test_the_scores_read_both_experiments(plan) -> None:
    planner = plan(change=studied)
    key = Key(experiment="micro")
    here, beside = planner.likelihood.readings(key), planner.likelihood.readings_beside(key)
    assert [path.replace("/micro/", "/honest/") for path in here] == beside
    assert planner.paths.likelihood.of(run_key("honest", "1", "favor")) in beside
    found = planner.training.attackers("micro", "1")
    settings = planner.likelihood.score_poisoning_settings(key)
    assert (settings.attackers, settings.targets) == ({"1": found.clients}, {"1": found.target})
    assert "poisoning" in planner.evaluation.families("micro")


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("micro.evaluation.likelihood", None, "evaluation.likelihood"),
        ("micro.studies.poisoning.beside", "hones", "did you mean 'honest'"),
        ("honest.lora", {"rank": 3}, "'lora' differs from that of 'honest'"),
        ("honest.federation.rounds", 1, "'federation.rounds' differs from that of 'honest'"),
        ("honest.seeds", [2], "'honest' has no seed 1"),
        ("honest.methods", {"fedavg": {}}, "'honest' has no row 'ditto' with these settings"),
        ("micro.studies.poisoning", None, "studies.poisoning.*its tables compare with an experiment without attack"),
    ],
)
def test_an_experiment_beside_that_differs_in_more_is_refused(where, value, words, plan) -> None:
    def change(config) -> None:
        studied(config)
        *path, last = where.split(".")
        section = config["experiments"]
        for name in path:
            section = section[name]
        section[last] = value

    with pytest.raises(UserError, match=words):
        plan(change=change)
