"""One token after another for all rows of a batch: over a growing cache, or on a GPU as a CUDA graph over a static one.

A GPU works for less time on a token than a processor needs to launch its operations one by one. Where every step is the
same operations on the same tensors, the GPU records them once and replays them all at one launch.
"""

import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

from favor.foundation.arithmetic import fast_products
from favor.lm.attention import multiplies_plainly
from favor.lm.base import BaseModel

# Logits [rows, vocabulary] and the number of the step -> tokens [rows].
Choice = Callable[[torch.Tensor, int], torch.Tensor]
# Models whose steps could not be recorded: it is not tried again in every batch.
_UNRECORDED: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
# Steps before a graph is recorded: libraries choose their kernels and take their workspaces in them.
_EAGER_STEPS = 2


@dataclass
class Batch:
    """The rows of a batch, padded on the left where their prompts' lengths differ.

    ``history`` [rows, prompt + new] holds the prompts, and what is chosen after them; where padding stands and what is
    yet to come, it repeats the row's first token, so that the repetition penalty sees no foreign one. ``mask`` is 0 on
    padding and ``positions`` count from the first token. ``finished`` [rows]: an end token was chosen.
    """

    history: torch.Tensor
    mask: torch.Tensor
    longest: int
    ends: torch.Tensor
    positions: torch.Tensor = field(init=False)
    finished: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.positions = (self.mask.cumsum(1) - 1).clamp_(min=0)
        self.finished = torch.zeros(len(self.history), dtype=torch.bool, device=self.history.device)

    @cached_property
    def padded(self) -> bool:
        """Whether prompts differ in length."""
        return bool((self.mask == 0).any())

    def end(self, chosen: torch.Tensor) -> None:
        """Take note of the rows that ended with the tokens chosen [rows]."""
        self.finished |= (chosen[:, None] == self.ends).any(dim=1)


class GrowingSteps:
    """Decoding over a cache that holds what was read so far, and no more."""

    def __init__(self, base: BaseModel, batch: Batch, penalty: float, choose: Choice) -> None:
        self.base, self.batch, self.penalty, self.choose = base, batch, penalty, choose
        self.cache = _cache(base, lambda: _GrowingLayer(batch.history.shape[1]))
        self.length = batch.longest
        self.current = batch.history[:, : self.length]

    def advance(self) -> None:
        """Choose the next token of every row."""
        batch, length = self.batch, self.length
        options: dict[str, object] = {"position_ids": batch.positions[:, length - self.current.shape[1] : length]}
        if batch.padded:
            options["attention_mask"] = batch.mask[:, :length]
        logits = _logits(self.base, self.current, self.cache, options)
        penalised = _penalise(logits, batch.history[:, :length], self.penalty)
        chosen = self.choose(penalised, length - batch.longest)
        batch.history[:, length] = chosen
        batch.end(chosen)
        self.current = batch.history[:, length : length + 1]
        self.length += 1


class StaticSteps:
    """Greedy decoding over a cache of full size: after the prompt, every step is the same operations.

    On a GPU they are recorded as a CUDA graph. The tokens of its first replay are compared with those of a plain step,
    and the graph is dropped where they differ, or where an operation cannot be recorded. No GPU has run this yet.
    """

    def __init__(self, base: BaseModel, batch: Batch, penalty: float) -> None:
        rows, total = batch.history.shape
        self.base, self.batch, self.penalty = base, batch, penalty
        self.place = torch.full((1,), batch.longest - 1, device=batch.history.device)  # of the newest token
        # The positions that the next pass reads. The cache holds this list, and not the steps, which hold the cache: a
        # cycle would keep a batch's cache and graph until the garbage is collected.
        self.read = read = [torch.arange(batch.longest, device=batch.history.device)]
        self.cache = _cache(base, lambda: _StaticLayer(total, read))
        self.visible = torch.zeros(rows, 1, 1, total, dtype=torch.bool, device=batch.history.device)
        self.taken = 0
        self.graph: Any = None
        self.records = batch.history.is_cuda and base.model not in _UNRECORDED

    def advance(self) -> None:
        """Choose the next token of every row."""
        if self.taken == 0:
            self._read_prompts()
        elif self.graph is not None:
            self.graph.replay()
        elif self.records and self.taken > _EAGER_STEPS:
            self._record()
        else:
            self._step()
        self.taken += 1

    def _read_prompts(self) -> None:
        longest, batch = self.batch.longest, self.batch
        prompt = batch.mask[:, :longest].bool()
        self.visible[..., :longest] = prompt[:, None, None, :]
        # A row of padding sees itself: a softmax over nothing is not a number, and would spread.
        itself = torch.eye(longest, dtype=torch.bool, device=prompt.device)
        causal = torch.ones_like(itself).tril()
        seen = torch.zeros(len(prompt), 1, longest, self.visible.shape[-1], dtype=torch.bool, device=prompt.device)
        seen[..., :longest] = causal & prompt[:, None, None, :] | itself
        self._choose(batch.history[:, :longest], seen, batch.positions[:, :longest])
        self.read[0] = self.place

    def _step(self) -> None:
        self.visible.index_fill_(3, self.place, True)
        current, position = (each.index_select(1, self.place) for each in (self.batch.history, self.batch.positions))
        self._choose(current, self.visible, position)

    def _choose(self, tokens: torch.Tensor, seen: torch.Tensor, positions: torch.Tensor) -> None:
        logits = _logits(self.base, tokens, self.cache, {"position_ids": positions, "attention_mask": seen})
        # What is yet to come repeats a token of the row, which changes no penalty.
        chosen = _penalise(logits, self.batch.history, self.penalty).argmax(dim=-1)
        self.place += 1
        self.batch.history.index_copy_(1, self.place, chosen[:, None])
        self.batch.end(chosen)

    def _record(self) -> None:
        """Record a step, replay it, and keep the graph if a plain step chooses the same tokens."""
        changed = [self.place, self.visible, self.batch.history, self.batch.finished]
        before = [tensor.clone() for tensor in changed]
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        try:
            with torch.cuda.graph(graph):
                self._step()
            graph.replay()
            replayed = self.batch.history.clone()
        except torch.cuda.OutOfMemoryError:
            raise
        except RuntimeError as error:
            replayed, reason = None, str(error).splitlines()[0]
        finally:
            torch.cuda.set_stream(stream)  # a recording that fails leaves its own stream behind
        for tensor, value in zip(changed, before, strict=True):
            tensor.copy_(value)
        self._step()
        if replayed is not None and torch.equal(replayed, self.batch.history):
            self.graph = graph
            return
        self.records = False
        _UNRECORDED.add(self.base.model)
        if replayed is not None:
            reason = "its first tokens were not those of a plain step"
        print(f"generation goes on without a CUDA graph: {reason}", file=sys.stderr)


