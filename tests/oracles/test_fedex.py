"""FedEx-LoRA against dense arithmetic, through all rounds; its residual in training, generation and export.

The oracle keeps every layer's whole matrix W, as the paper's algorithm does: W <- W + sum_i w_i B_i A_i - B A.
"""

import numpy as np
import pytest
import torch
from tests.experiments import experiment
from tests.federation.test_exported_mixtures import LORA, PROMPT
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.lm.conftest import merged, optimisation, plain_continuation, plain_losses, with_peft

from favor.federation.fedex_residual import joined, split
from favor.federation.inference import client_adapters, exported, generating, requests
from favor.federation.row_plan import load_method
from favor.federation.schedule import cohorts
from favor.federation.server import delta, update
from favor.federation.server_rule import ServerRule
from favor.foundation.errors import UserError
from favor.foundation.tensors import write_safetensors
from favor.inference.generation import generate
from favor.inference.likelihood import Question, log_likelihoods
from favor.lm.base import add_frozen, load_base
from favor.lm.lora import export_peft, from_arrays
from favor.lm.tasks import ClientTask
from favor.lm.training import train
from favor.voice.training import read_start

A, B = "m.lora_A.weight", "m.lora_B.weight"
NAMES = [f"client_{n:03d}" for n in range(1, 8)]
SETTINGS = optimisation()


def descent(w, a, b, target, steps=8, rate=0.2) -> tuple[np.ndarray, np.ndarray]:
    """Gradient steps on 1/2 ||W + B A - target||^2 in both factors."""
    for _ in range(steps):
        error = w + b @ a - target
        a, b = a - rate * b.T @ error, b - rate * error @ a.T
    return a, b


@pytest.mark.parametrize("outputs", [5, 60])  # below and above the rank that ten rounds add up to
@pytest.mark.parametrize("weighted", [False, True])
def test_ten_rounds_are_those_of_dense_matrices(outputs, weighted) -> None:
    generator = np.random.default_rng(7)
    rank, inputs = 2, outputs - 2
    targets = {name: generator.normal(size=(outputs, inputs)) / np.sqrt(outputs) for name in NAMES}
    weights = {name: float(n + 1) if weighted else 1.0 for n, name in enumerate(NAMES)}
    first = generator.normal(size=(rank, inputs)) / np.sqrt(inputs)
    shared = {A: first.astype(np.float32), B: np.zeros((outputs, rank), np.float32)}
    w, a, b = np.zeros((outputs, inputs)), shared[A].astype(np.float64), np.zeros((outputs, rank))
    for cohort in cohorts(5, NAMES, rounds=10, clients_per_round=3):
        own, frozen = split(shared)
        base = frozen[B].astype(np.float64) @ frozen[A] if frozen else np.zeros_like(w)
        ends = {i: dict(zip((A, B), descent(base, own[A], own[B], targets[i]), strict=True)) for i in cohort}
        uploads = {i: delta(end, own) for i, end in ends.items()}
        shared, memory = update(ServerRule("exact"), shared, {}, uploads, weights, 1.0)
        assert not memory
        # The paper's server, and FedAvg's, which leaves the residual out.
        dense = [descent(w, a, b, targets[i]) for i in cohort]
        shares = np.array([weights[i] for i in cohort]) / sum(weights[i] for i in cohort)
        mean = sum(share * (w + end_b @ end_a) for share, (end_a, end_b) in zip(shares, dense, strict=True))
        a, b = (sum(share * end[k] for share, end in zip(shares, dense, strict=True)) for k in (0, 1))
        w = mean - b @ a
        whole = joined(shared)
        np.testing.assert_allclose(whole[B] @ whole[A], mean, atol=2e-5)
        np.testing.assert_allclose(shared[A], a, atol=2e-5)
    rows = split(shared)[1][A].shape[0]
    assert rows == min(10 * (3 - 1) * rank, inputs)
    assert np.linalg.norm(w) > 0.1


@pytest.fixture
def shared(random_state) -> dict[str, np.ndarray]:
    """A shared adapter with residuals of two rounds, of ranks that the layers do not have in common."""
    state = {name: np.asarray(tensor) for name, tensor in random_state(1, LORA).items()}
    for number in range(2):
        ends = {f"client_{n}": random_state(10 * number + n + 2, LORA) for n in range(4)}
        uploads = {name: {key: np.asarray(end[key]) - state[key] for key in end} for name, end in ends.items()}
        state, _ = update(ServerRule("exact"), state, {}, uploads, dict.fromkeys(ends, 1.0), 1.0)
    assert {len(tensor) for name, tensor in state.items() if ".frozen_A." in name} == {16, 24}
    return state


def test_clients_train_beside_the_residual_as_on_weights_that_hold_it(
    shared, model_folder, random_pieces, tmp_path
) -> None:
    own, frozen = (from_arrays(part) for part in split(shared))
    other = merged(model_folder, LORA, (frozen, 1.0))
    other.save_pretrained(tmp_path)
    for path in model_folder.glob("*token*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    task = ClientTask("client_0", random_pieces(0, 9), own, 2, 3)
    lora = LORA.model_copy(update={"dropout": 0.1})
    beside, plain = load_base(str(model_folder)), load_base(str(model_folder))
    add_frozen(beside, frozen, lora)
    found = train(beside, lora, [task], SETTINGS)[0]
    expected = train(load_base(str(tmp_path)), lora, [task], SETTINGS)[0]
    without = train(plain, lora, [task], SETTINGS)[0]
    torch.testing.assert_close(found.state, expected.state, rtol=1e-4, atol=2e-5)
    assert found.log[0]["task_loss"] == pytest.approx(expected.log[0]["task_loss"], rel=1e-5)
    assert found.log[0]["task_loss"] != pytest.approx(without.log[0]["task_loss"], rel=1e-3)


def test_the_residual_is_generated_with_read_and_exported(shared, base, model_folder, random_pieces, tmp_path) -> None:
    own, frozen = (from_arrays(part) for part in split(shared))
    expected = merged(model_folder, LORA, (own, 1.0), (frozen, 1.0))
    write_safetensors(shared, tmp_path / "adapter.safetensors", {})
    how = load_method("fedex_lora", {}, experiment())[1].generates
    found = client_adapters([str(tmp_path / "adapter.safetensors")], ["client_001"], how)
    with pytest.raises(UserError, match="its method's adapter does not work alone"):
        read_start(tmp_path)  # a voice does not begin with half of it
    lora = generating(found, LORA)
    assert (lora.rank, lora.scaling) == (LORA.rank + 24, LORA.scaling)
    ours = generate(base, lora, requests([("p", "client_001", PROMPT)], found, {}), 12)[0]
    assert plain_continuation(expected, PROMPT) == ours
    (piece,) = random_pieces(0, 1)
    (read,) = log_likelihoods(base, lora, [Question(found["client_001"].state, piece)])
    np.testing.assert_allclose(read, -plain_losses(expected, piece).detach(), atol=2e-4)
    state, settings = exported(found["client_001"], LORA)
    export_peft(state, settings, str(model_folder), tmp_path)
    model = with_peft(model_folder, tmp_path)
    with torch.no_grad():
        asked = torch.tensor([PROMPT])
        torch.testing.assert_close(model(asked).logits, expected(asked).logits, rtol=1e-4, atol=1e-4)
