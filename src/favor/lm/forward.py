"""One forward and backward pass over micro-batches of several stacked clients."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from favor.lm.alignment import head_dropout, pooling_scales
from favor.lm.attention import Packing
from favor.lm.dropout import DropoutMasks, MaskEntry
from favor.lm.grouped import Needed, Runs
from favor.lm.optimiser import micro_batch_ramp, ramp
from favor.lm.settings import Optimisation, WeightedAlignment
from favor.lm.tasks import Group, Plan, predicted_tokens, response_start

# A client's run of tokens is filled up to a multiple of this: few shapes occur, for which a processor prepares code,
# and a tile of a GPU's product is full.
_MULTIPLE = 16


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


@dataclass(frozen=True)
class Pooling:
    """How final states are pooled into style states, as many for each of K clients.

    ``tokens`` [K * states, T]: 1 at the tokens pooled into a style state; ``scales`` [K, states]: 1 / their number;
    ``weights`` [K, states]: weight of each state's 1 - cos in the client's alignment loss of the step; ``kappas``
    [K, states]: the warm-up coefficient of each state; ``head_masks`` [K, states, hidden] or None.
    """

    tokens: torch.Tensor
    scales: torch.Tensor
    weights: torch.Tensor
    kappas: torch.Tensor
    head_masks: torch.Tensor | None


@dataclass
class Batch:
    """Tensors of a forward pass: the pieces of K clients packed into one row, client after client.

    - ``tokens`` [1, T]; ``packing``: its pieces; ``runs``: the tokens of each client; ``positions`` [K]: the clients'
      positions in the stack.
    - ``predicting`` and ``labels`` [tokens]: places in the row whose states predict a label, client after client;
      ``counts`` [K]: how many are whose; ``token_weights`` [tokens] = 1 / the supervised tokens of the client's step.
    - ``gates`` [T] or None.
    - ``needed``: the tokens whose final states predict a label or are pooled, or None for all.
    """

    shares: list[Share]
    tokens: torch.Tensor
    packing: Packing
    runs: Runs
    positions: torch.Tensor
    predicting: torch.Tensor
    labels: torch.Tensor
    token_weights: torch.Tensor
    counts: torch.Tensor
    masks: DropoutMasks | None
    gates: torch.Tensor | None
    needed: Needed | None
    pooling: Pooling | None = None


def kappa_of(share: Share, group: Group, alignment: WeightedAlignment) -> float:
    """Return the warm-up coefficient of the alignment loss of one micro-batch (Eq. private_objective)."""
    steps = len(share.plan.steps)
    if alignment.ramp_counts == "micro_batches":
        return micro_batch_ramp(group.counter, steps, alignment.ramp_fraction)
    return ramp(share.step, steps, alignment.ramp_fraction)


def build_batch(
    shares: list[Share],
    settings: Optimisation,
    alignment: WeightedAlignment | None,
    dropout: float,
    device: torch.device,
) -> Batch:
    """Pack the micro-batches of ``shares`` into one row.

    Each client's run is filled up with padding, which nothing predicts and no style state holds. No piece of it is
    longer than the client's longest, so that none goes beyond the model's context.
    """
    tokens: list[np.ndarray] = []
    lengths: list[int] = []
    predicting: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    gates: list[np.ndarray] = []
    entries: list[MaskEntry] = []
    runs: list[int] = []
    counts: list[int] = []
    needed: list[np.ndarray] = []
    place = 0
    for share in shares:
        task, first, count, longest = share.plan.task, place, 0, 0
        used: list[np.ndarray] = []
        for group in share.groups:
            entries.append(
                MaskEntry(
                    task.stage_seed,
                    group.counter,
                    place,
                    tuple(len(task.pieces[index]) for index in group.indices),
                    share.part,
                )
            )
            for index in share.indices(group):
                piece = task.pieces[index]
                size, predicted = len(piece), predicted_tokens(piece, settings)
                tokens.append(piece.tokens)
                lengths.append(size)
                predicting.append(np.arange(size - predicted - 1, size - 1) + place)
                labels.append(piece.tokens[size - predicted :])
                pooled = size if alignment is None else response_start(piece, settings)
                used += [predicting[-1], np.arange(pooled, size) + place]
                if task.gates is not None:
                    gates.append(np.full(size, task.gates[index], dtype=np.float32))
                count += predicted
                place += size
                longest = max(longest, size)
        padding = -(place - first) % _MULTIPLE
        if padding:
            tokens.append(np.zeros(padding, dtype=np.int32))
            gates.append(np.zeros(padding, dtype=np.float32))
            lengths += [min(longest, padding - start) for start in range(0, padding, longest)]
            place += padding
        runs.append(place - first)
        counts.append(count)
        needed.append(_filled_up(np.concatenate(used), first, place))
    weights = [1.0 / share.plan.supervised_tokens[share.step] for share in shares]

    def tensor(parts: Sequence[np.ndarray], dtype: type) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(parts).astype(dtype)).to(device)

    batch = Batch(
        shares=shares,
        tokens=tensor(tokens, np.int64).unsqueeze(0),
        packing=Packing(tuple(lengths), device),
        runs=Runs(runs, device),
        positions=torch.tensor([share.position for share in shares], device=device),
        predicting=tensor(predicting, np.int64),
        labels=tensor(labels, np.int64),
        token_weights=torch.from_numpy(np.repeat(np.asarray(weights, dtype=np.float32), counts)).to(device),
        counts=torch.tensor(counts, device=device),
        masks=DropoutMasks(entries, place, dropout, device) if dropout else None,
        gates=tensor(gates, np.float32) if shares[0].plan.task.gates is not None else None,
        needed=None
        if sum(map(len, needed)) == place
        else Needed(tensor(needed, np.int64), Runs(list(map(len, needed)), device)),
    )
    if alignment is not None:
        batch.pooling = _pooling(batch, entries, settings, alignment, device)
    return batch


def _filled_up(used: np.ndarray, first: int, end: int) -> np.ndarray:
    """Return the ``used`` tokens of a client's run [``first``, ``end``), and others up to a multiple, in order."""
    taken = np.zeros(end - first, dtype=bool)
    taken[used - first] = True
    others = np.flatnonzero(~taken)
    taken[others[: -int(taken.sum()) % _MULTIPLE]] = True
    return np.flatnonzero(taken) + first


