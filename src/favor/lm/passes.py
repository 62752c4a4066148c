"""The losses of one forward pass and their gradients, per client, and what the passes of one step measure."""

import math
from collections.abc import Sequence

import torch

from favor.lm.alignment import head_views, project
from favor.lm.base import BaseModel
from favor.lm.cohort import Cohort
from favor.lm.forward import Batch, Pooling
from favor.lm.losses import token_cross_entropy
from favor.lm.stack import Component

_COLUMNS = ("task_loss", "alignment_loss", "cosine", "cosine_weight", "task_gradient", "alignment_gradient")


class StepFigures:
    """Sums over the passes of one step for each client of a stack, kept on the device until they are asked for.

    ``task_loss``: token mean; ``alignment_loss``: mean over micro-batches; ``cosine``: weighted by ``cosine_weight``,
    over valid style states; ``task_gradient`` and ``alignment_gradient``: squared norms of the two losses' gradients
    with respect to the final states.
    """

    def __init__(self, clients: int, device: torch.device) -> None:
        self._sums = torch.zeros(len(_COLUMNS), clients, device=device)
        self._read: list[list[float]] | None = None

    def add(self, column: str, positions: torch.Tensor, amounts: torch.Tensor) -> None:
        """Add ``amounts`` [K] to the clients at ``positions`` [K] of the stack, which differ."""
        self._sums[_COLUMNS.index(column)].index_add_(0, positions, amounts)
        self._read = None

    def of(self, column: str, position: int) -> float:
        """Return a client's sum."""
        if self._read is None:
            self._read = self._sums.tolist()
        return self._read[_COLUMNS.index(column)][position]

    def cosine(self, position: int) -> float:
        """Return a client's mean cosine over valid style states; NaN where there is none."""
        weight = self.of("cosine_weight", position)
        return self.of("cosine", position) / weight if weight else math.nan

    def alignment_share(self, position: int) -> float:
        """Return |g_align| / (|g_align| + |g_task|) on the final states; NaN where both are 0."""
        task, aligning = (math.sqrt(self.of(f"{loss}_gradient", position)) for loss in ("task", "alignment"))
        return aligning / (aligning + task) if aligning + task > 0 else math.nan


def run_pass(cohort: Cohort, batch: Batch, figures: StepFigures, pulls: torch.Tensor | None = None) -> None:
    """Add the pass's gradients to the cohort's and its figures to ``figures``.

    ``pulls``: alignment's gradient with respect to the sums of the style states, where it is known already.
    """
    with cohort.stack.released():
        components = _set_adapters(cohort, batch)
        states = _final_states(cohort.base, batch)
        if batch.pooling is not None and pulls is None:
            pulls = _pulls(cohort, batch, _pooled_sums(batch.pooling, states.detach()), figures)
        _backward(cohort, batch, components, states, pulls, figures)


def read_losses(cohort: Cohort, batches: Sequence[Batch], figures: StepFigures) -> None:
    """Add to ``figures`` the task losses of ``batches``, which have no dropout: forward passes alone."""
    for batch in batches:
        with torch.no_grad(), cohort.stack.released():
            _set_adapters(cohort, batch)
            states = _final_states(cohort.base, batch).index_select(0, batch.predicting)
            _, losses = token_cross_entropy(states, cohort.base.head, batch.labels, batch.token_weights)
            amounts = torch.segment_reduce(losses * batch.token_weights, "sum", lengths=batch.counts, unsafe=True)
            figures.add("task_loss", batch.positions, amounts)


def run_parts(cohort: Cohort, batches: Sequence[Batch], figures: StepFigures) -> None:
    """Run one pass, or ``batches`` of the rows of one client's micro-batch that memory does not hold whole.

    The style state of a minibatch needs all of its rows. Its sum is taken first, without gradients, a part at a time;
    the loss gives the gradient with respect to that sum, which every part then carries back through its own rows. The
    gradients are those of the whole (the chain rule), for one more forward pass.
    """
    pulls = None
    if len(batches) > 1 and cohort.alignment is not None and cohort.alignment.pooling == "minibatch":
        sums = torch.zeros(1, 1, cohort.base.hidden_size, device=cohort.device)
        for batch in batches:
            assert batch.pooling is not None
            with torch.no_grad(), cohort.stack.released():
                _set_adapters(cohort, batch)
                sums += _pooled_sums(batch.pooling, _final_states(cohort.base, batch))
        pulls = _pulls(cohort, batches[0], sums, figures)
    for batch in batches:
        run_pass(cohort, batch, figures, pulls)


def _set_adapters(cohort: Cohort, batch: Batch) -> list[Component]:
    """Set the stack to the adapters of the batch's clients; return them, the trained factors as leaves."""
    components = cohort.components([share.position for share in batch.shares], batch.gates)
    cohort.stack.set(components, batch.masks, cohort.stack.settings.dropout, batch.runs, batch.needed)
    return components


def _final_states(base: BaseModel, batch: Batch) -> torch.Tensor:
    """Return the final states [T, d] of a packed row."""
    return base.final_states(batch.tokens, position_ids=batch.packing.positions, packing=batch.packing)[0]


def _backward(
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
    gradient.index_copy_(0, batch.predicting, _task_gradient(cohort.base, batch, states.detach(), figures))
    if pulls is not None:
        assert batch.pooling is not None
        flat, pooled = pulls.reshape(-1, pulls.shape[-1]), batch.pooling.tokens
        gradient.addmm_(pooled.t(), flat)
        squares = pooled.sum(1) * flat.square().sum(1)
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


def _pooled_sums(pooling: Pooling, states: torch.Tensor) -> torch.Tensor:
    """Return the sum of the final states over each style state's positions, [K, states, d], taken in float32."""
    return (pooling.tokens @ states.float()).view(len(pooling.scales), -1, states.shape[-1])


def _pulls(cohort: Cohort, batch: Batch, sums: torch.Tensor, figures: StepFigures) -> torch.Tensor:
    """Return the gradient [K, states, d] of the alignment loss with respect to ``sums``; add the heads' to the cohort.

    The loss is the sum over clients of lambda kappa (1 - cos), each weighted so that a step's passes add up to its
    mean. ``sums`` [K, states, d]: the final states summed over the positions of each style state.
    """
    pooling = batch.pooling
    assert pooling is not None
    assert cohort.head is not None
    assert cohort.alignment is not None
    positions = [share.position for share in batch.shares]
    sums = sums.detach().requires_grad_()
    head = head_views(cohort.head, cohort.select(cohort.values, positions)[:, cohort.size :])
    style = project(head, sums * pooling.scales.unsqueeze(-1), pooling.head_masks)
    cosine = (style * cohort.targets[positions].unsqueeze(1)).sum(-1)
    ((pooling.kappas * pooling.weights * (1.0 - cosine)).sum() * cohort.alignment.weight).backward()
    assert sums.grad is not None
    cohort.head.collect(head.values(), cohort.gradients[:, cohort.size :], positions)
    with torch.no_grad():
        figures.add("alignment_loss", batch.positions, (pooling.weights * (1.0 - cosine)).sum(-1))
        figures.add("cosine", batch.positions, (pooling.weights * cosine).sum(-1))
        figures.add("cosine_weight", batch.positions, pooling.weights.sum(-1))
    return sums.grad
