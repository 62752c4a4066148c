"""FedProx, Ditto, pFedMe and FAVoR over ten rounds on a quadratic, against the papers' loops in plain NumPy."""

import numpy as np
import pytest
from tests.oracles.conftest import NAMES, RATE, ROUNDS, STEPS, close, flat, plan_of
from tests.oracles.simulation import simulate


def descent(at, gradient, rate=RATE, steps=STEPS) -> np.ndarray:
    for _ in range(steps):
        at = at - rate * gradient(at)
    return at


def hold_to(local, problem, method, overrides) -> None:
    """Run a method, and the paper's loop: ``local`` of (w, a client's own vector, its gradient) -> (upload, own)."""
    solver, start = problem
    done = simulate(plan_of(method, overrides), ROUNDS, NAMES, start, solver)
    w, own = flat(start), {}
    for cohort in ROUNDS:
        ends = []
        for i in cohort:
            end, own[i] = local(w, own.get(i, w), lambda at, i=i: solver.curvature[i] * (at - flat(solver.centres[i])))
            ends.append(end)
        w = np.mean(ends, axis=0)
    close(done.server[-1], w)
    assert set(own) == set(NAMES)
    for name, vector in own.items():
        close(done.clients[name], w if vector is None else vector)


def test_fedprox(problem) -> None:
    def local(w, _, gradient) -> tuple[np.ndarray, None]:
        return descent(w, lambda at: gradient(at) + 2 * 0.3 * (at - w)), None

    hold_to(local, problem, "fedprox", {"lambda_prox": 0.3})


@pytest.mark.parametrize("rates", [(RATE, RATE), (0.2, 0.02)])
def test_ditto(problem, rates) -> None:
    def local(w, own, gradient) -> tuple[np.ndarray, np.ndarray]:
        return descent(w, gradient, rates[0]), descent(own, lambda at: gradient(at) + 2 * 0.4 * (at - w), rates[1])

    given = dict(zip(("learning_rate", "personal_learning_rate"), rates, strict=True)) if rates[0] != RATE else {}
    hold_to(local, problem, "ditto", {"lambda_ditto": 0.4, **given})


@pytest.mark.parametrize("variant", ["one_epoch", "original"])
def test_pfedme(problem, variant) -> None:
    chosen, eta, inner = 0.7, 0.2, 5
    # One epoch: a single inner solve of all steps. Original: STEPS outer steps of K inner ones.
    outer, steps = (1, STEPS) if variant == "one_epoch" else (STEPS, inner)

    def local(w, _, gradient) -> tuple[np.ndarray, np.ndarray]:
        theta = w
        for _ in range(outer):
            theta = descent(theta, lambda at, w=w: gradient(at) + 2 * chosen * (at - w), steps=steps)
            w = w - eta * chosen * (w - theta)
        return w, theta

    overrides = {"variant": variant, "lambda_pfedme": chosen, "eta": eta, "inner_steps": inner}
    hold_to(local, problem, "pfedme", overrides)


def test_favor_with_a_rate_for_each_stage(problem) -> None:
    def local(w, _, gradient) -> tuple[np.ndarray, np.ndarray]:
        end = descent(w, lambda at: gradient(at) + 2 * 0.3 * (at - w), 0.2)
        return end, end + descent(np.zeros_like(end), lambda residual: gradient(end + residual), 0.02)

    rates = {"learning_rate": 0.2, "personal_learning_rate": 0.02}
    hold_to(local, problem, "favor", {"lambda_prox": 0.3, "lambda_align": 0.0, "private_epochs": 1, **rates})
