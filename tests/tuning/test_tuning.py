"""Rates chosen by validation loss: the grid, the choice, and the file that is laid over an experiment."""

import argparse
import copy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from snakemake.utils import update_config
from tests.plan.conftest import ROOT, read

from favor.config.resolve import resolve
from favor.federation.row_plan import rate_caution
from favor.federation.schemas import VALIDATION_LOSSES
from favor.federation.settings import Tuned
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet
from favor.plan import Planner
from favor.plan.job_settings import to_params
from favor.plan.keys import Key, run_key
from favor.tuning.choice import check_output, choose, write_tuned
from favor.tuning.command import add_tune, run
from favor.tuning.grid import Candidate, Grid, losses_of

METHODS = {"fedavg": {}, "favor": {}, "local_only": {"epochs": 3}, "fedsa_lora": {}, "pooled": {}, "base_only": {}}


def raw(clients=12, methods=METHODS) -> dict[str, Any]:
    found = read(".test/config/config.yaml")
    found["corpora"]["tiny"]["demo"]["authors"] = 40
    found["corpora"]["tiny"]["roles"] = {"clients": clients, "asce_a": 3, "asce_b": 0, "background": 8}
    found["experiments"]["tiny"] |= {"clients": 4, "methods": copy.deepcopy(methods)}
    return found


def grid(config=None, rates=(0.01, 0.1), passes=None, authors=None) -> Grid:
    return Grid(resolve(config or raw()), "tiny", rates, passes, authors)


def planned(made, candidates, config=None) -> Planner:
    found = config or raw()
    update_config(found, yaml.safe_load(yaml.safe_dump(made.settings(candidates))))
    return Planner(resolve(found), ROOT)


def test_points_are_tried_on_authors_who_are_not_the_experiments() -> None:
    made = grid()
    section = planned(made, made.shared()).config.experiments["tiny_tuning"]
    assert (section.skip_clients, section.clients, section.seeds) == (4, 4, [1])
    assert section.training.validation is not None
    patient = raw()
    patient["experiments"]["tiny"]["training"]["validation"] = {"patience": 1}
    made = grid(patient)
    section = planned(made, made.shared(), patient).config.experiments["tiny_tuning"]
    assert (section.training.validation.patience, section.training.validation.texts_per_client) == (1, 8)
    made = grid()
    with pytest.raises(UserError, match=r"3 or more authors .* 1 of 5 are left; raise corpora.tiny.roles.clients"):
        grid(raw(clients=5))


def test_every_stage_of_every_row_is_tried_at_every_rate() -> None:
    made = grid(passes=(1, 2))
    shared = {(each.row, each.learning_rate) for each in made.shared()}
    assert shared == {(row, rate) for row in ("fedavg", "favor", "fedsa_lora") for rate in (0.01, 0.1)}
    chosen = {"favor": 0.1}
    personal = made.personal(chosen)
    # The pooled reference's passes are those of the schedule: "epochs" sets them.
    wanted = {(row, rate, n) for row in ("favor", "local_only", "pooled") for rate in (0.01, 0.1) for n in (1, 2)}
    assert {(each.row, each.learning_rate, each.passes) for each in personal} == wanted
    assert {each.overrides["learning_rate"] for each in personal if each.row == "favor"} == {0.1}
    keys = {each.row: next(key for key in each.overrides if key.endswith("epochs")) for each in personal}
    assert keys == {"favor": "private_epochs", "local_only": "epochs", "pooled": "epochs"}


