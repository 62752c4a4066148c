"""The methods of the plug points: one round by hand, ten rounds against plain NumPy, reductions, resumption.

By hand: every client's loss is 1/2 (w - c)^2 elementwise, c = +1 for x and -3 for y, from 0; one gradient step at rate
0.1 gives x +0.1 and y -0.3.
"""

from typing import Any

import numpy as np
import pytest
from tests.oracles.conftest import BOTH, NAMES, PERSONAL, RATE, ROUNDS, STEPS, A, B, close, flat, plan_of, run, square
from tests.oracles.simulation import simulate

from favor.federation.factors import Factors
from favor.federation.stages import carried_weight

ALL = (
    *("fedprox", "fedavg_finetuned", "ffa_lora", "flexlora", "fedavgm", "fedadam", "fedyogi"),
    *("fedsa_lora", "fedrod_lora", "apfl", "fedalt", "scaffold"),
)


def numbers(state) -> dict[str, Any]:
    """Return the one number of each tensor, by its factor."""
    found = {key: np.unique(np.round(np.asarray(tensor, dtype=np.float64), 7)) for key, tensor in state.items()}
    assert all(len(values) == 1 for values in found.values()), found
    return {key.split("lora_")[1][0]: pytest.approx(float(values[0]), abs=2e-7) for key, values in found.items()}


def test_ffa_lora_holds_a_and_sends_b(two_clients) -> None:
    done = run("ffa_lora", two_clients)
    assert {name: numbers(part) for name, part in done.uploads[0].items()} == {"x": {"B": 0.1}, "y": {"B": -0.3}}
    assert numbers(done.server[1]) == numbers(done.clients["x"]) == {"A": 0.0, "B": -0.1}


def test_fedsa_lora_sends_a_and_keeps_b(two_clients) -> None:
    done = run("fedsa_lora", two_clients, BOTH * 2)
    # Round 0: A_x = B_x = 0.1, A_y = B_y = -0.3; A_1 = -0.1. Round 1: A_x from -0.1: 0.01; B_x from 0.1: 0.19.
    assert {name: numbers(part) for name, part in done.uploads[0].items()} == {"x": {"A": 0.1}, "y": {"A": -0.3}}
    assert {name: numbers(part) for name, part in done.uploads[1].items()} == {"x": {"A": 0.11}, "y": {"A": -0.29}}
    # A_2 = -0.1 + (0.11 - 0.29) / 2 = -0.19; B_y from -0.3: -0.57. The server's B never moves.
    assert numbers(done.clients["x"]) == {"A": -0.19, "B": 0.19}
    assert numbers(done.clients["y"]) == {"A": -0.19, "B": -0.57}
    assert numbers(done.server[2]) == {"A": -0.19, "B": 0.0}
    own = run("fedsa_lora", two_clients, BOTH * 2, overrides={"global_half": "last_round"})
    assert numbers(own.clients["x"]) == {"A": 0.01, "B": 0.19}


def test_fedavg_finetuned_starts_everybody_at_the_final_adapter(two_clients) -> None:
    done = run("fedavg_finetuned", two_clients, clients="xyz", overrides={"personal_epochs": 1})
    # A_1 = -0.1; x: -0.1 + 0.11; y: -0.1 - 0.29; z was never sampled: -0.1 + 0.51.
    found = {name: numbers(state)["A"] for name, state in done.clients.items()}
    assert found == {"x": 0.01, "y": -0.39, "z": 0.41}
    assert numbers(done.server[1]) == {"A": -0.1, "B": -0.1}


def test_flexlora_averages_the_products(two_clients) -> None:
    done = run("flexlora", two_clients)
    # B_x A_x = 2 * 0.1 * 0.1 = 0.02 and B_y A_y = 2 * 0.3 * 0.3 = 0.18 in every entry: 0.1 on average, of rank 1.
    np.testing.assert_allclose(done.server[1][B] @ done.server[1][A], 0.1, atol=1e-7)
    # FedAvg's factors are -0.1 each: 0.02.
    plain = run("fedavg", two_clients).server[1]
    np.testing.assert_allclose(plain[B] @ plain[A], 0.02, atol=1e-7)


def test_fedavgm(two_clients) -> None:
    done = run("fedavgm", two_clients, BOTH * 2)
    # m = -0.1, A_1 = -0.1. Then x moves by 0.11 and y by -0.29: m = 0.9 * -0.1 - 0.09 = -0.18, A_2 = -0.28.
    assert [numbers(state)["A"] for state in done.server[1:]] == [-0.1, -0.28]


