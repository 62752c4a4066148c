"""One round of every method by hand, on 2 x 2 tensors: both drift signs, two clients, uploads, what generates.

Every client's loss is 1/2 (w - c)^2 elementwise, c = +1 for x and -3 for y; one gradient step at rate 0.1 an epoch;
A_0 = 0.
One plain step gives x: 0 - 0.1 * (0 - 1) = +0.1 and y: 0 - 0.1 * (0 + 3) = -0.3.
"""

import functools

import pytest
from tests.oracles.conftest import BOTH, PERSONAL, A, B, plan_of, run

near = functools.partial(pytest.approx, abs=1e-6)  # uploads and the server's adapter are float32


def value(state) -> float:
    """The one number all entries of a state share."""
    numbers = {round(float(v), 12) for tensor in state.values() for v in tensor.ravel()}
    assert len(numbers) == 1, numbers
    return numbers.pop()


TWICE, WORDS, PLAIN = BOTH * 2, {"x": 300, "y": 100}, {"x": 0.1, "y": -0.3}
# Method and what it is given; the last round's uploads, the server's adapter after it, what clients generate with.
CASES = [
    # Mean of +0.1 and -0.3. By words the weights are 3 : 1: (3 * 0.1 - 0.3) / 4 = 0; the paper's server does not look.
    ("fedavg", {}, PLAIN, -0.1, {"x": -0.1, "y": -0.1}),
    ("fedavg", {"weights": WORDS, "protocol": "released"}, PLAIN, 0.0, {}),
    ("fedavg", {"weights": WORDS}, PLAIN, -0.1, {}),
    # Two steps: x: 0.1, then gradient (0.1 - 1) + 2 * 0.5 * 0.1 = -0.8, so 0.18. y: -0.3, then 2.7 - 0.3 = 2.4: -0.54.
    ("fedprox", {"steps": 2, "lambda_prox": 0.5}, {"x": 0.18, "y": -0.54}, -0.18, {}),
    # Without the term: 0.1 + 0.09 = 0.19 and -0.3 - 0.27 = -0.57, further from A_0 on either side.
    ("fedavg", {"steps": 2}, {"x": 0.19, "y": -0.57}, -0.19, {}),
    # The upload is FedAvg's: alignment never reaches it, nor the server's adapter.
    # Private, from 0.1: task -0.9, alignment towards 2: -1.9; 0.1 + 0.28 = 0.38. From -0.3: 2.7 - 2.3 = 0.4; -0.34.
    ("favor", {"lambda_align": 1.0, "private_epochs": 1, "lambda_prox": 0.0}, PLAIN, -0.1, {"x": 0.38, "y": -0.34}),
    # x: gradient -1 - 2 = -3; y: 3 - 2 = 1.
    ("favor_without_asce", {"private_epochs": 1, "lambda_prox": 0.0}, PLAIN, -0.1, {"x": 0.19, "y": -0.57}),
    ("global_asce", {"lambda_align": 1.0}, {"x": 0.3, "y": -0.1}, 0.1, {"x": 0.1}),
    # Round 0: v_x = 0.1, v_y = -0.3 (the term is zero at A_0). A_1 = -0.1.
    # Round 1: v_x from 0.1: (0.1 - 1) + 2 * 0.5 * (0.1 + 0.1) = -0.7: 0.17; v_y from -0.3: 2.7 - 0.2 = 2.5: -0.55.
    # Anchored at the client's own updated copy (0.01 for x) it would be 0.1 + 0.081 instead.
    # u_x starts from A_1 = -0.1 without penalty: -0.1 + 0.11 = 0.01, delta 0.11; u_y: -0.1 - 0.29, delta -0.29.
    ("ditto", {"cohorts": TWICE, "lambda_ditto": 0.5}, {"x": 0.11, "y": -0.29}, -0.19, {"x": 0.17, "y": -0.55}),
    ("ditto_asce", {"lambda_align": 1.0}, PLAIN, -0.1, {"x": 0.3, "y": -0.1}),
    # theta_x = 0.1, theta_y = -0.3; eta * lambda = 0.01 of it goes up; the server moves by the mean, -0.001.
    ("pfedme", {}, {"x": 0.001, "y": -0.003}, -0.001, {"x": 0.1, "y": -0.3}),
    # x: theta 0.1; gradient -0.9 + 0.1 = -0.8: theta 0.18; w = 0.2 * 0.18 = 0.036.
    # Second batch: -0.82 + 0.144 = -0.676: 0.2476; -0.7524 + 0.2116 = -0.5408: 0.30168; w = 0.036 + 0.2 * 0.26568.
    (
        "pfedme",
        {"steps": 2, "variant": "original", "inner_steps": 2, "lambda_pfedme": 0.5, "eta": 0.4},
        {"x": 0.036 + 0.2 * 0.26568},
        None,
        {"x": 0.30168},
    ),
    # From A_1 = -0.001: -0.001 + 0.1 * 1.001 = 0.0991. The released one carries theta = 0.1 over: gradient
    # -0.9 + 0.02 * (0.1 + 0.001) = -0.89798.
    ("pfedme", {"cohorts": TWICE}, {}, None, {"x": 0.0991}),
    ("pfedme", {"cohorts": TWICE, "protocol": "released"}, {}, None, {"x": 0.1 + 0.089798}),
    # Two local passes from A_0: 0.1, then 0.1 + 0.09.
    ("feddpa", {}, PLAIN, -0.1, {"x": 0.19}),
    # Six passes: 1 - 0.9^6 towards +1; with alignment 2 w - 3 per step: 1.5 (1 - 0.8^6).
    ("local_only", {}, {}, None, {"x": 1 - 0.9**6}),
    ("local_only_asce", {"lambda_align": 1.0}, {}, None, {"x": 1.5 * (1 - 0.8**6)}),
]


