"""One forward and backward pass over micro-batches of several stacked clients."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch

from favor.lm.alignment import head_dropout, pooling_scales
from favor.lm.dropout import DropoutMasks, MaskEntry
from favor.lm.optimiser import micro_batch_ramp, ramp
from favor.lm.settings import AlignmentSettings, TrainingSettings
from favor.lm.tasks import Group, Plan, predicted_tokens, response_start

_LENGTH_MULTIPLE = 16


@dataclass
class Share:
    """The part of one client in a forward pass: its position in the stack, its plan, step and micro-batches.

    ``part``: the rows of a micro-batch that run here, where memory does not hold it whole.
    """

    position: int
    plan: Plan
    step: int
    groups: list[Group]
    part: slice = field(default_factory=lambda: slice(None))

    def indices(self, group: Group) -> tuple[int, ...]:
        """Return which pieces of a micro-batch run here."""
        return group.indices[self.part]


@dataclass
class Batch:
    """Tensors of a forward pass; K clients with the same number of rows each, padded on the right.

    - ``tokens`` [rows, length]; ``predicting`` and ``labels`` [tokens]: flat positions whose states predict a label;
      ``token_weights`` [tokens] = 1 / the supervised tokens of the client's whole step; ``owner`` [tokens] in 0..K-1.
    - ``pooling`` [K, states, rows per state * length]: 1 at the positions pooled into a style state, or None;
      ``scales`` [K, states]: 1 / their number;
      ``state_weights`` [K, states]: weight of each state's 1 - cos in the client's alignment loss of the step;
      ``kappas`` [K, states]: the warm-up coefficient of each state;
      ``head_masks`` [K, states, hidden] or None.
    - ``gates`` [rows] or None.
    """

    shares: list[Share]
    tokens: torch.Tensor
    predicting: torch.Tensor
    labels: torch.Tensor
    token_weights: torch.Tensor
    owner: torch.Tensor
    masks: DropoutMasks | None
    pooling: torch.Tensor | None = None
    scales: torch.Tensor | None = None
    state_weights: torch.Tensor | None = None
    kappas: torch.Tensor | None = None
    head_masks: torch.Tensor | None = None
    gates: torch.Tensor | None = None


def kappa_of(share: Share, group: Group, alignment: AlignmentSettings) -> float:
    """Return the warm-up coefficient of the alignment loss of one micro-batch (Eq. private_objective)."""
    steps = len(share.plan.steps)
    if alignment.ramp_counts == "micro_batches":
        return micro_batch_ramp(group.counter, steps, alignment.ramp_fraction)
    return ramp(share.step, steps, alignment.ramp_fraction)


def build_batch(
    shares: list[Share],
    settings: TrainingSettings,
    alignment: AlignmentSettings | None,
    dropout: float,
    device: torch.device,
) -> Batch:
    """Lay out the micro-batches of ``shares`` (as many for each client) as one padded batch.

    Padding stands to the right of causal rows, so no attention mask is needed: no real token sees it. A micro-batch
    that is smaller than the largest leaves empty rows.
    """
    per_group = max(len(share.indices(group)) for share in shares for group in share.groups)
    per_client = per_group * len(shares[0].groups)
    rows = per_client * len(shares)
    longest = max(
        len(share.plan.task.pieces[i]) for share in shares for group in share.groups for i in share.indices(group)
    )
    # Rounded up, so that few shapes occur: oneDNN and cuBLAS prepare (and keep) code for every new one.
    length = -(-longest // _LENGTH_MULTIPLE) * _LENGTH_MULTIPLE
    tokens = np.zeros((rows, length), dtype=np.int64)
    gates = np.zeros(rows, dtype=np.float32)
    predicting: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    counts: list[int] = []
    weights: list[float] = []
    entries: list[MaskEntry] = []
    for k, share in enumerate(shares):
        task = share.plan.task
        count = 0
        for g, group in enumerate(share.groups):
            first_row = k * per_client + g * per_group
            for row, index in enumerate(share.indices(group), start=first_row):
                piece = task.pieces[index]
                size = len(piece)
                tokens[row, :size] = piece.tokens
                predicted = predicted_tokens(piece, settings)
                predicting.append(np.arange(size - predicted - 1, size - 1) + row * length)
                labels.append(piece.tokens[size - predicted :].astype(np.int64))
                count += predicted
                if task.gates is not None:
                    gates[row] = task.gates[index]
            lengths = tuple(len(task.pieces[index]) for index in group.indices)
            entries.append(MaskEntry(task.stage_seed, group.counter, first_row, lengths, share.part))
        counts.append(count)
        weights.append(1.0 / share.plan.supervised_tokens[share.step])
    batch = Batch(
        shares=shares,
        tokens=torch.from_numpy(tokens).to(device),
        predicting=torch.from_numpy(np.concatenate(predicting)).to(device),
        labels=torch.from_numpy(np.concatenate(labels)).to(device),
        token_weights=torch.from_numpy(np.repeat(np.asarray(weights, dtype=np.float32), counts)).to(device),
        owner=torch.from_numpy(np.repeat(np.arange(len(shares)), counts)).to(device),
        masks=DropoutMasks(entries, rows, length, len(shares), dropout, device) if dropout else None,
        gates=torch.from_numpy(gates).to(device) if shares[0].plan.task.gates is not None else None,
    )
    if alignment is not None:
        _add_alignment(batch, settings, alignment, per_group, length, device)
    return batch


def _add_alignment(
    batch: Batch,
    settings: TrainingSettings,
    alignment: AlignmentSettings,
    per_group: int,
    length: int,
    device: torch.device,
) -> None:
    """Add what pools the states of labelled positions: the state at each position whose own label is not ignored.

    Of a micro-batch that is cut, each part pools its own positions into the one state of the minibatch, whose scale,
    weight and mask are those of the whole.
    """
    groups = len(batch.shares[0].groups)
    whole = alignment.pooling == "minibatch"
    states = groups if whole else groups * per_group
    pooling = np.zeros((len(batch.shares), groups, per_group, length), dtype=np.float32)
    shape = (len(batch.shares), groups, 1 if whole else per_group)
    scales, state_weights, kappas = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    head_masks = torch.zeros(*shape, alignment.hidden)
    for k, share in enumerate(batch.shares):
        task = share.plan.task
        micro_batches = len(share.plan.steps[share.step])
        for g, group in enumerate(share.groups):
            starts = [response_start(task.pieces[index], settings) for index in group.indices]
            sizes = [len(task.pieces[index]) for index in group.indices]
            supervised = [size - start for size, start in zip(sizes, starts, strict=True)]
            scale, valid = pooling_scales(supervised, alignment)
            # The step's alignment loss is the mean over its micro-batches, each the mean over its valid states.
            weight = valid / max(int(valid.sum()), 1) / micro_batches
            own = slice(None) if whole else share.part
            count = len(scale[own])
            scales[k, g, :count] = scale[own]
            state_weights[k, g, :count] = weight[own]
            kappas[k, g] = kappa_of(share, group, alignment)
            for row, (start, size) in enumerate(zip(starts[share.part], sizes[share.part], strict=True)):
                pooling[k, g, row, start:size] = 1.0
            if alignment.dropout:
                drawn = head_dropout(task.stage_seed, group.counter, len(valid), alignment)
                head_masks[k, g, :count] = drawn[own]
    batch.pooling = torch.from_numpy(pooling.reshape(len(batch.shares), states, -1)).to(device)
    batch.scales = torch.from_numpy(scales.reshape(len(batch.shares), states)).to(device)
    batch.kappas = torch.from_numpy(kappas.reshape(len(batch.shares), states)).to(device)
    batch.state_weights = torch.from_numpy(state_weights.reshape(len(batch.shares), states)).to(device)
    if alignment.dropout:
        batch.head_masks = head_masks.reshape(len(batch.shares), states, -1).to(device)