def test_shared_adapters_are_read_at_the_end_and_other_losses_are_taken_from_logs() -> None:
    made = grid()
    shared = made.shared()
    planner = planned(made, shared)
    kinds = {each.row: losses_of(planner, "tiny_tuning", each) for each in shared}
    assert kinds["fedavg"].startswith("results/tiny_tuning/seed1/shared/")
    assert kinds["favor"].endswith("/clients/validation.parquet")
    assert kinds["fedsa_lora"] == "results/tiny_tuning/seed1/fedsa_lora_shared_0p1/clients/validation_shared.parquet"
    both = [*shared, *made.personal({"favor": 0.1, "fedavg": 0.01, "fedsa_lora": 0.01})]
    again = planned(made, both)
    # What the first step made stays as it is in the second. No log is asked for: rounds let go what is made with it.
    files = [losses_of(again, "tiny_tuning", each) for each in both]
    assert files[: len(shared)] == [losses_of(planner, "tiny_tuning", each) for each in shared]
    assert {file.rpartition("/")[2] for file in files} == {
        *("validation.parquet", "validation_shared.parquet", "validation_personal.parquet")
    }


def test_a_stage_has_the_losses_of_its_own_logs() -> None:
    made = grid(raw(methods={"ditto": {}}))
    candidates = made.personal({"ditto": 0.1})
    planner = planned(made, candidates, raw(methods={"ditto": {}}))
    run = run_key("tiny_tuning", "1", candidates[0].trial)
    logs = {stage: planner.validation.stage_logs(Key(**vars(run), stage=stage)) for stage in ("shared", "personal")}
    assert all("/shared/" in log for log in logs["shared"])
    assert [log.split("/")[-2] for log in logs["personal"]] == ["round0", "round1"]


def test_a_larger_grid_trains_no_point_again() -> None:
    few, more = grid(), grid(rates=(0.00001, 0.01, 0.1))
    assert {each.trial: each.overrides for each in few.shared()}.items() <= {
        each.trial: each.overrides for each in more.shared()
    }.items()


def test_personal_stages_may_have_rates_of_their_own() -> None:
    made = Grid(resolve(raw()), "tiny", (0.1,), None, None, (0.01,))
    assert {each.learning_rate for each in made.shared()} == {0.1}
    assert {each.learning_rate for each in made.personal({})} == {0.01}
    taken = raw()
    taken["experiments"]["tiny_tuning"] = {"extends": "tiny"}
    with pytest.raises(UserError, match="'tiny_tuning': rates are chosen in one of that name; rename yours"):
        grid(taken)
    with pytest.raises(UserError, match="--authors 2: one round needs 3; name 3 to 8"):
        grid(authors=2)
    with pytest.raises(UserError, match="--personal-rates: nan is out of range"):
        Grid(resolve(raw()), "tiny", [0.01], personal_rates=[float("nan")])
    with pytest.raises(UserError, match="--rates: 2 is out of range"):
        grid(rates=(2,))


def test_a_shared_stage_reads_validation_texts_only_where_clients_generate_with_its_end() -> None:
    made = grid(raw(methods={"fedavg": {}, "fedsa_lora": {}}))
    shared = made.shared()
    planner = planned(made, shared, raw(methods={"fedavg": {}, "fedsa_lora": {}}))
    for each in shared:
        stage = planner.project.plans("tiny_tuning")[each.trial].shared
        key = Key(experiment="tiny_tuning", seed="1", track=stage.track, round="0", batch="0")
        settings = to_params(planner.training.train_shared_settings(key))
        assert (settings["training"]["validation"] is not None) == (each.row == "fedsa_lora")


def candidate(row, stage, rate, passes=1.0, **overrides) -> Candidate:
    return Candidate(row, stage, rate, passes, f"{row}_{stage}", overrides)


def test_the_lowest_loss_is_chosen_and_of_equal_ones_the_smallest_rate() -> None:
    found = [
        (candidate("favor", "shared", 0.1), {"a": 1.0, "b": 3.0}),
        (candidate("favor", "shared", 0.01), {"a": 2.0, "b": 2.0}),
        (candidate("favor", "shared", 1.0), {"a": 0.0, "b": 9.0, "c": 0.0}),
        (candidate("local_only", "shared", 0.1, 2), {"a": 1.0}),
        (candidate("local_only", "shared", 0.1, 1), {"a": 1.0}),
    ]
    points = choose(found)
    assert [point.chosen for point in points] == [False, True, False, False, True]
    assert [point.loss for point in points] == [2.0, 2.0, 4.5, 1.0, 1.0]
    assert [point.authors for point in points] == [2, 2, 2, 1, 1]
    with pytest.raises(UserError, match="no author has a validation text"):
        choose([(candidate("favor", "shared", 0.1), {})])


