"""The losses of one forward pass and their gradients, per client."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from favor.lm.alignment import project
from favor.lm.base import BaseModel
from favor.lm.cohort import Cohort
from favor.lm.forward import Batch
from favor.lm.losses import token_cross_entropy
from favor.lm.settings import AlignmentSettings
from favor.lm.stack import Component, LoraStack


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
    positions = [share.position for share in batch.shares]
    rows_of = torch.tensor(positions, device=base.device)
    layout = stack.layout
    factors = layout.factors(cohort.select(cohort.effective, positions), trainable=True)
    components = [Component(factors, None if batch.gates is None else 1.0 - batch.gates, dropout=True)]
    if batch.gates is not None:
        components.append(cohort.companion_component(positions, batch.gates))
    stack.set(components, batch.masks, stack.settings.dropout)
    states = base.final_states(batch.tokens)
    task_loss, losses = token_cross_entropy(
        states.reshape(-1, states.shape[-1]).index_select(0, batch.predicting),
        base.head,
        batch.labels,
        batch.token_weights,
    )
    sums = torch.zeros(len(positions), device=base.device).index_add_(0, batch.owner, losses * batch.token_weights)
    for position, value in zip(positions, sums.tolist(), strict=True):
        figures[position].task_loss += value
    if alignment is None:
        task_loss.backward()
        layout.collect(factors, cohort.gradients, rows_of)
        return
    assert cohort.head is not None
    head = cohort.head.views(cohort.select(cohort.values, positions)[:, cohort.size :])
    alignment_loss = _alignment_loss(cohort, batch, alignment, states, head, figures)
    if measured:
        assert cohort.alignment_gradients is not None
        task_loss.backward(retain_graph=True)
        layout.collect(factors, cohort.gradients, rows_of)
        alignment_loss.backward()
        layout.collect(factors, cohort.alignment_gradients, rows_of)
    else:
        (task_loss + alignment_loss).backward()
        layout.collect(factors, cohort.gradients, rows_of)
    cohort.head.collect(head, cohort.gradients[:, cohort.size :], rows_of)


def _alignment_loss(
    cohort: Cohort,
    batch: Batch,
    alignment: AlignmentSettings,
    states: torch.Tensor,
    head: dict[str, torch.Tensor],
    figures: dict[int, StepFigures],
) -> torch.Tensor:
    """Return sum over clients of lambda kappa (1 - cos), each weighted so that a step's passes add up to its mean."""
    assert batch.pooling is not None
    assert batch.scales is not None
    assert batch.state_weights is not None
    assert batch.kappas is not None
    positions = [share.position for share in batch.shares]
    clients, number, length = batch.pooling.shape
    pooled = torch.bmm(
        batch.pooling.view(clients * number, 1, length).to(states.dtype),
        states.reshape(clients * number, length, -1),
    )
    pooled = pooled.float().view(clients, number, -1) * batch.scales.unsqueeze(-1)
    style = project(head, pooled, batch.head_masks)
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
