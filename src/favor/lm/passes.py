"""The losses of one forward pass and their gradients, per client."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from favor.lm.alignment import project
from favor.lm.base import BaseModel
from favor.lm.cohort import Cohort
from favor.lm.forward import Batch
from favor.lm.losses import token_cross_entropy
from favor.lm.settings import AlignmentSettings
from favor.lm.stack import Component, Factors, LoraStack


@dataclass
class StepFigures:
    """What one client's optimiser step measured, summed over its forward passes.

    ``task_loss``: token mean; ``alignment_loss``: mean over micro-batches; ``cosine``: mean over valid style states.
    """

    task_loss: float = 0.0
    alignment_loss: float = 0.0
    weighted_cosine: float = 0.0
    cosine_weight: float = 0.0

    @property
    def cosine(self) -> float:
        """Mean cosine over valid style states; NaN where there is none."""
        return self.weighted_cosine / self.cosine_weight if self.cosine_weight else math.nan


def run_pass(
    base: BaseModel,
    stack: LoraStack,
    cohort: Cohort,
    batch: Batch,
    alignment: AlignmentSettings | None,
    measured: bool,
    figures: dict[int, StepFigures],
) -> None:
    """Add the pass's gradients to the cohort's and its figures to ``figures`` (by position in the stack)."""
    factors = _set_adapters(base, stack, cohort, batch)
    states = base.final_states(batch.tokens)
    task_loss = _task_loss(base, batch, states, figures)
    if alignment is None:
        _backward(base, stack, cohort, batch, factors, task_loss)
        return
    head = _head(cohort, batch)
    alignment_loss = _alignment_loss(cohort, batch, alignment, _pooled_sums(batch, states), head, figures)
    _backward(base, stack, cohort, batch, factors, task_loss, alignment_loss, measured)
    _collect_head(base, cohort, batch, head)


def run_parts(
    base: BaseModel,
    stack: LoraStack,
    cohort: Cohort,
    batches: Sequence[Batch],
    alignment: AlignmentSettings | None,
    measured: bool,
    figures: dict[int, StepFigures],
) -> None:
    """Do the same for one client's micro-batch that memory does not hold whole, cut into ``batches`` of its rows.

    The style state of a minibatch needs all of its rows. Its sum is taken first, without gradients, a part at a time;
    the loss gives the gradient with respect to that sum, which every part then carries back through its own rows. The
    gradients are those of the whole (the chain rule), for one more forward pass.
    """
    if alignment is None or alignment.pooling == "example":
        for batch in batches:
            run_pass(base, stack, cohort, batch, alignment, measured, figures)
        return
    first = batches[0]
    sums = torch.zeros(1, 1, base.hidden_size, device=base.device)
    with torch.no_grad():
        for batch in batches:
            _set_adapters(base, stack, cohort, batch)
            sums += _pooled_sums(batch, base.final_states(batch.tokens))
    sums.requires_grad_()
    head = _head(cohort, first)
    _alignment_loss(cohort, first, alignment, sums, head, figures).backward()
    assert sums.grad is not None
    _collect_head(base, cohort, first, head)
    for batch in batches:
        factors = _set_adapters(base, stack, cohort, batch)
        states = base.final_states(batch.tokens)
        task_loss = _task_loss(base, batch, states, figures)
        alignment_loss = (_pooled_sums(batch, states) * sums.grad).sum()
        _backward(base, stack, cohort, batch, factors, task_loss, alignment_loss, measured)


def _positions(batch: Batch) -> list[int]:
    return [share.position for share in batch.shares]


def _set_adapters(base: BaseModel, stack: LoraStack, cohort: Cohort, batch: Batch) -> Factors:
    """Set the stack to the adapters of the batch's clients; return the trained ones as leaves."""
    positions = _positions(batch)
    factors = stack.layout.factors(cohort.select(cohort.effective, positions), trainable=True)
    components = [Component(factors, None if batch.gates is None else 1.0 - batch.gates, dropout=True)]
    if batch.gates is not None:
        components.append(cohort.companion_component(positions, batch.gates))
    stack.set(components, batch.masks, stack.settings.dropout)
    return factors