@pytest.mark.parametrize(
    ("method", "tau", "expected"),
    # m = 0.5 * -0.1; v = 0.75 * 0.04 + 0.25 * 0.01 = 0.0325: -0.05 / (0.1802776 + 0.2) = -0.1314829.
    # Yogi: v = 0.04 - 0.25 * 0.01 = 0.0375: -0.05 / (0.1936492 + 0.2) = -0.1270167.
    # Where the step is larger Yogi's v grows: 0.0025 + 0.25 * 0.01 = 0.005: 0.1 * -0.05 / (0.0707107 + 0.05).
    [("fedadam", 0.2, -0.01314829), ("fedyogi", 0.2, -0.01270167), ("fedyogi", 0.05, -0.04142136)],
)
def test_adaptive_servers(method, tau, expected, two_clients) -> None:
    done = run(method, two_clients, overrides={"server_rate": 0.1, "beta1": 0.5, "beta2": 0.75, "tau": tau})
    assert numbers(done.server[1]) == {"A": expected, "B": expected}


def test_fedrod_lora_trains_the_sum_and_sends_the_shared_part(two_clients) -> None:
    done = run("fedrod_lora", two_clients, BOTH * 2)
    # Round 0, beside A_0 = 0: d_x = 0.1, d_y = -0.3. Round 1, beside A_1 = -0.1: x at 0.1 - 0.1 = 0, so d_x = 0.2;
    # y at -0.3 - 0.1 = -0.4, gradient 2.6, so d_y = -0.56. Each generates with the sum.
    assert numbers(done.personal["x"]["adapter"])["A"] == 0.2
    assert numbers(done.clients["x"])["A"] == 0.1
    assert numbers(done.clients["y"])["A"] == -0.66
    assert {name: numbers(part)["A"] for name, part in done.uploads[1].items()} == {"x": 0.11, "y": -0.29}


def test_fedrod_lora_begins_at_the_initial_adapter_whenever_a_client_comes_first(two_clients) -> None:
    done = run("fedrod_lora", two_clients, [["x"], ["y"]])
    # y comes in round 1, beside A_1 = 0.1, and begins at 0, not at A_1: gradient 3.1, d_y = -0.31.
    assert numbers(done.personal["y"]["adapter"])["A"] == -0.31


def test_apfl_moves_its_adapter_and_its_weight(two_clients) -> None:
    done = run("apfl", two_clients, BOTH * 2, overrides={"weight": 0.5, "weight_rate": 0.25})
    # Round 0: v = w = 0, so the weight's gradient is 0; v moves by half of FedAvg's step: 0.05 and -0.15.
    # Round 1, w = -0.1. x: at 0.5 * 0.05 - 0.05 = -0.025, gradient -1.025: v = 0.05 + 0.1 * 0.5 * 1.025 = 0.10125;
    # its weight by -0.25 * (-1.025 * (0.05 + 0.1)) of each of 8 numbers: 0.5 + 0.3075.
    assert numbers(done.personal["x"]["adapter"])["A"] == 0.10125
    assert carried_weight(done.personal["x"]) == pytest.approx(0.8075, abs=1e-6)
    assert numbers(done.clients["x"])["A"] == round(0.8075 * 0.10125 - 0.1925 * 0.1, 7)
    # y: at 0.5 * -0.15 - 0.05 = -0.125, gradient 2.875: v = -0.15 - 0.14375; weight by -0.25 * 8 * 2.875 * -0.05.
    assert numbers(done.personal["y"]["adapter"])["A"] == -0.29375
    assert carried_weight(done.personal["y"]) == pytest.approx(0.5 + 0.2875, abs=1e-6)
    assert {name: numbers(part)["A"] for name, part in done.uploads[1].items()} == {"x": 0.11, "y": -0.29}


def test_fedalt_sends_its_adapter_and_trains_beside_the_mean_of_the_others(two_clients) -> None:
    done = run("fedalt", two_clients, BOTH * 2)
    # Round 0: there are no others, and a = 1/2 of each adapter: v moves by half of FedAvg's step, 0.05 and -0.15.
    assert {name: numbers(part)["A"] for name, part in done.uploads[0].items()} == {"x": 0.05, "y": -0.15}
    # Round 1, x beside -0.15: at (0.05 - 0.15) / 2 = -0.05, gradient -1.05: v = 0.05 + 0.1 * 0.5 * 1.05 = 0.1025; its
    # gate by -0.1 * a (1 - a) = -0.025 times 8 numbers of -1.05 * (0.05 + 0.15): 0.042.
    # y beside 0.05: at -0.05, gradient 2.95: v = -0.15 - 0.1475; its gate by -0.025 * 8 * 2.95 * -0.2 = 0.118.
    assert {name: numbers(part)["A"] for name, part in done.uploads[1].items()} == {"x": 0.1025, "y": -0.2975}
    assert [float(done.left[name]["gate"]["u"][0]) for name in "xy"] == pytest.approx([0.042, 0.118], abs=1e-6)
    assert [numbers(state)["A"] for state in done.server[1:]] == [-0.05, -0.0975]
    # x generates beside y's last adapter: sigmoid(0.042) = 0.5104985; 0.5104985 * 0.4 - 0.2975.
    assert numbers(done.clients["x"])["A"] == -0.0933006


