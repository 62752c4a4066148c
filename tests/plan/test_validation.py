"""What a sweep's choice rests on: training logs alone, of experiments whose losses are of the same tokens."""

from collections.abc import Callable
from typing import Any

import pytest

from favor.foundation.errors import UserError
from favor.plan.job_settings import to_params
from favor.plan.keys import Key
from favor.plan.readings import unread

SWEEP = ("tests/data/micro.yaml", "tests/data/micro_studies.yaml")


def test_the_choice_reads_training_logs_and_nothing_of_test_texts(plan) -> None:
    planner = plan(SWEEP)
    assert planner.sweeps.families("volume") == ["utility", "validation", "verification"]
    assert "validation" in planner.evaluation.families("third")
    key = Key(experiment="third")
    logs, settings = planner.validation.logs(key), to_params(planner.validation.score_validation_settings(key))
    assert logs
    assert all(path.endswith(".log.parquet") for path in logs)
    assert {log for run in settings["runs"] for log in run["logs"]} == set(logs)
    stages = {run["method"]: (run["stage"], run["stopped"]) for run in settings["runs"]}
    assert stages == {"ditto": ("personal", False), "favor": ("personal", False)}
    assert settings["without"] == {}
    assert "results/sweeps/volume/scores.parquet" in planner.publication.evidence()
    assert planner.sweeps.families("shots") == plan(SWEEP).sweeps.families("shots")
    assert "validation" not in planner.sweeps.families("shots")


def test_a_personal_stage_that_stops_early_keeps_its_best_pass(plan) -> None:
    patient = {"experiments": {name: {"training": {"validation": {"patience": 1}}} for name in ("even", "third")}}
    runs = plan(SWEEP, patient).validation.score_validation_settings(Key(experiment="third")).runs
    assert all(run.stopped for run in runs)


def test_rows_whose_training_log_is_not_of_what_they_generate_with(plan) -> None:
    rows = ["base_only", "fedavg", "ditto", "feddpa", "pooled", "local_only", "favor", "fedsa_lora", "apfl", "fedalt"]

    def every(config) -> None:
        config["experiments"]["micro"]["methods"] = {row: {} for row in (*rows, "pfedme", "fedrod_lora", "flexlora")}
        config["experiments"]["micro"]["methods"]["last_fedsa"] = {"method": "fedsa_lora", "global_half": "last_round"}

    plans = plan(change=every).project.plans("micro")
    read = {"ditto", "local_only", "favor", "apfl", "pfedme", "fedrod_lora", "last_fedsa"}
    assert {row for row, one in plans.items() if not unread(one)} == read
    assert unread(plans["pooled"]).startswith("one adapter for all authors")
    assert unread(plans["feddpa"]) == unread(plans["fedalt"]) == unread(plans["fedsa_lora"])


def third(**own) -> Callable[[dict[str, Any]], None]:
    return lambda config: config["experiments"]["third"].update(own)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (third(training={"validation": None}), "'third' reads no validation texts; set experiments.third.training"),
        (third(training={"max_length": 50}), "'training.max_length' of experiment 'even' differs from that of 'third'"),
        (third(training={"validation": {"texts_per_client": 2}}), "'training.validation.texts_per_client'"),
        (third(skip_clients=1), "'skip_clients' of experiment 'even' differs from that of 'third'"),
        (third(seeds=[2]), "'seeds' of experiment 'even' differs from that of 'third'"),
        (lambda config: config["sweeps"]["volume"].update(tables=[], figure=[]), "name a table"),
        (lambda config: config["experiments"]["even"].update(methods={"fedavg": {}}), "no row has a valid.*add a row"),
    ],
)
def test_losses_that_are_not_there_or_not_of_the_same_tokens_are_refused(change, said, plan) -> None:
    with pytest.raises(UserError, match=f"sweeps.volume.choose_by'.*{said}"):
        plan(SWEEP, change)
