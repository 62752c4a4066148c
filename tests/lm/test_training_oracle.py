"""The stacked engine against an independent oracle: PEFT modules, torch's AdamW, plain losses, one client at a time."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.conftest import alignment as aligned_by
from tests.lm.conftest import optimisation, same_bits, squared_norm, style_target, under_peft
from torch import nn

from favor.config.models import PROJECTIONS
from favor.lm.alignment import head_dropout, head_layout, initial_head
from favor.lm.dropout import draw_mask
from favor.lm.settings import Lora
from favor.lm.tasks import ClientTask, plan_steps
from favor.lm.training import count_steps, train

SETTINGS = optimisation(warmup_fraction=0.2)
ALIGNMENT = aligned_by(ramp_fraction=0.4, dropout=0.0)
# float32 sums in another order, carried through Adam's division by a root: see the largest differences in the tests.
TOLERANCE = {"rtol": 1e-4, "atol": 2e-5}


class _KnownDropout(nn.Module):
    """Multiplies by masks given from outside, as LoRA-input dropout would."""

    def __init__(self, module, rate) -> None:
        super().__init__()
        self.module, self.rate = module, rate
        self.context = 0, 0, 0  # stage seed, micro-batch, tokens of the micro-batch before the piece

    def forward(self, x) -> torch.Tensor:
        stage_seed, counter, before = self.context
        drawn = draw_mask(stage_seed, counter, self.module, before + x.shape[1], x.shape[-1], self.rate)
        return x * drawn[before:] / (1 - self.rate)


def oracle(model_folder, lora, task, settings, alignment=None) -> tuple[dict[str, torch.Tensor], Any]:
    """Train one client with PEFT modules, autograd and torch.optim.AdamW; return (state, losses, cosines, norms)."""
    from peft import get_peft_model_state_dict

    model = under_peft(model_folder, lora, task.start)
    dropouts = []
    if lora.dropout:
        adapted = sorted(name for name, module in model.named_modules() if hasattr(module, "lora_dropout"))
        for index, name in enumerate(adapted):
            layer = model.get_submodule(name)
            layer.lora_dropout["default"] = _KnownDropout(index, lora.dropout)
            dropouts.append(layer.lora_dropout["default"])
    factors = {n.replace(".default", ""): p for n, p in model.named_parameters() if p.requires_grad}
    trained = list(factors.values())
    head = None
    if task.target is not None:
        head = _oracle_head(model.config.hidden_size, alignment, task)
        trained += list(head.parameters())
    optimiser = torch.optim.AdamW(
        trained, lr=settings.learning_rate, weight_decay=settings.weight_decay, foreach=False, fused=False
    )
    lengths = [len(piece) for piece in task.pieces]
    steps = plan_steps(
        lengths, task.epochs, settings.micro_batch, settings.accumulation, task.stage_seed, settings.group_by_length
    )
    steps = [step for step in steps for _ in range(max(1, task.inner_steps))]
    reference = task.anchor
    counter, losses, cosines, norms = 0, [], [], []
    noted, rates = {n: torch.zeros_like(p) for n, p in factors.items()}, 0.0
    for number, step in enumerate(steps):
        everything = settings.supervised == "all"
        first = {i: 0 if everything else task.pieces[i].response_start for group in step for i in group}
        supervised = sum(lengths[i] - max(1, first[i]) for group in step for i in group)
        ramp_steps = math.ceil(alignment.ramp_fraction * len(steps)) if alignment else 0
        kappa = min(1.0, number / ramp_steps) if alignment else 0.0
        optimiser.zero_grad(set_to_none=False)  # a step without any style state still decays the head's moments
        step_loss, step_cosines = 0.0, []
        for group in step:
            if alignment and alignment.ramp_counts == "micro_batches":
                kappa = min(1.0, (counter + 1) / ramp_steps) if len(steps) >= 5 else 1.0
            loss, states, before = torch.zeros(()), [], 0
            for i in group:
                for dropout in dropouts:
                    dropout.context = task.stage_seed, counter, before
                tokens = torch.from_numpy(task.pieces[i].tokens.astype(np.int64))
                out = model(input_ids=tokens[None], output_hidden_states=True, use_cache=False)
                begin = max(1, first[i])
                logits, labels = out.logits[0, begin - 1 : -1], tokens[begin:]
                loss = loss + nn.functional.cross_entropy(logits, labels, reduction="sum") / supervised
                states.append(out.hidden_states[-1][0, first[i] :])
                before += lengths[i]
            step_loss += float(loss.detach())
            if head is not None:
                cosine = _oracle_cosines(head, states, task, alignment, counter)
                if len(cosine):
                    step_cosines.append(float(cosine.detach().mean()))
                    loss = loss + alignment.weight * kappa * (1 - cosine).mean() / len(step)
            loss.backward()
            counter += 1
        if task.proximal:
            penalty = sum(((factors[n] - reference[n]) ** 2).sum() for n in factors)
            (task.proximal * penalty).backward()
        norms.append(float(nn.utils.clip_grad_norm_(trained, settings.clip_norm)))
        warmup = math.ceil(settings.warmup_fraction * len(steps))
        if number < warmup:
            scale = (number + settings.warmup_counts_from) / warmup
        else:
            scale = (len(steps) - number) / (len(steps) - warmup)
        optimiser.param_groups[0]["lr"] = settings.learning_rate * scale
        if task.correction is not None:
            rates += scale
            for n, p in factors.items():
                noted[n] += scale * p.grad
                p.grad += task.correction[n]
        optimiser.step()
        if task.inner_steps and (number + 1) % task.inner_steps == 0:
            with torch.no_grad():
                reference = {n: w + task.outer_rate * (factors[n] - w) for n, w in reference.items()}
        losses.append(step_loss)
        cosines.append(np.mean(step_cosines) if step_cosines else math.nan)
    if task.inner_steps:
        norms = {n: reference[n] - task.anchor[n] for n in reference}  # how far the reference point moved
    if task.correction is not None:
        norms = {n: total / rates for n, total in noted.items()}
    return {n: t.detach().clone() for n, t in get_peft_model_state_dict(model).items()}, losses, cosines, norms


def _oracle_head(hidden_size, alignment, task) -> nn.Module:
    values = initial_head(head_layout(hidden_size, alignment, len(task.target)), task.stage_seed)
    head = nn.Sequential(
        nn.Linear(hidden_size, alignment.hidden),
        nn.GELU(),
        nn.Linear(alignment.hidden, len(task.target)),
        nn.LayerNorm(len(task.target)),
    )
    nn.utils.vector_to_parameters(values, head.parameters())
    return head


def _oracle_cosines(head, states, task, alignment, counter) -> torch.Tensor:
    """Of the final states of each piece's labelled tokens."""
    if alignment.pooling == "minibatch":
        states = [torch.cat(states)]
    elif np.mean([len(each) for each in states]) < alignment.minimum_tokens:
        return torch.empty(0)
    pooled = torch.stack([each.mean(0) for each in states])
    first = head[1](head[0](pooled))
    if alignment.dropout:
        first = first * head_dropout(task.stage_seed, counter, len(pooled), alignment)
    projected = nn.functional.normalize(head[3](head[2](first)), dim=-1)
    target = nn.functional.normalize(torch.from_numpy(task.target), dim=-1)
    return projected @ target


