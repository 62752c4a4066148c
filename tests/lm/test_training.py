"""Training: offsets kept exact, alignment by hand, what is logged, what is refused."""

import copy
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from tests.lm.conftest import alignment, optimisation, same_bits, squared_norm, style_target

from favor.foundation.errors import UserError
from favor.lm import passes
from favor.lm.alignment import head_dropout, head_layout, head_views, initial_head, pooling_scales, project
from favor.lm.tasks import ClientTask
from favor.lm.training import train
from favor.running.jobs.progress import Progress

SETTINGS = optimisation()
ALIGNMENT = alignment(dropout=0.1)


def test_endpoint_plus_residual_is_the_trained_adapter_bit_for_bit(base, lora, random_state, random_pieces) -> None:
    endpoint = random_state(4, lora)
    tasks = [
        ClientTask(f"client_{k}", random_pieces(k, 9 + k), endpoint, 2, k, offset=endpoint, target=style_target(k))
        for k in range(3)
    ]
    for result in train(base, lora, tasks, SETTINGS, ALIGNMENT):
        assert same_bits({name: endpoint[name] + moved for name, moved in result.residual.items()}, result.state)
        assert squared_norm(result.residual) > 0


@pytest.mark.parametrize("factor", ["A", "B"])
def test_a_factor_that_is_not_trained_keeps_every_bit(factor, base, lora, random_state, random_pieces) -> None:
    settings = SETTINGS.model_copy(update={"weight_decay": 0.1})
    start = random_state(4, lora)
    trained = frozenset(name for name in start if f"lora_{factor}." in name)
    tasks = [ClientTask(f"client_{k}", random_pieces(k, 7), start, 2, k, trained=trained) for k in range(2)]
    results = train(base, lora, tasks, settings)
    for task, result in zip(tasks, results, strict=True):
        for name, tensor in result.state.items():
            assert torch.equal(tensor, start[name]) == (name not in trained)
        # The norm that is clipped is that of the trained factor alone.
        both = train(base, lora, [replace(task, trained=None)], settings)[0]
        assert 0 < result.log[0]["gradient_norm"] < both.log[0]["gradient_norm"]
        (alone,) = train(base, lora, [task], settings, clients_per_stack=1)
        for name in trained:
            torch.testing.assert_close(alone.state[name], result.state[name], rtol=1e-4, atol=2e-5)
    with pytest.raises(ValueError, match="trained tensors"):
        train(base, lora, [replace(tasks[0], trained=frozenset({"no"}))], settings)


def test_start_is_left_alone_and_results_share_nothing(base, lora, random_state, random_pieces) -> None:
    start = random_state(4, lora)
    kept = copy.deepcopy(start)
    tasks = [ClientTask(f"client_{k}", random_pieces(k, 7), start, 1, k) for k in range(2)]
    results = train(base, lora, tasks, SETTINGS)
    assert same_bits(start, kept)
    assert not same_bits(results[0].state, results[1].state)
    pointers = [tensor.data_ptr() for result in results for tensor in result.state.values()]
    assert len(set(pointers)) == len(pointers)


def test_pooling_by_hand() -> None:
    # Rows with 1 and 3 labelled positions: one state of the minibatch, the sum over 4 positions.
    scales, valid = pooling_scales([1, 3], alignment())
    assert scales.tolist() == [0.25]
    assert valid.tolist() == [True]
    # An example at a time: 1/1 and 1/3; both count, for they have 2 positions on average.
    scales, valid = pooling_scales([1, 3], alignment(pooling="example", minimum_tokens=2))
    assert scales.tolist() == pytest.approx([1.0, 1 / 3])
    assert valid.tolist() == [True, True]
    assert pooling_scales([1, 3], alignment(pooling="example", minimum_tokens=3))[1].tolist() == [False, False]


def test_states_in_bfloat16_are_summed_in_float32() -> None:
    """800 states near 1, of 8 bits each: their sum in bfloat16 would stop growing at 256."""
    states = (1 + torch.rand(1, 800, 3)).to(torch.bfloat16)
    pooling = SimpleNamespace(tokens=torch.ones(1, 800), scales=[1])
    expected = states.double().sum(1, keepdim=True)
    torch.testing.assert_close(passes._pooled_sums(pooling, states[0]).double(), expected, rtol=1e-6, atol=0)


