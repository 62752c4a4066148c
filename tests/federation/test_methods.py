"""Every method file declares a plan; the paper's update rules can be read off it."""

import dataclasses
import json
from typing import Any

import pytest
from tests.experiments import experiment as an_experiment

from favor.config.experiments import Experiment
from favor.federation.method import Plan, needs_shared, plan_values
from favor.federation.method_names import PAPER
from favor.federation.row_plan import load_method
from favor.foundation.errors import UserError
from favor.foundation.registry import METHODS
from favor.plan.records import recipe, run_check


def experiment(protocol="paper", **changes) -> Experiment:
    return an_experiment(**{"protocol": protocol, "cold_start": {"shared_from": "federation", "seed": 2026}} | changes)


def plan(name, protocol="paper", budget="released", matched_epochs=3, **overrides) -> Plan:
    return load_method(name, overrides, experiment(protocol, budget=budget, matched_epochs=matched_epochs))[1]


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_loads_and_is_plain_data(name) -> None:
    module, made, values = load_method(name, {}, experiment())
    assert module == f"favor.federation.methods.{name}"
    assert made.display
    assert plan_values(made)["inference"] == made.inference
    for part in (made.shared, made.personal, made.generates):
        assert part is None or type(part).of(json.loads(json.dumps(plan_values(part)))) == part
    assert all(isinstance(value, int | float | str | bool | None) for value in values.values())


def test_a_method_is_named_once_with_the_papers_or_by_its_file() -> None:
    named_by_file = {name for name in METHODS.names() if hasattr(METHODS.load(name), "METHOD")}
    assert named_by_file == set(METHODS.names()) - set(PAPER)
    assert set(PAPER) < set(METHODS.names())


def test_methods_with_the_same_shared_stage_share_one_track() -> None:
    for other in ("ditto", "fedavg_finetuned", "apfl", "fedrod_lora"):
        assert plan(other).shared.track == plan("fedavg").shared.track
    assert plan("ffa_lora", trains="AB").shared == plan("fedavg").shared
    assert plan("favor").shared.track == plan("fedprox").shared.track == plan("favor_without_asce").shared.track
    for other in ("global_asce", "fedalt", "fedex_lora", "scaffold"):
        assert plan(other).shared.track != plan("fedavg").shared.track


def test_reductions() -> None:
    assert plan("fedprox", lambda_prox=0.0).shared == plan("fedavg").shared
    assert plan("favor", lambda_align=0).personal == plan("favor_without_asce").personal
    assert plan("global_asce", lambda_align=0.0).shared == plan("fedavg").shared


def test_favor_and_ditto_have_the_papers_values() -> None:
    made, ditto = plan("favor"), plan("ditto")
    # The alignment signal never reaches the upload.
    assert dataclasses.asdict(made.shared.objective) == {"proximal": 0.0005, "alignment": 0.0}
    assert dataclasses.asdict(made.personal.objective) == {"proximal": 0.0, "alignment": 0.3}
    assert (made.shared.epochs, made.personal.epochs, made.personal.residual) == (1, 2, True)
    assert dataclasses.asdict(ditto.personal.objective) == {"proximal": 0.01, "alignment": 0.0}


def test_the_released_protocol_samples_fedavg_and_fedprox_uniformly_and_weights_by_words() -> None:
    sampling = {name: plan(name, "released").shared.sampling for name in ("fedavg", "fedprox", "ditto")}
    assert sampling == {"fedavg": "uniform", "fedprox": "uniform", "ditto": "coverage_first"}
    assert [plan("favor", protocol).shared.weighting for protocol in ("released", "paper")] == ["words", "uniform"]
    assert [plan(name, "released").shared.weighting for name in ("fedalt", "scaffold")] == ["uniform", "uniform"]


def test_overrides_are_taken() -> None:
    assert plan("favor", private_epochs=3).personal.epochs == 3
    strong = load_method("strong", {"method": "favor", "lambda_align": 1}, experiment())[1]
    assert strong.personal.objective.alignment == 1.0