def _pooling(
    batch: Batch,
    entries: Sequence[MaskEntry],
    settings: Optimisation,
    alignment: WeightedAlignment,
    device: torch.device,
) -> Pooling:
    """Return what pools the states of labelled positions: the state at each position whose own label is not ignored.

    A client with fewer states than another has empty ones of weight 0. Of a micro-batch that is cut, each part pools
    its own positions into the one state of the minibatch, whose scale, weight and mask are those of the whole.
    """
    whole = alignment.pooling == "minibatch"
    per_client = [sum(1 if whole else len(share.indices(group)) for group in share.groups) for share in batch.shares]
    shape = (len(batch.shares), max(per_client))
    pooling = np.zeros((*shape, batch.tokens.shape[1]), dtype=np.float32)
    scales, state_weights, kappas = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    head_masks = torch.zeros(*shape, alignment.hidden)
    places = iter(entry.first for entry in entries)
    for k, share in enumerate(batch.shares):
        task = share.plan.task
        micro_batches = len(share.plan.steps[share.step])
        state = 0
        for group in share.groups:
            starts = [response_start(task.pieces[index], settings) for index in group.indices]
            sizes = [len(task.pieces[index]) for index in group.indices]
            supervised = [size - start for size, start in zip(sizes, starts, strict=True)]
            scale, valid = pooling_scales(supervised, alignment)
            # The step's alignment loss is the mean over its micro-batches, each the mean over its valid states.
            weight = valid / max(int(valid.sum()), 1) / micro_batches
            own = slice(None) if whole else share.part
            states = slice(state, state + len(scale[own]))
            scales[k, states] = scale[own]
            state_weights[k, states] = weight[own]
            kappas[k, states] = kappa_of(share, group, alignment)
            place = next(places)
            for row, (start, size) in enumerate(zip(starts[share.part], sizes[share.part], strict=True)):
                pooling[k, state if whole else state + row, place + start : place + size] = 1.0
                place += size
            if alignment.dropout:
                head_masks[k, states] = head_dropout(task.stage_seed, group.counter, len(valid), alignment)[own]
            state = states.stop

    def tensor(values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(device)

    pooled = tensor(pooling.reshape(-1, pooling.shape[-1]))
    masks = head_masks.to(device) if alignment.dropout else None
    return Pooling(pooled, tensor(scales), tensor(state_weights), tensor(kappas), masks)