def make_tasks(random_state, random_pieces, lora, aligned=False, clients=4, **common) -> list[ClientTask]:
    """Four clients of unequal lengths and step counts, or the first of them."""
    tasks = []
    for k, (count, epochs) in enumerate([(7, 1), (17, 1), (9, 2), (20, 2)][:clients]):
        pieces, target = random_pieces(k, count, 12 + 6 * k), style_target(k) if aligned else None
        task = ClientTask(f"client_{k}", pieces, random_state(k, lora), epochs, 1000 + k, target=target, **common)
        tasks.append(task)
    return tasks


def assert_close(left, right, **tolerance) -> None:
    torch.testing.assert_close(left, right, **(tolerance or TOLERANCE))


CASES = {
    "task only": ({}, 0.0, None),
    "every token": ({"supervised": "all"}, 0.0, None),
    "from 0, unsorted, decay": ({"warmup_counts_from": 0, "group_by_length": False, "weight_decay": 0.1}, 0.0, None),
    "alignment, both dropouts": ({}, 0.3, {"dropout": 0.25}),
    "alignment, an example at a time": ({}, 0.0, {"pooling": "example", "minimum_tokens": 3, "dropout": 0.25}),
    "alignment, a ramp over micro-batches": ({}, 0.0, {"ramp_counts": "micro_batches", "ramp_fraction": 0.9}),
}


