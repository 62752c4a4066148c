"""Training beside a frozen companion without a gate: the sum of both, and a weight that is learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from favor.lm.settings import LoraSettings, TrainingSettings
from favor.lm.states import concatenate_rank
from favor.lm.tasks import ClientTask
from favor.lm.training import train

SETTINGS = TrainingSettings(learning_rate=5e-3, micro_batch=2, accumulation=3, max_length=32)


def test_a_companion_without_gates_is_added(base, lora, random_state, random_pieces):
    # B of both adapters times two under even gates is their sum, exactly.
    pieces = random_pieces(0, 5)
    own, other = random_state(1, lora), random_state(2, lora)
    summed = train(base, lora, [ClientTask("client_0", pieces, own, 1, 3, companion=other)], SETTINGS)[0]
    joined = ClientTask("client_0", pieces, concatenate_rank(double(other), double(own), 0.5), 1, 3)
    wide = train(base, LoraSettings(rank=6, alpha=12, dropout=0.0), [joined], SETTINGS)[0]
    assert summed.log[0]["task_loss"] == pytest.approx(wide.log[0]["task_loss"], rel=1e-5)
    assert summed.weight is None
    for name, tensor in summed.state.items():
        assert not torch.equal(tensor, own[name])


def double(state):
    return {name: 2 * tensor if ".lora_B." in name else tensor for name, tensor in state.items()}


def test_a_learned_weight_follows_its_gradient(base, lora, random_state, random_pieces):
    pieces, rate = random_pieces(0, 6), 1e-3
    own, other = random_state(1, lora), random_state(2, lora)
    task = ClientTask("client_0", pieces, own, 1, 3, companion=other, weight=0.3, weight_rate=rate)
    one = replace(SETTINGS, micro_batch=2, accumulation=3)

    def first(weight, moving=rate):
        return train(base, lora, [replace(task, weight=weight, weight_rate=moving)], one)[0]

    # Central difference of the one step's loss, whose pieces are all.
    result = first(0.3)
    assert len(result.log) == 1
    slope = (first(0.301).log[0]["task_loss"] - first(0.299).log[0]["task_loss"]) / 0.002
    assert abs(slope) > 0.01
    assert (0.3 - result.weight) / rate == pytest.approx(slope, rel=0.02)
    # The loss is that of the gated pair, and a weight that does not move trains like it.
    gated = replace(task, weight=None, weight_rate=0.0, gates=np.full(len(pieces), 0.7))
    held, pair = first(0.3, 0.0), train(base, lora, [gated], one)[0]
    assert held.weight == 0.3
    assert held.log[0]["task_loss"] == pytest.approx(pair.log[0]["task_loss"], rel=1e-5)
    assert held.log[0]["gradient_norm"] == pytest.approx(pair.log[0]["gradient_norm"], rel=1e-4)
    for name in held.state:
        torch.testing.assert_close(held.state[name], pair.state[name], rtol=1e-4, atol=2e-5)


def test_learned_weights_stay_within_their_range_and_apart(base, lora, random_state, random_pieces):
    tasks = [
        ClientTask(
            f"client_{k}",
            random_pieces(k, 9),
            random_state(k, lora),
            2,
            k,
            companion=random_state(9, lora),
            weight=start,
            weight_rate=rate,
        )
        for k, (start, rate) in enumerate([(0.5, 1e3), (0.5, 1e-3), (0.0, 1e-3)])
    ]
    stacked = train(base, lora, tasks, SETTINGS)
    assert stacked[0].weight in (0.0, 1.0)
    assert stacked[1].weight not in (0.0, 0.5, 1.0)
    alone = train(base, lora, tasks, SETTINGS, clients_per_stack=1)
    for left, right in zip(stacked[1:], alone[1:], strict=True):
        assert left.weight == pytest.approx(right.weight, abs=1e-6)
        for name in left.state:
            torch.testing.assert_close(left.state[name], right.state[name], rtol=1e-4, atol=2e-5)
    with pytest.raises(ValueError, match="need a companion"):
        train(base, lora, [replace(tasks[0], companion=None)], SETTINGS)