@pytest.mark.parametrize(
    ("row", "overrides", "words"),
    [
        ("favor", {"lambda_aling": 1}, r"'methods.favor.lambda_aling'; did you mean 'lambda_align'"),
        ("favor", {"lambda_align": -1}, "finite and not negative"),
        ("fedavg", {"epochs": 0}, "more than 0 epochs"),
        *(("favor", {"personal_learning_rate": rate}, "learning_rate'") for rate in (0, -0.1, 1.5, "2e-4", True)),
        ("favor", {"private_epochs": "2"}, r"methods.favor.private_epochs': expected int, found '2'"),
        ("pfedme", {"eta": 0.0, "variant": "original"}, "must be above 0: w moves by their product"),
        ("pfedme", {"lambda_pfedme": 0.0, "variant": "original"}, "must be above 0: w moves by their product"),
        ("feddpa", {"global_half": "final", "gating": "dynamic"}, "it needs 'global_half: last_round'"),
        ("apfl", {"weight": 0.0, "weight_rate": 0.0}, "trains no local adapter"),
    ],
)
def test_overrides_are_checked(row, overrides, words) -> None:
    with pytest.raises(UserError, match=words):
        plan(row, **overrides)


def test_the_run_check_names_departures_of_experiment_and_method() -> None:
    def protocol_of(row, made, **overrides) -> str:
        module, resolved, values = load_method(row, overrides, made)
        return run_check(resolved, made, module, values)["protocol"]

    assert protocol_of("feddpa", experiment()) == "paper"
    assert protocol_of("feddpa", experiment(), gate_export="factors") == "paper, but gate_export"
    assert protocol_of("pfedme", experiment("released"), start="server") == "released, but start"
    changed = experiment(training={"supervised": "all"})
    assert protocol_of("fedavg", changed, sampling="uniform") == "paper, but training.supervised, but sampling"


def test_the_final_global_half_trains_nothing_else() -> None:
    late, usual = plan("feddpa", global_half="final"), plan("feddpa")
    assert (late.shared, late.personal) == (usual.shared, usual.personal)
    assert (late.generates.global_half, usual.generates.global_half) == ("final", "last_round")


def test_passes_are_printed_as_totals_or_for_one_participation() -> None:
    def printed(name, budget="matched", protocol="paper", **overrides) -> tuple[Any, ...]:
        made = experiment(protocol, budget=budget)
        module, resolved, values = load_method(name, overrides, made)
        checked = run_check(resolved, made, module, values)
        found = (checked.get("shared_passes"), checked.get("personal_passes"))
        return *found, recipe(resolved, made, "M", "none")["local_epochs"]

    # The released pFedMe carries theta over, so 3 passes are those of all participations.
    assert printed("pfedme", start="own") == ("3 in all", None, "3 in all shared")
    assert printed("pfedme") == (3, None, "3 shared")
    # K = 5 steps on each batch: 0.6 of a pass is 3 passes.
    assert printed("pfedme", variant="original") == ("3 (0.6 × 5 inner steps)", None, "3 (0.6 × 5 inner steps) shared")
    assert printed("pfedme", variant="original", start="own")[0] == "3 in all (0.6 × 5 inner steps)"
    assert printed("pfedme", "released", variant="original")[0] == "5 (1 × 5 inner steps)"
    assert printed("ditto") == (1, "3 in all", "1 shared, 3 in all private")
    assert printed("feddpa") == (1, "3 in all", "1 shared, 3 in all private")
    assert printed("ditto", "released") == (1, 1, "1 shared, 1 private")
    assert printed("favor") == (1, 2, "1 shared, 2 private")


def test_a_cold_start_begins_with_another_experiments_adapter_and_keeps_a_residual() -> None:
    for name, start, alignment in (
        ("cold_start", "frozen", 0.0),
        ("cold_start_asce", "frozen", 0.3),
        ("cold_start_random", "random", 0.0),
    ):
        made = plan(name)
        assert made.shared is None
        assert (made.personal.start, made.personal.residual) == (start, True)
        assert made.personal.objective.alignment == alignment
        # As many passes as the local-only rows beside it.
        assert made.personal.epochs == plan("local_only").personal.epochs == plan("local_only_asce").personal.epochs
        assert needs_shared(made)
        assert plan(name, budget="matched", matched_epochs=5).personal.epochs == 5
    assert plan("cold_start_shared").inference == "given"
    assert not any(needs_shared(plan(name)) for name in ("favor", "local_only", "base_only", "ditto"))
    with pytest.raises(UserError, match="begins with another experiment's shared adapter; name it in 'cold_start'"):
        load_method("cold_start", {}, experiment(cold_start=None))
