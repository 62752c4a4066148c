"""One round of every method by hand, on 2 x 2 tensors: both drift signs, two clients, uploads, what generates.

Every client's loss is 1/2 (w - c)^2 elementwise, c = +1 for x and -3 for y; one gradient step at rate 0.1 an epoch;
A_0 = 0.
One plain step gives x: 0 - 0.1 * (0 - 1) = +0.1 and y: 0 - 0.1 * (0 + 3) = -0.3.
"""

import copy
import functools

import numpy as np
import pytest
from tests.oracles.conftest import plan_of
from tests.oracles.simulation import Simulation, simulate

BOTH = [["x", "y"]]
near = functools.partial(pytest.approx, abs=1e-6)  # uploads and the server's adapter are float32


def value(state) -> float:
    """The one number all entries of a state share."""
    numbers = {round(float(v), 12) for tensor in state.values() for v in tensor.ravel()}
    assert len(numbers) == 1, numbers
    return numbers.pop()


def run(method, solver, zero, cohorts=BOTH, clients=("x", "y"), weights=None, overrides=None, **settings) -> Simulation:
    plan = plan_of(method, overrides, clients=len(clients), rounds=len(cohorts), cohort=len(cohorts[0]), **settings)
    return simulate(plan, cohorts, list(clients), zero, solver, weights)


def test_fedavg(two_clients, zero) -> None:
    done = run("fedavg", two_clients, zero)
    assert {name: value(part) for name, part in done.uploads[0].items()} == near({"x": 0.1, "y": -0.3})
    # Mean of +0.1 and -0.3.
    assert value(done.server[1]) == near(-0.1)
    assert value(done.clients["x"]) == value(done.clients["y"]) == near(-0.1)


def test_fedavg_weighted_by_words(two_clients, zero) -> None:
    # 3 : 1 weights: (3 * 0.1 - 0.3) / 4 = 0.
    done = run("fedavg", two_clients, zero, weights={"x": 300, "y": 100}, protocol="released")
    assert value(done.server[1]) == near(0.0)
    # The paper's server does not look at words.
    assert value(run("fedavg", two_clients, zero, weights={"x": 300, "y": 100}).server[1]) == near(-0.1)


def test_fedprox_pulls_back_from_both_sides(two_clients, zero) -> None:
    # Two steps: x: 0.1, then gradient (0.1 - 1) + 2 * 0.5 * 0.1 = -0.8, so 0.18. y: -0.3, then 2.7 - 0.3 = 2.4: -0.54.
    two_clients.steps = 2
    done = run("fedprox", two_clients, zero, overrides={"lambda_prox": 0.5})
    assert {n: value(p) for n, p in done.uploads[0].items()} == near({"x": 0.18, "y": -0.54})
    # Without the term: 0.1 + 0.09 = 0.19 and -0.3 - 0.27 = -0.57, further from A_0 on either side.
    free = run("fedavg", two_clients, zero)
    assert {n: value(p) for n, p in free.uploads[0].items()} == near({"x": 0.19, "y": -0.57})
    assert value(done.server[1]) == near(-0.18)


def test_favor_restarts_from_its_endpoint_and_aligns_only_in_private(two_clients, zero) -> None:
    done = run("favor", two_clients, zero, overrides={"lambda_align": 1.0, "private_epochs": 1, "lambda_prox": 0.0})
    # The upload is FedAvg's: alignment never reaches it.
    assert {n: value(p) for n, p in done.uploads[0].items()} == near({"x": 0.1, "y": -0.3})
    # Private, from 0.1: task -0.9, alignment towards 2: -1.9; 0.1 + 0.28 = 0.38. From -0.3: 2.7 - 2.3 = 0.4; -0.34.
    assert value(done.clients["x"]) == near(0.38)
    assert value(done.clients["y"]) == near(-0.34)
    # Nothing of the private stage is in the server's adapter.
    assert value(done.server[1]) == near(-0.1)


def test_favor_without_asce_is_favor_at_weight_zero(two_clients, zero) -> None:
    left = run("favor", two_clients, zero, overrides={"lambda_align": 0.0})
    right = run("favor_without_asce", two_clients, zero)
    assert {n: value(s) for n, s in left.clients.items()} == {n: value(s) for n, s in right.clients.items()}


def test_global_asce_aligns_what_is_uploaded(two_clients, zero) -> None:
    done = run("global_asce", two_clients, zero, overrides={"lambda_align": 1.0})
    # x: gradient -1 - 2 = -3; y: 3 - 2 = 1.
    assert {n: value(p) for n, p in done.uploads[0].items()} == near({"x": 0.3, "y": -0.1})
    assert value(done.clients["x"]) == near(0.1)


