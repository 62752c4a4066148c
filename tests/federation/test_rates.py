"""Learning rates of a row: which stage each is, whose rounds are shared, and what a row without the stage says."""

import pytest
from tests.experiments import experiment
from tests.plan.conftest import plan  # noqa: F401  (a fixture)

from favor.federation.method import Plan, SharedStage, plan_values
from favor.federation.row_plan import load_method, stage_rate
from favor.foundation.errors import UserError
from favor.foundation.registry import METHODS
from favor.plan.keys import Key, run_key
from favor.plan.records import recipe

RATE = 0.002  # of all rows of tests/data/micro.yaml
KEYS = {"learning_rate": "shared", "personal_learning_rate": "personal"}
START = {"cold_start": {"shared_from": "federation", "seed": 2026}}


def made(row, **overrides) -> Plan:
    return load_method(row, overrides, experiment(**START))[1]


@pytest.mark.parametrize("row", sorted(set(METHODS.names()) - {"outputs", "adapters"}))
def test_every_row_takes_a_rate_for_each_stage_it_has_and_no_other(row) -> None:
    plain = made(row)
    assert made(row, **dict.fromkeys(KEYS)) == plain  # null is the rate of all
    documented = METHODS.load(row).__doc__
    for key, stage in KEYS.items():
        if getattr(plain, stage) is None:
            said = (
                "it trains nothing" if plain.shared is plain.personal else f"set '{next(k for k in KEYS if k != key)}'"
            )
            with pytest.raises(UserError, match=rf"methods.{row}.{key}': the row has no {stage} stage; {said}"):
                made(row, **{key: 0.01})
            continue
        rated = made(row, **{key: 0.01})
        assert getattr(rated, stage).learning_rate == 0.01
        assert f"``{key}``" in documented
        others = {other: getattr(rated, other) for other in KEYS.values() if other != stage}
        assert others == {other: getattr(plain, other) for other in others}


def test_rows_share_the_rounds_of_equal_stages_at_equal_rates() -> None:
    plain, other = made("fedavg"), made("fedavg", learning_rate=0.01)
    assert plain.shared.track == SharedStage().track != other.shared.track
    assert other.shared.track == made("ditto", learning_rate=0.01, personal_learning_rate=0.1).shared.track
    # A row that sets the rate of all is at no rate of its own.
    assert made("fedavg", learning_rate=experiment().training.learning_rate) == plain


def test_a_rate_that_is_not_set_is_not_among_the_values_that_jobs_are_handed() -> None:
    assert "learning_rate" not in str(plan_values(made("favor")))
    rated = made("favor", learning_rate=0.01, personal_learning_rate=0.1)
    for stage in (rated.shared, rated.personal):
        assert type(stage).of(plan_values(stage)) == stage
        assert plan_values(stage)["learning_rate"] == stage_rate(stage, experiment())


def test_jobs_of_a_stage_are_handed_its_rate(plan) -> None:  # noqa: F811
    rates = {"learning_rate": 0.03, "personal_learning_rate": 0.0004}
    planner = plan(change=lambda config: config["experiments"]["micro"]["methods"].update(favor=rates))
    run = run_key("micro", "2026", "favor")
    job = planner.training.jobs(planner.training.round_step(run, 0))[0]
    personal = Key(experiment="micro", seed="2026", method="favor", phase="last", batch="0")
    assert planner.training.train_shared_settings(job).training.learning_rate == 0.03
    assert planner.training.train_personal_settings(personal).training.learning_rate == 0.0004
    others = planner.training.jobs(planner.training.round_step(run_key("micro", "2026", "fedavg"), 0))[0]
    assert planner.training.train_shared_settings(others).training.learning_rate == RATE


def test_the_recipe_prints_the_rate_of_each_stage() -> None:
    def printed(**overrides) -> str:
        return recipe(made("favor", **overrides), experiment(), "M", "none")["learning_rate"]

    assert printed() == "0.0002 in every stage"
    assert printed(learning_rate=0.01) == "0.01 shared, 0.0002 private"
    assert printed(learning_rate=0.01, personal_learning_rate=0.01) == "0.01 in every stage"
