"""The losses of one forward pass and their gradients, per client."""

from collections.abc import Sequence

import torch

from favor.lm.alignment import project
from favor.lm.base import BaseModel
from favor.lm.cohort import Cohort
from favor.lm.figures import StepFigures
from favor.lm.forward import Batch
from favor.lm.losses import token_cross_entropy
from favor.lm.settings import WeightedAlignment
from favor.lm.stack import Component, LoraStack


def run_pass(
    base: BaseModel,
    stack: LoraStack,
    cohort: Cohort,
    batch: Batch,
    alignment: WeightedAlignment | None,
    figures: StepFigures,
    pulls: torch.Tensor | None = None,
) -> None:
    """Add the pass's gradients to the cohort's and its figures to ``figures``.

    ``pulls``: alignment's gradient with respect to the sums of the style states, where it is known already.
    """
    with stack.released():
        components = _set_adapters(stack, cohort, batch)
        states = _final_states(base, batch)
        if alignment is not None and pulls is None:
            pulls = _pulls(cohort, batch, alignment, _pooled_sums(batch, states.detach()), figures)
        _backward(base, cohort, batch, components, states, pulls, figures)


def read_losses(
    base: BaseModel, stack: LoraStack, cohort: Cohort, batches: Sequence[Batch], figures: StepFigures
) -> None:
    """Add to ``figures`` the task losses of ``batches``, which have no dropout: forward passes alone."""
    for batch in batches:
        with torch.no_grad(), stack.released():
            _set_adapters(stack, cohort, batch)
            states = _final_states(base, batch).index_select(0, batch.predicting)
            _, losses = token_cross_entropy(states, base.head, batch.labels, batch.token_weights)
            amounts = torch.segment_reduce(losses * batch.token_weights, "sum", lengths=batch.counts, unsafe=True)
            figures.add("task_loss", batch.positions, amounts)


def run_parts(
    base: BaseModel,
    stack: LoraStack,
    cohort: Cohort,
    batches: Sequence[Batch],
    alignment: WeightedAlignment | None,
    figures: StepFigures,
) -> None:
    """Do the same for one client's micro-batch that memory does not hold whole, cut into ``batches`` of its rows.

    The style state of a minibatch needs all of its rows. Its sum is taken first, without gradients, a part at a time;
    the loss gives the gradient with respect to that sum, which every part then carries back through its own rows. The
    gradients are those of the whole (the chain rule), for one more forward pass.
    """
    if alignment is None or alignment.pooling == "example":
        for batch in batches:
            run_pass(base, stack, cohort, batch, alignment, figures)
        return
    sums = torch.zeros(1, 1, base.hidden_size, device=base.device)
    for batch in batches:
        with torch.no_grad(), stack.released():
            _set_adapters(stack, cohort, batch)
            sums += _pooled_sums(batch, _final_states(base, batch))
    pulls = _pulls(cohort, batches[0], alignment, sums, figures)
    for batch in batches:
        run_pass(base, stack, cohort, batch, alignment, figures, pulls)


def _set_adapters(stack: LoraStack, cohort: Cohort, batch: Batch) -> list[Component]:
    """Set the stack to the adapters of the batch's clients; return them, the trained factors as leaves."""
    components = cohort.components([share.position for share in batch.shares], batch.gates)
    stack.set(components, batch.masks, stack.settings.dropout, batch.runs, batch.needed)
    return components


def _final_states(base: BaseModel, batch: Batch) -> torch.Tensor:
    """Return the final states [T, d] of a packed row."""
    return base.final_states(batch.tokens, position_ids=batch.packing.positions, packing=batch.packing)[0]


def _backward(
    base: BaseModel,
    cohort: Cohort,
    batch: Batch,
    components: Sequence[Component],
    states: torch.Tensor,
    pulls: torch.Tensor | None,
    figures: StepFigures,
) -> None:
    """Carry both losses back from the final ``states`` [T, d] to the adapters.

    ``pulls`` [K, states, d]: alignment's gradient with respect to the sum of each style state, which is its gradient
    with respect to the final state of every token pooled into it.
    """
    gradient = torch.zeros(states.shape, device=states.device)
    gradient.index_copy_(0, batch.predicting, _task_gradient(base, batch, states.detach(), figures))
    if pulls is not None:
        assert batch.pooling is not None
        flat = pulls.reshape(-1, pulls.shape[-1])
        gradient.addmm_(batch.pooling.t(), flat)
        squares = batch.pooling.sum(1) * flat.square().sum(1)
        figures.add("alignment_gradient", batch.positions, squares.view(len(batch.shares), -1).sum(1))
    states.backward(gradient.to(states.dtype))
    cohort.collect(components, [share.position for share in batch.shares])


def _task_gradient(base: BaseModel, batch: Batch, states: torch.Tensor, figures: StepFigures) -> torch.Tensor:
    """Return the gradient of the weighted sum of token losses (Eq. task_loss) at the predicting tokens, [tokens, d]."""
    predicting = states.index_select(0, batch.predicting).requires_grad_()
    loss, losses = token_cross_entropy(predicting, base.head, batch.labels, batch.token_weights)
    loss.backward()
    assert predicting.grad is not None
    gradient = predicting.grad.float()
    for column, amounts in (
        ("task_loss", losses * batch.token_weights),
        ("task_gradient", gradient.square().sum(1)),
    ):
        figures.add(column, batch.positions, torch.segment_reduce(amounts, "sum", lengths=batch.counts, unsafe=True))
    return gradient


def _pooled_sums(batch: Batch, states: torch.Tensor) -> torch.Tensor:
    """Return the sum of the final states over each style state's positions, [K, states, d], taken in float32."""
    assert batch.pooling is not None
    return (batch.pooling @ states.float()).view(len(batch.shares), -1, states.shape[-1])


def _pulls(
    cohort: Cohort, batch: Batch, alignment: WeightedAlignment, sums: torch.Tensor, figures: StepFigures
) -> torch.Tensor:
    """Return the gradient [K, states, d] of the alignment loss with respect to ``sums``; add the heads' to the cohort.

    The loss is the sum over clients of lambda kappa (1 - cos), each weighted so that a step's passes add up to its
    mean. ``sums`` [K, states, d]: the final states summed over the positions of each style state.
    """
    assert batch.scales is not None
    assert batch.state_weights is not None
    assert batch.kappas is not None
    assert cohort.head is not None
    positions = [share.position for share in batch.shares]
    sums = sums.detach().requires_grad_()
    head = cohort.head.views(cohort.select(cohort.values, positions)[:, cohort.size :])
    style = project(head, sums * batch.scales.unsqueeze(-1), batch.head_masks)
    cosine = (style * cohort.targets[positions].unsqueeze(1)).sum(-1)
    ((batch.kappas * batch.state_weights * (1.0 - cosine)).sum() * alignment.weight).backward()
    assert sums.grad is not None
    cohort.head.collect(head, cohort.gradients[:, cohort.size :], batch.positions)
    with torch.no_grad():
        figures.add("alignment_loss", batch.positions, (batch.state_weights * (1.0 - cosine)).sum(-1))
        figures.add("cosine", batch.positions, (batch.state_weights * cosine).sum(-1))
        figures.add("cosine_weight", batch.positions, batch.state_weights.sum(-1))
    return sums.grad