def test_ditto_is_anchored_at_the_round_start_and_carried_over(two_clients, zero) -> None:
    done = run("ditto", two_clients, zero, cohorts=[["x", "y"], ["x", "y"]], overrides={"lambda_ditto": 0.5})
    # Round 0: v_x = 0.1, v_y = -0.3 (the term is zero at A_0). A_1 = -0.1.
    # Round 1: v_x from 0.1: (0.1 - 1) + 2 * 0.5 * (0.1 + 0.1) = -0.7: 0.17; v_y from -0.3: 2.7 - 0.2 = 2.5: -0.55.
    # Anchored at the client's own updated copy (0.01 for x) it would be 0.1 + 0.081 instead.
    assert value(done.clients["x"]) == near(0.17)
    assert value(done.clients["y"]) == near(-0.55)
    # u_x starts from A_1 = -0.1 without penalty: -0.1 + 0.11 = 0.01, delta 0.11; u_y: -0.1 - 0.29, delta -0.29.
    assert {n: value(p) for n, p in done.uploads[1].items()} == near({"x": 0.11, "y": -0.29})


def test_ditto_with_asce_aligns_the_personal_adapter_only(two_clients, zero) -> None:
    done = run("ditto_asce", two_clients, zero, overrides={"lambda_align": 1.0})
    assert {n: value(p) for n, p in done.uploads[0].items()} == near({"x": 0.1, "y": -0.3})
    assert value(done.clients["x"]) == near(0.3)
    assert value(done.clients["y"]) == near(-0.1)


def test_pfedme_uploads_a_hundredth_and_generates_with_theta(two_clients, zero) -> None:
    done = run("pfedme", two_clients, zero)
    # theta_x = 0.1, theta_y = -0.3; eta * lambda = 0.01 of it goes up; the server moves by the mean, -0.001.
    assert {n: value(p) for n, p in done.uploads[0].items()} == near({"x": 0.001, "y": -0.003})
    assert value(done.server[1]) == near(-0.001)
    assert value(done.clients["x"]) == near(0.1)
    assert value(done.clients["y"]) == near(-0.3)


def test_pfedme_original_moves_its_reference_after_every_inner_solve(two_clients, zero) -> None:
    overrides = {"variant": "original", "inner_steps": 2, "lambda_pfedme": 0.5, "eta": 0.4}
    two_clients.steps = 2
    done = run("pfedme", two_clients, zero, overrides=overrides)
    # x: theta 0.1; gradient -0.9 + 0.1 = -0.8: theta 0.18; w = 0.2 * 0.18 = 0.036.
    # Second batch: -0.82 + 0.144 = -0.676: 0.2476; -0.7524 + 0.2116 = -0.5408: 0.30168; w = 0.036 + 0.2 * 0.26568.
    assert value(done.clients["x"]) == near(0.30168)
    assert value(done.uploads[0]["x"]) == near(0.036 + 0.2 * 0.26568)


def test_released_pfedme_carries_theta_over(two_clients, zero) -> None:
    twice = [["x", "y"], ["x", "y"]]
    paper = run("pfedme", two_clients, zero, cohorts=twice)
    # From A_1 = -0.001: -0.001 + 0.1 * 1.001 = 0.0991.
    assert value(paper.clients["x"]) == near(0.0991)
    released = run("pfedme", two_clients, zero, cohorts=twice, protocol="released")
    # From theta = 0.1: gradient -0.9 + 0.02 * (0.1 + 0.001) = -0.89798.
    assert value(released.clients["x"]) == near(0.1 + 0.089798)


def test_feddpa_trains_a_local_adapter_beside_fedavg(two_clients, zero) -> None:
    done = run("feddpa", two_clients, zero)
    assert value(done.server[1]) == near(-0.1)
    # Two local passes from A_0: 0.1, then 0.1 + 0.09.
    assert value(done.clients["x"]) == near(0.19)


@pytest.mark.parametrize(("method", "expected"), [("local_only", 1 - 0.9**6), ("local_only_asce", None)])
def test_local_only_is_six_passes_from_the_initial_adapter(method, expected, two_clients, zero) -> None:
    done = run(method, two_clients, zero, overrides=None if expected else {"lambda_align": 1.0})
    assert not done.uploads
    # 1 - 0.9^6 towards +1; with alignment 2 w - 3 per step: 1.5 (1 - 0.8^6).
    assert value(done.clients["x"]) == near(expected or 1.5 * (1 - 0.8**6))


def test_pooled_takes_the_exposure_of_the_schedule(two_clients, zero) -> None:
    two_clients.steps = 10
    done = run("pooled", two_clients, zero, cohorts=[["x"], ["y"], ["x"]], clients=("x", "y", "z"))
    # R * C / N = 3 * 1 / 3 = 1 pass of ten steps, towards -1.
    assert value(done.clients["z"]) == near(-(1 - 0.9**10))
    assert not done.uploads


def test_base_only_generates_with_no_adapter(two_clients, zero) -> None:
    done = run("base_only", two_clients, zero)
    assert done.clients == {}
    assert not two_clients.calls


