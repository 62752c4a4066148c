"""Training beside a frozen companion: the sum of both, a weight that is learned, a gate that looks at every token."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.conftest import optimisation, plain_continuation, plain_losses

from favor.config.models import PROJECTIONS
from favor.inference.generation import GenerationRequest, generate
from favor.lm.lora import PEFT_PREFIX, concatenate_rank, factor_name, gate_name, target_layers
from favor.lm.mixture import gate_layout
from favor.lm.settings import Lora
from favor.lm.stack import Component, LoraStack
from favor.lm.tasks import ClientTask, make_plan
from favor.lm.training import train

SETTINGS = optimisation()


def test_a_companion_without_gates_is_added(base, lora, random_state, random_pieces) -> None:
    # B of both adapters times two under even gates is their sum, exactly.
    pieces = random_pieces(0, 5)
    own, other = random_state(1, lora), random_state(2, lora)
    summed = train(base, lora, [ClientTask("client_0", pieces, own, 1, 3, companion=other)], SETTINGS)[0]
    joined = ClientTask("client_0", pieces, concatenate_rank(double(other), double(own), 0.5), 1, 3)
    wide = train(base, Lora(rank=6, alpha=12, dropout=0.0, target_modules=PROJECTIONS), [joined], SETTINGS)[0]
    assert summed.log[0]["task_loss"] == pytest.approx(wide.log[0]["task_loss"], rel=1e-5)
    assert summed.weight is None
    for name, tensor in summed.state.items():
        assert not torch.equal(tensor, own[name])


@pytest.fixture
def tasks(lora, random_state, random_pieces) -> list[ClientTask]:
    """Three clients, each with a companion."""
    return [
        ClientTask(f"client_{k}", random_pieces(k, 9), random_state(k, lora), 2, k, companion=random_state(k + 9, lora))
        for k in range(3)
    ]


def double(state) -> dict[str, torch.Tensor]:
    return {name: 2 * tensor if ".lora_B." in name else tensor for name, tensor in state.items()}


def test_a_learned_weight_follows_its_gradient(base, lora, random_state, random_pieces) -> None:
    pieces, rate = random_pieces(0, 6), 1e-3
    own, other = random_state(1, lora), random_state(2, lora)
    task = ClientTask("client_0", pieces, own, 1, 3, companion=other, weight=0.3, weight_rate=rate)

    def first(weight, moving=rate) -> Any:
        return train(base, lora, [replace(task, weight=weight, weight_rate=moving)], SETTINGS)[0]

    # Central difference of the one step's loss, whose pieces are all.
    result = first(0.3)
    assert len(result.log) == 1
    slope = (first(0.301).log[0]["task_loss"] - first(0.299).log[0]["task_loss"]) / 0.002
    assert abs(slope) > 0.01
    assert (0.3 - result.weight) / rate == pytest.approx(slope, rel=0.02)
    # The loss is that of the gated pair, and a weight that does not move trains like it.
    gated = replace(task, weight=None, weight_rate=0.0, gates=np.full(len(pieces), 0.7))
    held, pair = first(0.3, 0.0), train(base, lora, [gated], SETTINGS)[0]
    assert held.weight == 0.3
    assert held.log[0]["task_loss"] == pytest.approx(pair.log[0]["task_loss"], rel=1e-5)
    assert held.log[0]["gradient_norm"] == pytest.approx(pair.log[0]["gradient_norm"], rel=1e-4)
    torch.testing.assert_close(held.state, pair.state, rtol=1e-4, atol=2e-5)


def test_learned_weights_stay_within_their_range_and_apart(base, lora, tasks) -> None:
    learned = [(0.5, 1e3), (0.5, 1e-3), (0.0, 1e-3)]
    tasks = [replace(task, weight=at, weight_rate=rate) for task, (at, rate) in zip(tasks, learned, strict=True)]
    stacked = train(base, lora, tasks, SETTINGS)
    assert stacked[0].weight in (0.0, 1.0)
    assert stacked[1].weight not in (0.0, 0.5, 1.0)
    alone = train(base, lora, tasks, SETTINGS, clients_per_stack=1)
    for left, right in zip(stacked[1:], alone[1:], strict=True):
        assert left.weight == pytest.approx(right.weight, abs=1e-6)
        torch.testing.assert_close(left.state, right.state, rtol=1e-4, atol=2e-5)
    with pytest.raises(ValueError, match="need a companion"):
        train(base, lora, [replace(tasks[0], companion=None)], SETTINGS)


# A gate per token


def random_gate(base, lora, seed) -> dict[str, torch.Tensor]:
    draw, layers = torch.Generator().manual_seed(seed), target_layers(base.model, lora)
    return {gate_name(path): 0.5 * torch.randn(layer.in_features, generator=draw) for path, layer in layers.items()}


def test_a_gate_per_token_by_hand() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.eye(2))
    stack = LoraStack(model, Lora(rank=1, alpha=1, dropout=0.0, target_modules=("0",)))
    layout = gate_layout(stack.layers)
    assert (layout.size, list(layout.slots)) == (2, [f"{PEFT_PREFIX}0.gate"])
    # Client 0 adds (1, 0) x_1, its companion (0, 1) x_1; client 1 adds (2, 0) x_2, its companion (0, 2) x_2.
    own = [(torch.tensor([[[1.0, 0]], [[0, 1.0]]]), torch.tensor([[[1.0], [0]], [[2.0], [0]]]))]
    other = [(torch.tensor([[[1.0, 0]], [[0, 1.0]]]), torch.tensor([[[0], [1.0]], [[0], [2.0]]]))]
    u = layout.leaves(torch.tensor([[np.log(3.0), 0.0], [0.0, -np.log(3.0)]], dtype=torch.float32), trainable=True)
    with stack.attached():
        stack.set([Component(own, gates=u), Component(other, gates=[-vector for vector in u])])
        out = model(torch.tensor([[[1.0, 2.0]], [[2.0, 1.0]]], requires_grad=True))
    # Client 0: a = sigmoid(ln 3) = 3/4: (1 + 3/4, 2 + 1/4). Client 1: a = sigmoid(-ln 3) = 1/4: (2 + 1/2, 1 + 3/2).
    torch.testing.assert_close(out, torch.tensor([[[1.75, 2.25]], [[2.5, 2.5]]]))
    out[..., 0].sum().backward()
    # d out_1 / du = a (1 - a) * (own output) * x = 3/16 * 1 * (1, 2) and 3/16 * 2 * (2, 1).
    torch.testing.assert_close(u[0].grad, torch.tensor([[0.1875, 0.375], [0.75, 0.375]]))
    gradients = torch.zeros(2, 2)
    layout.collect(u, gradients, [0, 1])
    torch.testing.assert_close(gradients, torch.tensor([[0.1875, 0.375], [0.75, 0.375]]))
    assert u[0].grad is None
    with pytest.raises(ValueError, match="not those of the model's target modules"):
        layout.flatten({"elsewhere": torch.zeros(2)}, torch.device("cpu"))


def plain_mixture(model_folder, lora, own, other, gate) -> tuple[torch.nn.Module, Any]:
    """The model with the formula written out: W x + s (a(x) B A x + (1 - a(x)) B' A' x). Returns it and its leaves."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(model_folder).eval().requires_grad_(False)
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in {**own, **gate}.items()}
    for path, layer in target_layers(model, lora).items():
        names = (factor_name(path, "A"), factor_name(path, "B"), gate_name(path))

        def forward(x, layer=layer, names=names) -> torch.Tensor:
            first, second, vector = names
            a = torch.sigmoid(x @ leaves[vector]).unsqueeze(-1)
            mine, theirs = (x @ state[first].T @ state[second].T for state in (leaves, other))
            plain = torch.nn.functional.linear(x, layer.weight, layer.bias)
            return plain + lora.scaling * (a * mine + (1 - a) * theirs)

        layer.forward = forward
    return model, leaves


