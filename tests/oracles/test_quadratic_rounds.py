"""FedProx, Ditto and pFedMe over ten rounds on a quadratic, against the papers' loops written out in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracles.conftest import Quadratic, plan_of
from tests.oracles.simulation import simulate

from favor.federation.schedule import cohorts

NAMES = [f"client_{n:03d}" for n in range(1, 8)]
ROUNDS = cohorts(5, NAMES, rounds=10, clients_per_round=3)
RATE, STEPS = 0.05, 4


@pytest.fixture
def problem() -> tuple[Quadratic, dict[str, np.ndarray]]:
    """Seven clients with their own centres and curvatures, on a vector of nine numbers in two tensors."""
    generator = np.random.default_rng(11)
    centres = {n: {"A": generator.normal(size=(2, 3)), "B": generator.normal(size=(3, 1))} for n in NAMES}
    curvature = {n: float(generator.uniform(0.5, 2.0)) for n in NAMES}
    start = {"A": generator.normal(size=(2, 3)), "B": np.zeros((3, 1))}
    return Quadratic(centres, curvature, RATE, STEPS), start


def flat(state) -> np.ndarray:
    return np.concatenate([np.ravel(state["A"]), np.ravel(state["B"])])


def close(server, vectors) -> None:
    # The server keeps its adapter in float32: ten roundings of it, against float64 throughout.
    np.testing.assert_allclose(flat(server), vectors, rtol=0, atol=2e-6)


def pieces(solver) -> tuple[dict[str, np.ndarray], Any]:
    return {n: flat(c) for n, c in solver.centres.items()}, solver.curvature


def test_fedprox(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("fedprox", {"lambda_prox": 0.3}), ROUNDS, NAMES, start, solver)
    centre, h = pieces(solver)
    w = flat(start)
    for cohort in ROUNDS:
        ends = []
        for i in cohort:
            w_i = w.copy()
            for _ in range(STEPS):
                w_i -= RATE * (h[i] * (w_i - centre[i]) + 2 * 0.3 * (w_i - w))
            ends.append(w_i)
        w = np.mean(ends, axis=0)
    close(done.server[-1], w)


def test_ditto(problem) -> None:
    solver, start = problem
    done = simulate(plan_of("ditto", {"lambda_ditto": 0.4}), ROUNDS, NAMES, start, solver)
    centre, h = pieces(solver)
    w, v = flat(start), {}
    for cohort in ROUNDS:
        ends = []
        for i in cohort:
            u = w.copy()
            for _ in range(STEPS):
                u -= RATE * h[i] * (u - centre[i])
            own = v.get(i, w).copy()
            for _ in range(STEPS):
                own -= RATE * (h[i] * (own - centre[i]) + 2 * 0.4 * (own - w))
            v[i] = own
            ends.append(u)
        w = np.mean(ends, axis=0)
    close(done.server[-1], w)
    assert set(v) == set(NAMES)
    for name, own in v.items():
        close(done.clients[name], own)


@pytest.mark.parametrize("variant", ["one_epoch", "original"])
def test_pfedme(problem, variant) -> None:
    solver, start = problem
    chosen, eta, inner = 0.7, 0.2, 5
    overrides = {"variant": variant, "lambda_pfedme": chosen, "eta": eta, "inner_steps": inner}
    done = simulate(plan_of("pfedme", overrides), ROUNDS, NAMES, start, solver)
    centre, h = pieces(solver)
    w, theta = flat(start), {}
    for cohort in ROUNDS:
        ends = []
        for i in cohort:
            w_i, own = w.copy(), w.copy()
            # One epoch: a single inner solve of all steps. Original: STEPS outer steps of K inner ones.
            outer, steps = (1, STEPS) if variant == "one_epoch" else (STEPS, inner)
            for _ in range(outer):
                for _ in range(steps):
                    own -= RATE * (h[i] * (own - centre[i]) + 2 * chosen * (own - w_i))
                w_i -= eta * chosen * (w_i - own)
            theta[i] = own
            ends.append(w_i)
        w = np.mean(ends, axis=0)
    close(done.server[-1], w)
    for name, own in theta.items():
        close(done.clients[name], own)


def test_resuming_at_a_round_equals_the_uninterrupted_run(problem) -> None:
    solver, start = problem
    plan = plan_of("fedprox")
    whole = simulate(plan, ROUNDS, NAMES, start, solver)
    half = simulate(plan, ROUNDS[:4], NAMES, start, solver)
    rest = simulate(plan, ROUNDS[4:], NAMES, half.server[-1], solver)
    assert all((whole.server[-1][key] == rest.server[-1][key]).all() for key in start)


def test_ditto_with_a_rate_for_each_adapter(problem) -> None:
    solver, start = problem
    rates = {"learning_rate": 0.2, "personal_learning_rate": 0.02}
    done = simulate(plan_of("ditto", {"lambda_ditto": 0.4, **rates}), ROUNDS, NAMES, start, solver)
    centre, h = pieces(solver)
    w, v = flat(start), {}
    for cohort in ROUNDS:
        ends = []
        for i in cohort:
            u, own = w.copy(), v.get(i, w).copy()
            for _ in range(STEPS):
                u -= 0.2 * h[i] * (u - centre[i])
                own -= 0.02 * (h[i] * (own - centre[i]) + 2 * 0.4 * (own - w))
            v[i] = own
            ends.append(u)
        w = np.mean(ends, axis=0)
    close(done.server[-1], w)
    for name, own in v.items():
        close(done.clients[name], own)


def test_favor_with_a_rate_for_each_stage(problem) -> None:
    solver, start = problem
    rates = {"learning_rate": 0.2, "personal_learning_rate": 0.02}
    given = {"method": "favor", "lambda_prox": 0.3, "lambda_align": 0.0, "private_epochs": 1, **rates}
    done = simulate(plan_of("favor", given), ROUNDS, NAMES, start, solver)
    centre, h = pieces(solver)
    w, generates = flat(start), {}
    for cohort in ROUNDS:
        ends = []
        for i in cohort:
            end = w.copy()
            for _ in range(STEPS):
                end -= 0.2 * (h[i] * (end - centre[i]) + 2 * 0.3 * (end - w))
            residual = np.zeros_like(end)
            for _ in range(STEPS):
                residual -= 0.02 * h[i] * (end + residual - centre[i])
            generates[i] = end + residual
            ends.append(end)
        w = np.mean(ends, axis=0)
    close(done.server[-1], w)
    for name, own in generates.items():
        close(done.clients[name], own)