@pytest.mark.parametrize(("method", "given", "uploads", "server", "clients"), CASES)
def test_a_round_by_hand(method, given, uploads, server, clients, two_clients) -> None:
    two_clients.steps = given.get("steps", 1)
    settings = {key: given[key] for key in ("cohorts", "weights", "protocol") if key in given}
    overrides = {key: number for key, number in given.items() if key not in {"steps", *settings}}
    done = run(method, two_clients, overrides=overrides, **settings)
    assert [set(sent) for sent in done.uploads] == [] if "local" in method else [{"x", "y"}] * len(done.uploads)
    assert all(part.keys() == {A, B} for sent in done.uploads for part in sent.values())
    for name, number in uploads.items():
        assert value(done.uploads[-1][name]) == near(number)
    if server is not None:
        assert value(done.server[-1]) == near(server)
    for name, number in clients.items():
        assert value(done.clients[name]) == near(number)


def test_pooled_takes_the_exposure_of_the_schedule(two_clients) -> None:
    two_clients.steps = 10
    done = run("pooled", two_clients, cohorts=[["x"], ["y"], ["x"]], clients=("x", "y", "z"))
    # R * C / N = 3 * 1 / 3 = 1 pass of ten steps, towards -1.
    assert value(done.clients["z"]) == near(-(1 - 0.9**10))
    assert not done.uploads


def test_base_only_generates_with_no_adapter(two_clients) -> None:
    done = run("base_only", two_clients)
    assert done.clients == {}
    assert not two_clients.calls


@pytest.mark.parametrize("method", PERSONAL)
def test_a_client_that_is_not_sampled_stays_as_it_was(method, two_clients) -> None:
    once = run(method, two_clients, cohorts=[["x"]])
    later = run(method, two_clients, cohorts=[["x"], ["y"], ["y"]])
    assert value(later.clients["x"]) == value(once.clients["x"])


@pytest.mark.parametrize("method", [*PERSONAL, "fedavg", "fedprox", "global_asce"])
def test_clients_never_sampled_generate_with_the_final_shared_adapter(method, two_clients) -> None:
    done = run(method, two_clients, clients=("x", "y", "z"))
    assert value(done.clients["z"]) == near(value(done.server[-1]))


def test_released_favor_drops_clients_never_sampled(two_clients) -> None:
    done = run("favor", two_clients, clients=("x", "y", "z"), protocol="released")
    assert set(done.clients) == {"x", "y"}
    assert set(run("ditto", two_clients, clients=("x", "y", "z"), protocol="released").clients) == {"x", "y", "z"}


def test_matched_budget_gives_every_personal_adapter_the_same_own_passes(two_clients) -> None:
    cohorts = [["x", "y"], ["x", "z"], ["x", "y"]]  # x three times, y twice, z once
    methods = ("favor", "favor_without_asce", "ditto", "ditto_asce", "feddpa", "pfedme", "local_only")
    for method, protocol in [*((name, "paper") for name in methods), ("pfedme", "released")]:
        two_clients.calls.clear()
        settings = {"budget": "matched", "matched_epochs": 3, "protocol": protocol}
        run(method, two_clients, cohorts=cohorts, clients=("x", "y", "z"), **settings)
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
