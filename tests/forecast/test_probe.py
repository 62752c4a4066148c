"""Hours beforehand: tokens by hand, the arithmetic of a probe on clocks that are set, and a probe of a real model."""

from __future__ import annotations

import pytest

from favor.forecast import probe
from favor.forecast.estimate import estimate
from favor.forecast.probe import hour_lines, hours_here

KINDS = ["training", "generation", "reading", "pretraining"]


def one_method(config) -> None:
    experiment = config["experiments"]["micro"]
    experiment["methods"] = {"local_only": {"epochs": 3}}
    experiment["allocation"] = {"total_words": 4000}
    experiment["evaluation"]["likelihood"] = {"texts_per_client": 2, "neutral_texts": 1, "maximum_tokens": 16}
    experiment["studies"] = {}


def test_tokens_by_hand(plan) -> None:
    found = estimate(plan(change=one_method))["tokens"]["micro"]
    # Four clients of 1,000 words, three passes of 1.5 tokens a word; two own and two common prompts of 32 new tokens.
    assert found["training"] == 4 * 3 * 1000 * 1.5
    assert found["generation"] == 4 * (2 + 2) * 32
    # The base and four models read two texts of four authors and a neutral one, each of 16 tokens after 16.
    assert found["reading"] == (1 + 4) * (4 * 2 + 1) * (16 + 16)
    assert found["pretraining"] == 20_000


def test_what_is_written_and_read_is_counted_as_it_is_done(plan, tmp_path) -> None:
    """Who withdrew writes and reads nothing, what clients share reads once, and a row may write more samples."""
    (tmp_path / "made.jsonl").touch()

    def changed(config) -> None:
        one_method(config)
        experiment = config["experiments"]["micro"]
        experiment["withdrawn"] = ["client_002"]
        experiment["methods"] = {"base_only": {}, "fedavg": {}, "pooled": {}, "favor": {}}
        experiment["methods"] |= {"warmer": {"method": "favor", "generation": {"temperature": 0.8, "samples": 3}}}
        experiment["methods"]["elsewhere"] = {"outputs": str(tmp_path / "made.jsonl")}
        again = {"extends": "micro", "outputs_of": "micro", "methods": {"favor": {}, "ditto": {}}}
        config["experiments"]["again"] = {**again, "tables": ["likelihood-attribution"], "figures": False}

    found = estimate(plan(change=changed))["tokens"]["micro"]
    # Three authors, two own and two common prompts: four rows and Ditto write one text, one row three.
    assert found["generation"] == 3 * (2 + 2) * (4 + 1 + 3) * 32
    # The base, one model each of FedAvg and pooled, three each of both FAVoRs; in the other experiment base and Ditto.
    assert found["reading"] == ((1 + 1 + 1 + 3 + 3) + (1 + 3)) * (3 * 2 + 1) * (16 + 16)


def test_steps_that_are_fixed_count_whatever_the_text(plan) -> None:
    def fixed(config) -> None:
        one_method(config)
        config["experiments"]["micro"]["training"] |= {"steps_per_epoch": 5, "micro_batch": 4}

    # Three passes of five steps of 4 x 2 pieces of 64 tokens.
    assert estimate(plan(change=fixed))["tokens"]["micro"]["training"] == 4 * 3 * 5 * 4 * 2 * 64

    def pooled(config) -> None:
        fixed(config)
        config["experiments"]["micro"]["methods"] = {"pooled": {"epochs": 3}}

    # All texts together are one client's.
    assert estimate(plan(change=pooled))["tokens"]["micro"]["training"] == 3 * 5 * 4 * 2 * 64


def test_the_most_rows_that_fit_the_budget_are_timed(monkeypatch) -> None:
    clock, done = [0.0], []

    def work(rows) -> int:
        done.append(rows)
        clock[0] += 0.1 + 0.01 * rows
        return 10 * rows

    monkeypatch.setattr(probe, "_now", lambda device: clock[0])
    assert probe._seconds_per_token(work, 100, 1.5, "cpu") == pytest.approx((0.1 + 0.64) / 640)
    # One row warms up; four times .26 s fit a budget of 1.5 s, four times .74 do not.
    assert done == [1, 1, 4, 16, 64]
    assert probe._seconds_per_token(work, 8, 1.5, "cpu") == pytest.approx((0.1 + 0.08) / 80)


def test_of_a_large_model_the_time_of_a_layer_is_multiplied(plan, monkeypatch) -> None:
    planner = plan(change=lambda config: config["base_models"]["micro"]["pretrain"].update(layers=12))
    monkeypatch.setattr(probe, "LARGE", 1)
    monkeypatch.setattr(probe, "_works", lambda planner, name, shape, device: {"training": (shape, 1)})
    # Half a second beside the layers, of a tenth of a second each: 1 and 3 layers say so.
    monkeypatch.setattr(probe, "_seconds_per_token", lambda shape, *rest: 0.5 + 0.1 * shape.num_hidden_layers)
    assert probe.seconds_per_token(planner, "micro", "cpu", KINDS)["training"] == pytest.approx(0.5 + 1.2)


def test_writing_counts_the_reading_of_its_prompt(plan, monkeypatch) -> None:
    works = {"generation": (0.5, 1), "reading": (0.25, 1)}
    monkeypatch.setattr(probe, "_works", lambda *given: works)
    monkeypatch.setattr(probe, "_seconds_per_token", lambda work, *rest: work)
    # 32 new tokens after a prompt of 16.
    assert probe.seconds_per_token(plan(), "micro", "cpu", ["generation"]) == {"generation": 0.5 + 0.25 * 16 / 32}


def test_hours_are_tokens_times_their_time(plan, monkeypatch) -> None:
    monkeypatch.setattr(probe, "seconds_per_token", lambda *rest: {"training": 0.001, "generation": 0.01})
    planner = plan(change=lambda config: config["base_models"]["micro"].update(device="cpu"))
    found = hours_here(planner, {"micro": {"training": 7_200_000, "generation": 360_000, "reading": 0}})
    assert found["micro"]["hours"] == pytest.approx({"training": 2.0, "generation": 1.0})
    rows = dict(hour_lines(found, cores=4, threads=1))
    assert rows["training with micro, this CPU, 1 thread per job (1,000 tokens/s, estimated)"] == "2.0 h"
    assert rows["these jobs one after another"] == "3.0 h"
    assert rows["these jobs on 4 cores, at best"] == "45.0 min"


def test_a_model_for_gpus_is_not_probed_on_a_processor(plan, monkeypatch) -> None:
    monkeypatch.setattr(probe, "device_of", lambda wanted: "cpu")
    planner = plan(change=lambda config: config["base_models"]["micro"].update(parameters=3_100_000_000))
    found = hours_here(planner, {"micro": {"training": 1.0}})
    ((row, value),) = hour_lines(found, cores=4, threads=1)
    assert (row[:46], value) == ("work with micro: 3.1 billion parameters and no", "not known")


def test_a_probe_of_a_real_model_needs_no_network(plan, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(probe, "SECONDS", 0.2)
    planner = plan(change=one_method)
    found = hours_here(planner, estimate(planner)["tokens"])["micro"]
    assert list(found["hours"]) == KINDS
    assert all(0 < hours < 1 for hours in found["hours"].values())