PERSONAL = ["ditto", "ditto_asce", "feddpa", "favor", "favor_without_asce", "pfedme"]


@pytest.mark.parametrize("method", PERSONAL)
def test_a_client_that_is_not_sampled_stays_as_it_was(method, two_clients, zero) -> None:
    once = run(method, two_clients, zero, cohorts=[["x"]])
    later = run(method, two_clients, zero, cohorts=[["x"], ["y"], ["y"]])
    assert value(later.clients["x"]) == value(once.clients["x"])


@pytest.mark.parametrize("method", [*PERSONAL, "fedavg", "fedprox", "global_asce"])
def test_clients_never_sampled_generate_with_the_final_shared_adapter(method, two_clients, zero) -> None:
    done = run(method, two_clients, zero, clients=("x", "y", "z"))
    assert value(done.clients["z"]) == near(value(done.server[-1]))


def test_released_favor_drops_clients_never_sampled(two_clients, zero) -> None:
    done = run("favor", two_clients, zero, clients=("x", "y", "z"), protocol="released")
    assert set(done.clients) == {"x", "y"}
    assert set(run("ditto", two_clients, zero, clients=("x", "y", "z"), protocol="released").clients) == {"x", "y", "z"}


@pytest.mark.parametrize("method", [*PERSONAL, "fedavg", "fedprox", "global_asce", "local_only", "pooled"])
def test_nothing_shares_storage(method, two_clients, zero) -> None:
    before = copy.deepcopy(zero)
    done = run(method, two_clients, zero)
    states = [zero, *done.server[1:], *(part for uploads in done.uploads for part in uploads.values())]
    personal = plan_of(method).inference in ("personal", "endpoint") and method != "pooled"
    states += list(done.clients.values()) if personal else []
    for index, state in enumerate(states):
        for other in states[index + 1 :]:
            assert not any(np.shares_memory(state[key], other[key]) for key in state)
    assert all((zero[key] == before[key]).all() for key in zero)


def test_the_upload_holds_the_shared_delta_and_nothing_else(two_clients, zero) -> None:
    for method in PERSONAL:
        done = run(method, two_clients, zero)
        assert set(done.uploads[0]) == {"x", "y"}
        assert all(set(part) == {"A", "B"} for part in done.uploads[0].values())
        if method != "pfedme":
            # The same upload as FedAvg's or FedProx's alone: the personal stage cannot be read from it.
            plain = run("fedprox" if method.startswith("favor") else "fedavg", two_clients, zero)
            assert value(done.uploads[0]["x"]) == value(plain.uploads[0]["x"])


@pytest.mark.parametrize("method", ["fedavg", "fedprox", "favor", "ditto"])
def test_one_client_aggregates_to_itself(method, two_clients, zero) -> None:
    done = run(method, two_clients, zero, cohorts=[["x"]], clients=("x",))
    assert value(done.server[1]) == near(0.1)


def test_reduction_of_ditto_without_its_term_to_local_training(two_clients, zero) -> None:
    three = [["x", "y"]] * 3
    ditto = run("ditto", two_clients, zero, cohorts=three, overrides={"lambda_ditto": 0.0})
    local = run("local_only", two_clients, zero, overrides={"epochs": 3})
    assert {n: value(s) for n, s in ditto.clients.items()} == {n: value(s) for n, s in local.clients.items()}


def test_matched_budget_gives_every_personal_adapter_the_same_own_passes(two_clients, zero) -> None:
    cohorts = [["x", "y"], ["x", "z"], ["x", "y"]]  # x three times, y twice, z once
    methods = ("favor", "favor_without_asce", "ditto", "ditto_asce", "feddpa", "pfedme", "local_only")
    for method, protocol in [*((name, "paper") for name in methods), ("pfedme", "released")]:
        two_clients.calls.clear()
        settings = {"budget": "matched", "matched_epochs": 3, "protocol": protocol}
        run(method, two_clients, zero, cohorts=cohorts, clients=("x", "y", "z"), **settings)
        plan = plan_of(method, **settings)
        passes = {}
        for kind, name, number, epochs in two_clients.calls:
            if plan.shared is not None and plan.shared.start == "own":
                passes[name] = passes.get(name, 0) + epochs
            elif plan.personal is None or plan.personal.start == "endpoint":
                # Begun again at every participation: only the last one is behind the adapter.
                last = max(n for k, c, n, _ in two_clients.calls if c == name)
                passes[name] = passes.get(name, 0) + (epochs if number == last else 0)
            elif kind == "personal":
                passes[name] = passes.get(name, 0) + epochs
        assert passes == near({"x": 3, "y": 3, "z": 3}), (method, protocol)
    # K inner steps on the same pieces are K passes.
    assert plan_of("pfedme", {"variant": "original"}, budget="matched").shared.epochs == near(3 / 5)