def test_projection_by_hand() -> None:
    # One input, hidden width 2, style size 2. First layer: (1, -1) * 2 + (0, 0) = (2, -2); GELU: 1.9545, -0.0455.
    # Second layer: identity plus (0, 1): (1.9545, 0.9545). LayerNorm of two numbers: (1, -1). Norm: (1, -1) / sqrt 2.
    layout = head_layout(1, alignment(hidden=2), 2)
    flat = torch.tensor([[1.0, -1.0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0]])
    assert flat.shape[1] == layout.size
    out = project(head_views(layout, flat), torch.tensor([[[2.0]]]), None)
    torch.testing.assert_close(out, torch.tensor([[[1.0, -1.0]]]) / math.sqrt(2), rtol=1e-4, atol=1e-4)
    # The dropout mask zeroes the second hidden unit: (1.9545, 1.0): the same sign pattern.
    out = project(head_views(layout, flat), torch.tensor([[[2.0]]]), torch.tensor([[[0.0, 1.0]]]))
    # (0, 0.9545): the other way round.
    torch.testing.assert_close(out, torch.tensor([[[-1.0, 1.0]]]) / math.sqrt(2), rtol=1e-4, atol=1e-4)


def test_head_is_fresh_per_stage_and_torch_default() -> None:
    layout = head_layout(9, alignment(), 4)
    first, second = initial_head(layout, 1), initial_head(layout, 2)
    assert torch.equal(first, initial_head(layout, 1))
    assert not torch.equal(first, second)
    # First weights within 1 / sqrt 9; last 8 numbers are LayerNorm's ones and zeros.
    assert 0.25 < first[: 9 * 16].abs().max() <= 1 / 3
    assert first[-8:].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    mask = head_dropout(1, 2, 3, alignment(hidden=1000, dropout=0.25))
    assert mask.unique().tolist() == pytest.approx([0.0, 4 / 3])


def test_log_of_an_aligned_stage(base, lora, random_state, random_pieces) -> None:
    task = ClientTask("client_0", random_pieces(0, 20), random_state(0, lora), 2, 3, target=style_target(0))
    progress = Progress("stage", 8)
    log = train(base, lora, [task], SETTINGS, ALIGNMENT.model_copy(update={"ramp_fraction": 0.3}), progress)[0].log
    # 20 pieces by 6 are 4 steps an epoch, 8 in all; ramp ceil(0.3 * 8) = 3; warm-up ceil(0.03 * 8) = 1.
    assert progress.done == 8
    assert [row["step"] for row in log] == list(range(8))
    assert [row["kappa"] for row in log] == pytest.approx([0, 1 / 3, 2 / 3, 1, 1, 1, 1, 1])
    factors = [1] + [(8 - step) / 7 for step in range(1, 8)]
    assert [row["learning_rate"] for row in log] == pytest.approx([5e-3 * factor for factor in factors])
    assert all(row["alignment_loss"] == pytest.approx(1 - row["cosine"], abs=1e-6) for row in log)
    # Alignment sends no gradient while kappa is 0, and a share of it afterwards.
    assert log[0]["alignment_gradient_share"] == 0
    assert all(0 < row["alignment_gradient_share"] < 1 for row in log[1:])
    supervised = sum(len(piece) - piece.response_start for piece in task.pieces)
    assert sum(row["supervised_tokens"] for row in log) == 2 * supervised
    unaligned = train(base, lora, [replace(task, target=None)], SETTINGS)[0].log
    assert all(math.isnan(row[name]) for row in unaligned for name in ("cosine", "kappa", "alignment_loss"))


def test_aligned_and_unaligned_clients_train_in_one_call(base, lora, random_state, random_pieces) -> None:
    plain = ClientTask("plain", random_pieces(0, 7), random_state(0, lora), 1, 3)
    aligned = replace(plain, name="aligned", target=style_target(1))
    together = train(base, lora, [aligned, plain], SETTINGS, ALIGNMENT)
    assert [result.name for result in together] == ["aligned", "plain"]
    alone = train(base, lora, [plain], SETTINGS)[0]
    assert same_bits(together[1].state, alone.state)


def test_refusals_name_the_client(base, lora, random_state, random_pieces) -> None:
    start = random_state(0, lora)
    task = ClientTask("client_042", random_pieces(0, 6), start, 1, 3)
    with pytest.raises(UserError, match="client_042: none of its 1 optimiser steps has a learning rate above zero"):
        train(base, lora, [task], SETTINGS.model_copy(update={"warmup_counts_from": 0}))
    for value, message in (
        (math.nan, "the loss is not finite at step 1 of 1; check the base"),
        (0.0, "no gradient reached its adapter"),  # A and B both zero: neither receives a gradient
    ):
        filled = {name: torch.full_like(tensor, value) for name, tensor in start.items()}
        with pytest.raises(UserError, match=f"client_042: {message}"):
            train(base, lora, [replace(task, start=filled)], SETTINGS)
    with pytest.raises(ValueError, match="names of one call must differ"):
        train(base, lora, [task, task], SETTINGS)
    with pytest.raises(ValueError, match="alignment settings"):
        train(base, lora, [replace(task, target=style_target(0))], SETTINGS)
