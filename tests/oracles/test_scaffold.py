"""SCAFFOLD-LoRA by hand, against Algorithm 1 of its paper in plain NumPy, and through the real training of a client.

The oracle moves c_i by option II as printed, c_i - c + (A - y_i) / (K eta); the product takes the mean of gradients.
"""

import numpy as np
import pytest
import torch
from tests.experiments import experiment
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.oracles.conftest import BOTH, NAMES, RATE, ROUNDS, STEPS, A, B, close, flat, plan_of, run
from tests.oracles.simulation import simulate

from favor.federation.client_archive import read_pack, write_pack
from favor.federation.exchange import parted
from favor.federation.inference import client_adapters
from favor.federation.row_plan import load_method
from favor.federation.state_rule import STATE
from favor.foundation.errors import UserError
from favor.foundation.tensors import write_safetensors
from favor.lm import cohort as cohort_module
from favor.lm.settings import Lora, Optimisation
from favor.lm.tasks import ClientTask
from favor.lm.training import train
from favor.voice.training import read_start


def number(state, prefix="") -> float:
    """The one number that all entries of both factors are."""
    (found,) = {round(float(value), 6) for name in (A, B) for value in np.ravel(state[prefix + name])}
    return found


def test_two_rounds_by_hand(two_clients) -> None:
    # Losses 1/2 (w - 1)^2 of x and 1/2 (w + 3)^2 of y, from 0, one step at rate 0.1; z is never drawn.
    done = run("scaffold", two_clients, BOTH * 2, "xyz")
    # Round 0, c = c_x = c_y = 0: gradients -1 and 3, as FedAvg. c_x = -1, c_y = 3, c = (-1 + 3) / 3.
    assert [number(done.uploads[0][name]) for name in "xy"] == [0.1, -0.3]
    assert [number(done.uploads[0][name], STATE) for name in "xy"] == [-1.0, 3.0]
    assert (number(done.server[1]), number(done.server[1], STATE)) == (-0.1, 0.666667)
    # Round 1 from -0.1: x has -1.1 + 1 + 2/3 = 0.566667, y 2.9 - 3 + 2/3: both go the way of all, as far.
    assert [number(done.uploads[1][name]) for name in "xy"] == [-0.056667, -0.056667]
    # c_x = -1.1, c_y = 2.9, each 0.1 less; c = 2/3 - 0.2 / 3.
    assert [number(done.uploads[1][name], STATE) for name in "xy"] == [-0.1, -0.1]
    assert (number(done.server[2]), number(done.server[2], STATE)) == (-0.156667, 0.6)
    assert [number(done.left[name]["state"]) for name in "xy"] == [-1.1, 2.9]
    assert done.left["x"].keys() == {"state"}
    # A client generates with the adapter alone.
    assert done.clients["z"].keys() == {A, B}


def test_ten_rounds_are_algorithm_1(problem) -> None:
    solver, start = problem
    plan = load_method("scaffold", {}, experiment(clients=7))[1]
    done = simulate(plan, ROUNDS, NAMES, start, solver, server_learning_rate=0.8)
    x, c, own = flat(start), np.zeros(14), {name: np.zeros(14) for name in NAMES}
    for drawn in ROUNDS:
        moves, changes = [], []
        for i in drawn:
            y = x.copy()
            for _ in range(STEPS):
                y = y - RATE * (solver.curvature[i] * (y - flat(solver.centres[i])) - own[i] + c)
            new = own[i] - c + (x - y) / (STEPS * RATE)
            moves.append(y - x)
            changes.append(new - own[i])
            own[i] = new
        x = x + 0.8 * np.mean(moves, axis=0)
        c = c + len(drawn) / len(NAMES) * np.mean(changes, axis=0)
    close(done.server[-1], x)
    close(done.server[-1], c, STATE)
    for name in NAMES:
        close(done.left[name]["state"], own[name])
    # c is the mean of all clients' variates, and a client that was not drawn kept its own.
    np.testing.assert_allclose(c, np.mean(list(own.values()), axis=0), atol=1e-9)
    assert {len(drawn) for drawn in ROUNDS} == {3}