def test_a_gate_per_token_trains_as_plain_autograd_and_torchs_adamw(
    base, lora, random_state, random_pieces, model_folder
) -> None:
    own, other, gate = random_state(1, lora), random_state(2, lora), random_gate(base, lora, 3)
    settings = SETTINGS.model_copy(update={"clip_norm": 0.5})
    task = ClientTask("client_0", random_pieces(0, 9), own, 2, 3, companion=other, gate=gate)
    ours = train(base, lora, [task], settings)[0]
    model, leaves = plain_mixture(model_folder, lora, own, other, gate)
    optimiser = torch.optim.AdamW(leaves.values(), lr=1.0, weight_decay=0.0)
    plan = make_plan(task, settings)
    assert len(plan.steps) == len(ours.log) == 4
    for step, row in zip(plan.steps, ours.log, strict=True):
        pieces = [task.pieces[index] for group in step for index in group.indices]
        loss = torch.cat([plain_losses(model, piece) for piece in pieces]).mean()
        optimiser.zero_grad()
        loss.backward()
        assert row["task_loss"] == pytest.approx(loss.item(), rel=1e-5)
        norm = torch.nn.utils.clip_grad_norm_(leaves.values(), settings.clip_norm)
        assert row["gradient_norm"] == pytest.approx(float(norm), rel=1e-4)
        optimiser.param_groups[0]["lr"] = row["learning_rate"]
        optimiser.step()
    for name, tensor in {**ours.state, **ours.gate}.items():
        torch.testing.assert_close(tensor, leaves[name].detach(), rtol=1e-3, atol=2e-5)
        assert not torch.equal(tensor, {**own, **gate}[name])


@pytest.mark.parametrize("checkpointing", ["off", "on"])
def test_stacked_gates_per_token_are_those_of_one_client_at_a_time(checkpointing, base, lora, tasks) -> None:
    dropped = lora.model_copy(update={"dropout": 0.2})
    tasks = [replace(task, gate=random_gate(base, lora, k) if k else {}) for k, task in enumerate(tasks)]
    settings = SETTINGS.model_copy(update={"gradient_checkpointing": checkpointing})
    stacked = train(base, dropped, tasks, settings)
    alone = train(base, dropped, tasks, SETTINGS, clients_per_stack=1)
    for left, right in zip(stacked, alone, strict=True):
        torch.testing.assert_close(left.state | left.gate, right.state | right.gate, rtol=1e-3, atol=5e-5)
    assert not any(module.training for module in base.model.modules())


def test_clients_with_and_without_a_gate_generate_in_one_batch(base, lora, random_state, model_folder) -> None:
    own, other, gate = random_state(1, lora), random_state(2, lora), random_gate(base, lora, 3)
    prompts = [[7, 9, 30, 12], [40, 41, 42, 5]]
    asked = [
        GenerationRequest("gated", prompts[0], own, other, token_gate=gate),
        GenerationRequest("plain", prompts[1], other),
    ]
    together = generate(base, lora, asked, 12)
    assert together[1] == generate(base, lora, asked[1:], 12)[0]
    model, _ = plain_mixture(model_folder, lora, own, other, gate)
    assert plain_continuation(model, prompts[0]) == together[0]
