"""Which micro-batches run in one forward pass: as many as memory has room for, of as few clients as possible."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from favor.lm.batch_limits import Widths
from favor.lm.forward import Share
from favor.lm.settings import PASS_BYTES, STACK_BYTES, Optimisation
from favor.lm.tasks import ClientTask, Group, Plan

# Tokens of one forward pass where the caller sets no number of rows: what stays in a processor's cache, and what fills
# a GPU.
_TOKENS_PER_PASS = {"cpu": 2048, "cuda": 8192}
# A pass of so many tokens, all layers computed once, takes less time per token than a full one with layers computed
# twice: half as much arithmetic again costs more than weights unpacked four times as often (benchmarks/README.md).
_SMALL_PASS = 2048
# The share of a GPU's memory that the values of a stack may take. More clients at once would not run faster: the steps
# of a few fill a pass. On a small card larger passes do.
_STACK_SHARE = 0.1


def clients_held(device: torch.device, size: int, task: ClientTask) -> int:
    """Return how many clients like ``task``, with adapters of ``size`` numbers, a stack holds: at least one.

    A client takes so many float32 vectors: values, gradients and two moments; a frozen offset and its sum with the
    values; a companion; a correction and a sum of gradients.
    """
    memory = STACK_BYTES
    if device.type != "cpu":
        memory = int(_STACK_SHARE * torch.cuda.get_device_properties(device).total_memory)
    beside = 2 * (task.offset is not None) + (task.companion is not None) + 2 * (task.correction is not None)
    return max(1, memory // (4 * size * (4 + beside)))


def bytes_per_token(decoder: nn.Module) -> int:
    """Return about what training keeps of a token: what every linear layer reads and gives, and its dropout mask."""
    layers = [module for module in decoder.modules() if isinstance(module, nn.Linear)]
    size = next(decoder.parameters()).element_size()
    return sum(size * (layer.in_features + layer.out_features) + layer.in_features for layer in layers)


class Room:
    """How much one forward pass holds: at most ``max_rows`` rows, or else so many tokens, divided by ``widths``.

    On a processor the tokens are at most those whose ``token_bytes`` make ``PASS_BYTES``. ``rows`` is how many rows
    the pass at work holds, for whoever has to cut it.
    """

    def __init__(
        self,
        device: torch.device,
        settings: Optimisation,
        max_rows: int | None,
        widths: Widths,
        token_bytes: int = 1,
    ) -> None:
        self.tokens = _TOKENS_PER_PASS["cpu" if device.type == "cpu" else "cuda"]
        if device.type == "cpu":
            self.tokens = min(self.tokens, max(1, PASS_BYTES // token_bytes))
        self.settings, self.max_rows, self.widths = settings, max_rows, widths
        self.rows = self._size = self._wanted = 0

    def say(self) -> None:
        """Print what a pass holds from here on, as words that no fingerprint holds."""
        print(
            f"GPU memory is short: 1/{self.widths.divisor} of the tokens at once,",
            {None: "no layer", 1: "every layer"}.get(self.recomputed, f"one layer in {self.recomputed}"),
            "computed twice from here on",
            file=sys.stderr,
            flush=True,
        )

    @property
    def recomputed(self) -> int | None:
        """Every how many layers one is computed again in the backward pass; None: no layer."""
        fixed = {"on": 1, "off": None}
        wanted = self.settings.gradient_checkpointing
        return STEPS[self.widths.recomputed] if wanted == "auto" else fixed[wanted]

    def passes(self, plans: Sequence[Plan], step: int, active: Sequence[int]) -> Iterator[list[list[Share]]]:
        """Yield what runs together in a step: micro-batches of one client after another, while there is room.

        Where there is no room even for one, its parts are yielded, all of them at once; else there is one part.
        """
        shares: list[Share] = []
        filled = 0
        for position in active:
            plan = plans[position]
            for group in plan.steps[step]:
                alone = Share(position, plan, step, [group])
                size = self.size(alone, group)
                room = self.widths.rows(self.wanted(size))
                if shares and filled + size > room:
                    yield self._at_work([shares])
                    shares, filled = [], 0
                if size > room:
                    yield self._at_work([[part] for part in self._parts(alone, room)])
                    continue
                if shares and shares[-1].position == position:
                    shares[-1].groups.append(group)
                else:
                    shares.append(alone)
                filled += size
        if shares:
            yield self._at_work([shares])

    def size(self, share: Share, group: Group) -> int:
        """Return what a micro-batch, or its part, takes of a pass: rows where the caller limits rows, else tokens."""
        indices = share.indices(group)
        return len(indices) if self.max_rows else sum(len(share.plan.task.pieces[index]) for index in indices)

    def wanted(self, size: int) -> int:
        """Return how much a pass holds while memory suffices; a micro-batch of ``size`` unless rows are limited."""
        return self.max_rows or max(size, self.tokens)

    def narrow(self, clients: int) -> bool:
        """Make room for less than the pass at work; False where only a smaller stack than of ``clients`` can help.

        Passes shrink to :data:`_SMALL_PASS` tokens, or to one micro-batch where rows are limited, before layers are
        computed twice. Where every layer is, passes are full again, and shrink if need be. A stack is halved before
        passes hold no micro-batch, which costs aligned stages a second forward pass.
        """
        widths = self.widths
        if self.settings.gradient_checkpointing == "auto" and widths.recomputed < len(STEPS) - 1:
            small = self.settings.micro_batch if self.max_rows else _SMALL_PASS
            if widths.recomputed == 0 and self._size > small:
                return widths.narrow(self._wanted, self._size)
            widths.recomputed += 1
            if STEPS[widths.recomputed] == 1:
                widths.divisor = 1
            return True
        if self.rows <= 1 or (clients > 1 and self.rows <= self.settings.micro_batch):
            return False
        return widths.narrow(self._wanted, self._size)

    def _at_work(self, parts: list[list[Share]]) -> list[list[Share]]:
        sizes = [[self.size(share, group) for share in shares for group in share.groups] for shares in parts]
        self.rows = max(sum(len(s.indices(group)) for s in shares for group in s.groups) for shares in parts)
        self._size = max(map(sum, sizes))
        self._wanted = self.wanted(max(map(max, sizes)))
        return parts

    def _parts(self, share: Share, room: int) -> list[Share]:
        """Cut a share of one micro-batch into parts that take at most ``room``, or are one row."""
        (group,) = share.groups
        bounds = [0]
        for end in range(1, len(group.indices) + 1):
            part = replace(share, part=slice(bounds[-1], end))
            if end - bounds[-1] > 1 and self.size(part, group) > room:
                bounds.append(end - 1)
        bounds.append(len(group.indices))
        return [replace(share, part=slice(start, end)) for start, end in pairwise(bounds)]


# Which layers, from most memory to least: none, every second one, every one.
STEPS = (None, 2, 1)


@contextmanager
def recomputation(model: Any, every: int | None) -> Iterator[None]:
    """Compute every ``every``-th decoder layer of a Hugging Face model again in backward passes; None: no layer.

    A backward pass takes place in the context of its forward pass.
    """
    if every is None:
        yield
        return
    from transformers.modeling_layers import GradientCheckpointingLayer

    model.activation_checkpointing_enable(
        activation_checkpointing_kwargs={"use_reentrant": False}, every_n_layers=every
    )
    layers = [
        module
        for module in model.modules()
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing
    ]
    for layer in layers:
        # The layer's own flag switches recomputation on; its parts stay in evaluation mode (no dropout of the base).
        layer.training = True
    try:
        yield
    finally:
        model.activation_checkpointing_disable()
        for layer in layers:
            layer.training = False