def test_fedalt_keeps_who_is_not_sampled_among_the_others(two_clients) -> None:
    done = run("fedalt", two_clients, [["x"], ["y"], ["x"]], "xyz")
    # y begins at A_0 = 0 beside x's 0.05: at 0.025, gradient 3.025: -0.15125. x then trains beside y's.
    assert numbers(done.uploads[1]["y"])["A"] == -0.15125
    assert numbers(done.server[2])["A"] == pytest.approx((0.05 - 0.15125) / 2, abs=2e-7)
    # x at (0.05 - 0.15125) / 2 = -0.050625: 0.05 + 0.05 * 1.050625.
    assert numbers(done.uploads[2]["x"])["A"] == pytest.approx(0.10253125, abs=2e-7)
    assert numbers(done.clients["z"]) == numbers(done.server[3])


# Ten rounds against loops in plain NumPy


def trained(solver, client, w, mask=1.0, steps=STEPS) -> np.ndarray:
    w = w.copy()
    for _ in range(steps):
        w -= RATE * mask * solver.curvature[client] * (w - flat(solver.centres[client]))
    return w


@pytest.mark.parametrize("method", ["ffa_lora", "fedavg_finetuned", "fedavgm", "fedadam", "fedyogi"])
def test_servers_that_step_by_the_mean(method, problem) -> None:
    solver, start = problem
    done = simulate(plan_of(method, {"momentum": 0.8} if method == "fedavgm" else {}), ROUNDS, NAMES, start, solver)
    w, m, v = flat(start), 0.0, 1e-6
    mask = np.repeat([0.0, 1.0], [6, 8]) if method == "ffa_lora" else 1.0
    for cohort in ROUNDS:
        mean = np.mean([trained(solver, i, w, mask) - w for i in cohort], axis=0)
        if method in ("ffa_lora", "fedavg_finetuned"):
            w = w + mean
            continue
        if method == "fedavgm":
            m = 0.8 * m + mean
            w = w + m
            continue
        m = 0.9 * m + 0.1 * mean
        squared = mean * mean
        v = 0.99 * v + 0.01 * squared if method == "fedadam" else v - 0.01 * squared * np.sign(v - squared)
        w = w + 0.01 * m / (np.sqrt(v) + 0.001)
    close(done.server[-1], w)
    for name in NAMES:
        close(done.clients[name], trained(solver, name, w, steps=2 * STEPS) if method == "fedavg_finetuned" else w)


def test_fedsa_lora(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("fedsa_lora"), ROUNDS, NAMES, start, solver)
    a, b = flat(start)[:6], {i: np.zeros(8) for i in NAMES}
    for cohort in ROUNDS:
        ends = {i: trained(solver, i, np.concatenate([a, b[i]])) for i in cohort}
        a = np.mean([end[:6] for end in ends.values()], axis=0)
        b |= {i: end[6:] for i, end in ends.items()}
    for name in NAMES:
        close(done.clients[name], np.concatenate([a, b[name]]))


def test_flexlora(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("flexlora"), ROUNDS, NAMES, start, solver)
    w = flat(start)
    for cohort in ROUNDS:
        ends = [trained(solver, i, w) for i in cohort]
        # The dense product that the server never makes.
        u, s, v = np.linalg.svd(np.mean([end[6:].reshape(4, 2) @ end[:6].reshape(2, 3) for end in ends], axis=0))
        b = u[:, :2] * s[:2]
        signs = np.sign(b[np.abs(b).argmax(axis=0), [0, 1]])
        w = np.concatenate([np.ravel(v[:2] * signs[:, None]), np.ravel(b * signs)])
    close(done.server[-1], w)


def test_fedrod_lora(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("fedrod_lora"), ROUNDS, NAMES, start, solver)
    w, d, sums = flat(start), {}, {}
    for cohort in ROUNDS:
        for i in cohort:
            own = d.get(i, flat(start)).copy()
            for _ in range(STEPS):
                own -= RATE * solver.curvature[i] * (own + w - flat(solver.centres[i]))
            d[i], sums[i] = own, own + w
        w = np.mean([trained(solver, i, w) for i in cohort], axis=0)
    for name, expected in sums.items():
        close(done.clients[name], expected)