@pytest.mark.parametrize("case", CASES)
def test_stack_agrees_with_peft_and_torch(case, base, model_folder, random_state, random_pieces) -> None:
    changed, dropout, aligned = CASES[case]
    settings = SETTINGS.model_copy(update=changed)
    lora = Lora(rank=3, alpha=6, dropout=dropout, target_modules=PROJECTIONS)
    alignment = None if aligned is None else ALIGNMENT.model_copy(update=aligned)
    tasks = make_tasks(random_state, random_pieces, lora, aligned=aligned is not None)
    stacked = train(base, lora, tasks, settings, alignment)
    for task, result in zip(tasks, stacked, strict=True):
        state, losses, cosines, norms = oracle(model_folder, lora, task, settings, alignment)
        assert result.name == task.name
        np.testing.assert_allclose([row["task_loss"] for row in result.log], losses, rtol=2e-5)
        np.testing.assert_allclose([row["gradient_norm"] for row in result.log], norms, rtol=1e-4)
        if alignment is not None:
            np.testing.assert_allclose([row["cosine"] for row in result.log], cosines, rtol=1e-3, atol=1e-5)
        assert_close(result.state, state)
        # The adapter moved: agreement is not that of two untrained states.
        assert squared_norm(result.state, task.start) > 1e-2


def test_proximal_term_agrees(base, model_folder, random_state, random_pieces, lora) -> None:
    anchor = random_state(99, lora)
    tasks = make_tasks(random_state, random_pieces, lora, anchor=anchor, proximal=0.05)
    for task, result in zip(tasks, train(base, lora, tasks, SETTINGS), strict=True):
        state, _, _, norms = oracle(model_folder, lora, task, SETTINGS)
        np.testing.assert_allclose([row["gradient_norm"] for row in result.log], norms, rtol=1e-4)
        assert_close(result.state, state)
        # Step 0: 0.05 * ||start - anchor||^2.
        expected = 0.05 * squared_norm(task.start, anchor)
        assert result.log[0]["proximal"] == pytest.approx(expected, rel=1e-5)


def test_inner_steps_move_the_reference_point(base, model_folder, random_state, random_pieces, lora) -> None:
    anchor = random_state(99, lora)
    common = {"clients": 2, "anchor": anchor, "proximal": 0.05, "inner_steps": 3, "outer_rate": 0.25}
    tasks = make_tasks(random_state, random_pieces, lora, **common)
    for task, result in zip(tasks, train(base, lora, tasks, SETTINGS), strict=True):
        state, losses, _, moved = oracle(model_folder, lora, task, SETTINGS)
        assert len(result.log) == len(losses)
        assert len(losses) % 3 == 0
        assert_close(result.state, state)
        assert_close(result.displacement, moved)
        assert squared_norm(result.displacement) > 1e-2


@pytest.mark.parametrize("warmup_counts_from", [0, pytest.param(1, marks=pytest.mark.slow(2))])
def test_corrected_steps_agree(warmup_counts_from, base, model_folder, random_state, random_pieces, lora) -> None:
    settings = SETTINGS.model_copy(update={"warmup_counts_from": warmup_counts_from, "clip_norm": 0.05})
    added = {name: 0.01 * tensor for name, tensor in random_state(77, lora).items()}
    tasks = make_tasks(random_state, random_pieces, lora, clients=2, correction=added)
    alone = train(base, lora, tasks, settings, clients_per_stack=1)
    for task, result, one in zip(tasks, train(base, lora, tasks, settings), alone, strict=True):
        state, _, _, mean = oracle(model_folder, lora, task, settings)
        assert_close(result.state, state)
        assert_close(one.state, result.state)
        for gradient in (result.gradient, one.gradient):
            assert_close(gradient, mean, rtol=1e-3, atol=2e-5)
        # Clipping sees the client's own gradient, and holds it alone.
        assert max(row["gradient_norm"] for row in result.log) > 0.05
        assert 0.01 < squared_norm(mean) ** 0.5 <= 0.05
    # A correction of nothing is none, to the byte; neighbours in a stack do not see each other's.
    zero = {name: torch.zeros_like(tensor) for name, tensor in added.items()}
    plain = train(base, lora, [replace(task, correction=None) for task in tasks], settings)
    same = train(base, lora, [replace(task, correction=zero) for task in tasks], settings)
    mixed = train(base, lora, [replace(tasks[0], correction=None), *tasks[1:]], settings)
    assert all(same_bits(left.state, right.state) for left, right in zip(plain, same, strict=True))
    assert mixed[0].gradient is None
    assert same_bits(mixed[0].state, plain[0].state)


def test_order_of_clients_and_repetition_change_nothing(base, random_state, random_pieces, lora) -> None:
    tasks = make_tasks(random_state, random_pieces, lora)
    first = train(base, lora, tasks, SETTINGS)
    again = train(base, lora, tasks, SETTINGS)
    assert count_steps(tasks, SETTINGS) == sum(len(result.log) for result in first)
    assert all(same_bits(a.state, b.state) for a, b in zip(first, again, strict=True))
    backwards = train(base, lora, tasks[::-1], SETTINGS)[::-1]
    for left, right in zip(first, backwards, strict=True):
        assert left.name == right.name
        assert_close(left.state, right.state)