def _head(cohort: Cohort, batch: Batch) -> dict[str, torch.Tensor]:
    """Return the projection heads of the batch's clients as leaves."""
    assert cohort.head is not None
    return cohort.head.views(cohort.select(cohort.values, _positions(batch))[:, cohort.size :])


def _task_loss(base: BaseModel, batch: Batch, states: torch.Tensor, figures: dict[int, StepFigures]) -> torch.Tensor:
    """Return the weighted sum of the batch's token losses (Eq. task_loss, a pass's part of it)."""
    positions = _positions(batch)
    task_loss, losses = token_cross_entropy(
        states.reshape(-1, states.shape[-1]).index_select(0, batch.predicting),
        base.head,
        batch.labels,
        batch.token_weights,
    )
    sums = torch.zeros(len(positions), device=base.device).index_add_(0, batch.owner, losses * batch.token_weights)
    for position, value in zip(positions, sums.tolist(), strict=True):
        figures[position].task_loss += value
    return task_loss


def _backward(
    base: BaseModel,
    stack: LoraStack,
    cohort: Cohort,
    batch: Batch,
    factors: Factors,
    task_loss: torch.Tensor,
    alignment_loss: torch.Tensor | None = None,
    measured: bool = False,
) -> None:
    """Add the losses' gradients to the cohort's; with ``measured`` keep alignment's apart."""
    rows_of = torch.tensor(_positions(batch), device=base.device)
    if alignment_loss is not None and measured:
        assert cohort.alignment_gradients is not None
        task_loss.backward(retain_graph=True)
        stack.layout.collect(factors, cohort.gradients, rows_of)
        alignment_loss.backward()
        stack.layout.collect(factors, cohort.alignment_gradients, rows_of)
        return
    (task_loss if alignment_loss is None else task_loss + alignment_loss).backward()
    stack.layout.collect(factors, cohort.gradients, rows_of)


def _collect_head(base: BaseModel, cohort: Cohort, batch: Batch, head: dict[str, torch.Tensor]) -> None:
    assert cohort.head is not None
    rows_of = torch.tensor(_positions(batch), device=base.device)
    cohort.head.collect(head, cohort.gradients[:, cohort.size :], rows_of)


def _pooled_sums(batch: Batch, states: torch.Tensor) -> torch.Tensor:
    """Return the sum of the final states over each style state's positions, [K, states, d]."""
    assert batch.pooling is not None
    clients, number, length = batch.pooling.shape
    pooled = torch.bmm(
        batch.pooling.view(clients * number, 1, length).to(states.dtype),
        states.reshape(clients * number, length, -1),
    )
    return pooled.float().view(clients, number, -1)


def _alignment_loss(
    cohort: Cohort,
    batch: Batch,
    alignment: AlignmentSettings,
    sums: torch.Tensor,
    head: dict[str, torch.Tensor],
    figures: dict[int, StepFigures],
) -> torch.Tensor:
    """Return sum over clients of lambda kappa (1 - cos), each weighted so that a step's passes add up to its mean.

    ``sums`` [K, states, d]: the final states summed over the positions of each style state.
    """
    assert batch.scales is not None
    assert batch.state_weights is not None
    assert batch.kappas is not None
    positions = _positions(batch)
    style = project(head, sums * batch.scales.unsqueeze(-1), batch.head_masks)
    cosine = (style * cohort.targets[positions].unsqueeze(1)).sum(-1)
    per_client = (batch.state_weights * (1.0 - cosine)).sum(-1)
    with torch.no_grad():
        rows = torch.stack(
            [per_client, (batch.state_weights * cosine).sum(-1), batch.state_weights.sum(-1)], dim=-1
        ).tolist()
    for position, (loss, weighted, weight) in zip(positions, rows, strict=True):
        figures[position].alignment_loss += loss
        figures[position].weighted_cosine += weighted
        figures[position].cosine_weight += weight
    return (batch.kappas * batch.state_weights * (1.0 - cosine)).sum() * alignment.weight