def test_it_ends_where_all_losses_together_are_least_and_fedavg_does_not(problem) -> None:
    solver, start = problem
    everybody = [NAMES] * 150
    weights = np.array([solver.curvature[name] for name in NAMES])
    best = np.average([flat(solver.centres[name]) for name in NAMES], axis=0, weights=weights)
    plans = [load_method(name, {}, experiment(clients=7))[1] for name in ("scaffold", "fedavg")]
    ends = [flat(simulate(plan, everybody, NAMES, start, solver).server[-1]) for plan in plans]
    assert np.abs(ends[0] - best).max() < 1e-5 < 1e-3 < np.abs(ends[1] - best).max()


def test_its_first_round_is_fedavgs_and_nobodys_place_among_the_clients_matters(problem) -> None:
    solver, start = problem
    plan = plan_of("scaffold")
    first, plain = (simulate(each, ROUNDS[:1], NAMES, start, solver) for each in (plan, plan_of("fedavg")))
    assert all(first.server[1][name].tobytes() == plain.server[1][name].tobytes() for name in (A, B))
    whole, turned = (simulate(plan, [c[::by] for c in ROUNDS], NAMES, start, solver) for by in (1, -1))
    assert whole.server[-1].keys() == {A, B, STATE + A, STATE + B}
    assert all(whole.server[-1][name].tobytes() == turned.server[-1][name].tobytes() for name in whole.server[-1])


class Plain:
    """Plain gradient steps in the place of AdamW."""

    def __init__(self, *_) -> None:
        self.steps = 0

    def step(self, values, gradient, rate, trained=None) -> None:
        self.steps += 1
        values.sub_(gradient, alpha=rate)


@pytest.mark.parametrize("warmup_counts_from", [0, 1])
def test_under_plain_steps_of_any_rate_the_mean_gradient_is_option_2(
    warmup_counts_from, base, random_state, random_pieces, monkeypatch
) -> None:
    monkeypatch.setattr(cohort_module, "AdamW", Plain)
    lora = Lora(rank=2, alpha=4, dropout=0.1, target_modules=["q_proj", "v_proj"])
    options = {"supervised": "response", "warmup_counts_from": warmup_counts_from, "warmup_fraction": 0.3}
    settings = Optimisation(learning_rate=0.05, micro_batch=2, accumulation=2, max_length=32, clip_norm=0.5, **options)
    server, own = (random_state(seed, lora) for seed in (8, 9))
    correction = {name: 0.1 * (server[name] - own[name]) for name in server}
    start = random_state(1, lora)
    task = ClientTask("x", random_pieces(0, 13), start, 2, 3, correction=correction)
    (result,) = train(base, lora, [task], settings)
    rates = sum(row["learning_rate"] for row in result.log)
    assert len(result.log) == 8
    for name in start:
        # c_i' = c_i - c + (A - y_i) / sum of rates, which is K eta where the rate is constant.
        option_2 = -correction[name] + (start[name] - result.state[name]) / rates
        torch.testing.assert_close(result.gradient[name], option_2, rtol=1e-3, atol=1e-5)
        assert float(option_2.abs().max()) > 1e-3


def test_a_state_crosses_and_is_kept_under_the_names_of_packs(problem, tmp_path) -> None:
    solver, start = problem
    done = simulate(plan_of("scaffold"), ROUNDS[:1], NAMES, start, solver)
    client = ROUNDS[0][0]
    write_pack(tmp_path / "upload", {client: {"delta and change of state": done.uploads[0][client]}}, {})
    sent = read_pack(tmp_path / "upload")[0][client]["delta and change of state"]
    delta, change = parted(sent)
    assert sorted(delta) == sorted(change) == [A, B]
    assert all(np.array_equal(change[name], done.left[client]["state"][name]) for name in change)
    # Everybody generates with the server's adapter, and with nothing of its state.
    write_safetensors(done.server[1], tmp_path / "adapter.safetensors", {})
    found = client_adapters([str(tmp_path / "adapter.safetensors")], [client], plan_of("scaffold").generates)[client]
    assert found.state.keys() == {A, B}
    assert all(np.array_equal(found.state[name], done.server[1][name]) for name in (A, B))
    with pytest.raises(UserError, match="its method's adapter does not work alone"):
        read_start(tmp_path)