def test_a_best_point_at_the_end_of_its_grid_is_said() -> None:
    def lines(*losses) -> list[str]:
        rates = (0.001, 0.01, 0.1)
        found = [(candidate("favor", "shared", rate), {"a": loss}) for rate, loss in zip(rates, losses, strict=True)]
        return Tuned(skip_clients=4, clients=1, seed=1, points=choose(found)).doubts()

    assert lines(2, 1, 2) == []
    assert lines(1, 2, 3) == ["favor, shared stage: 0.001 is the smallest of the rates tried; try smaller ones too"]
    assert lines(3, 2, 1) == ["favor, shared stage: 0.1 is the largest of the rates tried; try larger ones too"]


def test_one_author_does_not_choose_for_all_others() -> None:
    # By hand: means 2.1 and 1.9 of all five, 2.0 and 2.125 without e, whose distance from the median (2, 2, 7) differs
    # most between the points: by 1.5, d's by 1. At the last rate everybody is worse, d by 6.
    found = [
        (candidate("favor", "shared", 0.01), {"a": 1.0, "b": 2.0, "c": 2.0, "d": 3.0, "e": 2.5}),
        (candidate("favor", "shared", 0.1), {"a": 1.5, "b": 2.0, "c": 2.0, "d": 3.0, "e": 1.0}),
        (candidate("favor", "shared", 1.0), {"a": 6.0, "b": 7.0, "c": 7.0, "d": 9.0, "e": 6.5}),
    ]
    points = choose(found)
    assert [(point.chosen, point.loss) for point in points] == [(True, 2.0), (False, 2.125), (False, 7.25)]
    assert {point.authors for point in points} == {4}
    # Of four authors none is left out: means 1.875 and 1.625.
    few = choose([(each, {name: losses[name] for name in "abce"}) for each, losses in found])
    assert [(point.chosen, point.authors) for point in few] == [(False, 4), (True, 4), (False, 4)]


def test_the_command_chooses_shared_rates_before_personal_ones(tmp_path, monkeypatch, capsys) -> None:
    """The workflow is replaced by planted losses: shared stages are best at .1, personal ones at .01."""
    monkeypatch.chdir(tmp_path)
    started: list[set[str]] = []

    def planner_of(arguments) -> Planner:
        found = raw(methods={"favor": {}, "local_only": {}})
        for path in arguments.configfile:
            update_config(found, yaml.safe_load(Path(path).read_text()))
        return Planner(resolve(found), ROOT)

    def start(arguments, files) -> int:
        plans = planner_of(arguments).project.plans("tiny_tuning")
        started.append(set(plans))
        if len(started) == 2:
            return 1  # the second step is interrupted, and the command given again
        best = {
            f"/shared/{plan.shared.track}/"
            for plan in plans.values()
            if plan.shared and plan.shared.learning_rate == 0.1
        }
        for file in files:
            loss = 1.0 if any(part in file for part in (*best, "_personal_0p01/")) else 2.0
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            write_parquet(pd.DataFrame({"client": ["a", "b"], "loss": loss}), file, VALIDATION_LOSSES)
        return 0

    command = argparse.ArgumentParser()
    add_tune(command)
    arguments = command.parse_args(["--rates", "0.01", "0.1"])
    arguments.configfile, arguments.dry_run = [], False
    assert run(arguments, planner_of, start) == 1
    assert not arguments.output.exists()
    assert run(arguments, planner_of, start) == 0
    chosen = yaml.safe_load(arguments.output.read_text())["experiments"]["tiny"]["methods"]
    assert chosen == {
        "favor": {"learning_rate": 0.1, "personal_learning_rate": 0.01},
        "local_only": {"personal_learning_rate": 0.01},
    }
    assert "wrote tuned.yaml" in capsys.readouterr().err
    check_output(arguments.output)  # its own file may be written again
    arguments.output.write_text(edited := arguments.output.read_text().replace("0.01", "0.02"))
    assert run(arguments, planner_of, start) == 0
    assert "kept the earlier tuned.yaml as tuned.yaml.old" in capsys.readouterr().out
    assert Path("tuned.yaml.old").read_text() == edited
    for path, said in (
        (tmp_path, "is a folder"),
        (Path(__file__), "favor tune has not written it"),
        (Path("/dev/null"), "favor tune has not written it"),
        (Path("/proc/tuned.yaml"), "cannot write there"),
        (Path(__file__, "tuned.yaml"), "cannot write there"),
    ):
        with pytest.raises(UserError, match=said):
            check_output(path)
    first, second, again, last, *_ = started
    personal = {f"{row}_personal_{rate}" for row in ("favor", "local_only") for rate in ("0p01", "0p1")}
    assert first == again
    assert second == last == first | personal