def static_fits(base: BaseModel, total: int) -> bool:
    """Return whether decoding ``total`` positions can be recorded: on a GPU, by a model that sees them all at once.

    And that attends by torch's function, which takes a mask of True and False; other functions add their mask.
    """
    configuration = base.model.config.get_text_config()
    window = getattr(configuration, "sliding_window", None)
    slides = window is not None and window < total
    rotation = getattr(configuration, "rope_parameters", None) or {}
    kinds = {rotation.get("rope_type")} | {
        part.get("rope_type") for part in rotation.values() if isinstance(part, dict)
    }
    # These look at the positions in every step, which no recording can.
    recordable = not slides and kinds.isdisjoint(("dynamic", "longrope"))
    return base.device.type == "cuda" and recordable and configuration._attn_implementation == "sdpa"


def _logits(base: BaseModel, tokens: torch.Tensor, cache: Cache, options: dict[str, object]) -> torch.Tensor:
    """Return the logits [rows, vocabulary] after the last of ``tokens`` [rows, n], float32."""
    states = base.decoder(input_ids=tokens, past_key_values=cache, use_cache=True, **options).last_hidden_state
    with fast_products():
        logits: torch.Tensor = base.head(states[:, -1]).float()
    return logits


def _penalise(logits: torch.Tensor, history: torch.Tensor, penalty: float) -> torch.Tensor:
    """Divide positive and multiply negative logits of tokens in each row's history by ``penalty``, in place."""
    if penalty == 1.0:
        return logits
    seen = logits.gather(1, history)
    return logits.scatter_(1, history, torch.where(seen < 0, seen * penalty, seen / penalty))


class _GrowingLayer(DynamicLayer):
    """One layer's keys and values [rows, heads, capacity, size], of which the first ``length`` positions are filled."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity, self.length = capacity, 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        rows, heads, _, size = key_states.shape
        if multiplies_plainly(key_states):
            # Position beside position, as a step's product with them reads: of rows as below oneDNN makes a copy.
            self._all_keys = key_states.new_empty(rows, heads, size, self.capacity).transpose(2, 3)
        else:
            self._all_keys = key_states.new_empty(rows, heads, self.capacity, size)
        self._all_values = value_states.new_empty(*value_states.shape[:2], self.capacity, value_states.shape[-1])

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        first, end = self.length == 0, self.length + key_states.shape[2]
        self._all_keys[:, :, self.length : end] = key_states
        self._all_values[:, :, self.length : end] = value_states
        self.length = end
        self.keys, self.values = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        # torch's function, which takes a prompt, reads rows.
        return (key_states, value_states) if first and multiplies_plainly(key_states) else (self.keys, self.values)


class _StaticLayer(DynamicLayer):
    """One layer's keys and values [rows, heads, capacity, size], all given at every step, filled or not.

    They are written at the positions that ``at`` holds, a tensor, so that a CUDA graph follows it.
    """

    def __init__(self, capacity: int, at: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.capacity, self.at = capacity, at

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        # Zeros: what an attention mask hides is still multiplied, by zero.
        self.keys = key_states.new_zeros(*key_states.shape[:2], self.capacity, key_states.shape[-1])
        self.values = value_states.new_zeros(*value_states.shape[:2], self.capacity, value_states.shape[-1])

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.keys.index_copy_(2, self.at[0], key_states)
        self.values.index_copy_(2, self.at[0], value_states)
        return self.keys, self.values


def _cache(base: BaseModel, layer: Callable[[], DynamicLayer]) -> Cache:
    return Cache(layers=[layer() for _ in range(base.model.config.get_text_config().num_hidden_layers)])