def test_apfl(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("apfl", {"weight": 0.4, "weight_rate": 0.02}), ROUNDS, NAMES, start, solver)
    w, v, weight, mixed = flat(start), {}, dict.fromkeys(NAMES, 0.4), {}
    for cohort in ROUNDS:
        for i in cohort:
            own, a = v.get(i, w).copy(), weight[i]
            for _ in range(STEPS):
                gradient = solver.curvature[i] * (a * own + (1 - a) * w - flat(solver.centres[i]))
                own, a = own - RATE * a * gradient, np.clip(a - 0.02 * gradient @ (own - w), 0, 1)
            v[i], weight[i], mixed[i] = own, a, a * own + (1 - a) * w
        w = np.mean([trained(solver, i, w) for i in cohort], axis=0)
    assert len({round(value, 3) for value in weight.values()}) > 4
    for name, expected in mixed.items():
        close(done.clients[name], expected)
        assert carried_weight(done.personal[name]) == pytest.approx(weight[name], abs=1e-5)


def test_fedalt(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("fedalt"), ROUNDS, NAMES, start, solver)
    v, u = {}, dict.fromkeys(NAMES, 0.0)

    def others(i) -> np.ndarray:
        rest = [v[j] for j in v if j != i]
        return np.mean(rest, axis=0) if rest else np.zeros(14)

    for cohort, server in zip(ROUNDS, done.server[1:], strict=True):
        new = {}
        for i in cohort:
            own, beside = v.get(i, flat(start)).copy(), others(i)
            for _ in range(STEPS):
                a = 1 / (1 + np.exp(-u[i]))
                gradient = solver.curvature[i] * (a * own + (1 - a) * beside - flat(solver.centres[i]))
                u[i] -= RATE * a * (1 - a) * gradient @ (own - beside)
                own = own - RATE * a * gradient
            new[i] = own
        v |= new
        close(server, np.mean(list(v.values()), axis=0))
    for name in NAMES:
        a = 1 / (1 + np.exp(-u[name]))
        close(done.clients[name], a * v[name] + (1 - a) * others(name))
    assert max(u.values()) > 0.1


# Reductions and resumption


def same(left, right) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[key], right[key]) for key in left)


@pytest.mark.parametrize("method", ALL)
def test_a_resumed_run_equals_the_uninterrupted_one(method, problem) -> None:
    solver, start = problem
    plan = plan_of(method)
    whole = simulate(plan, ROUNDS, NAMES, start, solver)
    half = simulate(plan, ROUNDS[:4], NAMES, start, solver)
    rest = simulate(plan, ROUNDS[4:], NAMES, start, solver, resumed=half)
    assert same(whole.server[-1], rest.server[-1])
    assert all(same(whole.clients[name], rest.clients[name]) for name in NAMES)
    assert bool(plan.shared.server.moments) == bool(half.memory)


@pytest.mark.parametrize("method", [*ALL, *PERSONAL, "fedavg", "global_asce", "local_only", "pooled"])
def test_nothing_shares_storage(method, two_clients) -> None:
    zero, plan = square(0), plan_of(method)
    done = simulate(plan, BOTH, ["x", "y"], zero, two_clients)
    states = [zero, *done.server[1:], *(part for uploads in done.uploads for part in uploads.values())]
    # A client of FedALT uploads what it keeps.
    states += [parts["endpoint"] for parts in done.left.values() if "endpoint" in parts and method != "fedalt"]
    states += list(done.clients.values()) if plan.inference == "personal" and method not in ("fedalt", "pooled") else []
    for index, state in enumerate(states):
        for other in states[index + 1 :]:
            assert not any(np.shares_memory(state[key], other[key]) for key in state.keys() & other.keys())
    assert not any(zero[key].any() for key in zero)


def test_matched_budgets() -> None:
    matched = {"budget": "matched", "matched_epochs": 4}
    for method in ("fedsa_lora", "fedalt"):
        shared = plan_of(method, **matched).shared
        assert (shared.epochs, shared.spread) == (4, True)
    fine = plan_of("fedavg_finetuned", **matched)
    assert (fine.shared.epochs, fine.personal.epochs) == (1, 3)
    for method in ("fedrod_lora", "apfl"):
        personal = plan_of(method, **matched).personal
        assert (personal.epochs, personal.spread) == (4, True)
    # What is everybody's has no passes of a client's own to match.
    for method in ("ffa_lora", "flexlora", "fedavgm", "fedadam", "fedyogi"):
        assert plan_of(method, **matched).shared == plan_of(method).shared
        assert plan_of(method, **matched).personal is None


def test_layers_can_be_shared_or_personal() -> None:
    lower = Factors(last=2)
    names = [f"model.layers.{n}.q_proj.lora_{f}.weight" for n in range(4) for f in "AB"]
    assert lower.of(names) == names[:4]
    assert Factors("B", first=3).of(names) == names[7:]
    assert Factors().of(["head"]) == ["head"]
    with pytest.raises(ValueError, match="0 <= first < last"):
        Factors(first=2, last=2)