def test_two_rows_rank_right_only_after_tuning(tmp_path) -> None:
    """Planted: at .1 local-only is best and FAVoR is worst; each at its own best rate, FAVoR is better."""
    made = grid(rates=(0.01, 0.1), passes=(1, 2))
    planted = {
        ("favor", "shared", 0.01): 3.0, ("favor", "shared", 0.1): 2.0, ("favor", "personal", 0.01): 1.0,
        ("favor", "personal", 0.1): 4.0, ("local_only", "personal", 0.01): 2.5, ("local_only", "personal", 0.1): 1.5,
    }  # fmt: skip

    def losses(candidates) -> list[tuple[Candidate, dict[str, float]]]:
        return [
            (each, dict.fromkeys("abc", planted.get((each.row, each.stage, each.learning_rate), 9.0) + each.passes / 9))
            for each in candidates
        ]

    shared = made.shared()
    points = choose(losses(shared))
    chosen = {point.row: point.learning_rate for point in points if point.chosen}
    assert chosen["favor"] == 0.1
    personal = made.personal(chosen)
    points += choose(losses(personal))
    tried = [*shared, *personal]
    lines = write_tuned(made, tried, points, tmp_path / "tuned.yaml")
    assert "favor: learning_rate 0.1, personal_learning_rate 0.01, private_epochs 1" in lines

    def loss_at(row, rate) -> float:
        return planted[row, "personal", rate]

    assert loss_at("favor", 0.1) > loss_at("local_only", 0.1)  # one rate for all
    best = {point.row: point.loss for point in points if point.chosen and point.stage == "personal"}
    assert best["favor"] < best["local_only"]
    # The same choice writes the same bytes, and what it writes is laid over the experiment.
    first = (tmp_path / "tuned.yaml").read_bytes()
    write_tuned(made, tried, choose(losses(shared)) + choose(losses(personal)), tmp_path / "again.yaml")
    assert (tmp_path / "again.yaml").read_bytes() == first
    laid, found = raw(), yaml.safe_load(first)
    # Rows that were not tuned too: where an experiment is extended, named rows replace its own together.
    assert found["experiments"]["tiny"]["methods"].keys() == laid["experiments"]["tiny"]["methods"].keys()
    update_config(laid, found)
    project = Planner(resolve(laid), ROOT).project
    assert not rate_caution(project.config.experiments["tiny"], project.plans("tiny"))
    before = Planner(resolve(raw()), ROOT).project
    assert "that was not tuned" in rate_caution(before.config.experiments["tiny"], before.plans("tiny"))
    plans = project.plans("tiny")
    assert (plans["favor"].shared.learning_rate, plans["favor"].personal.learning_rate) == (0.1, 0.01)
    assert plans["local_only"].personal.learning_rate == 0.1
    assert plans["local_only"].personal.epochs == 1
    assert project.config.experiments["tiny"].tuned.clients == 4
