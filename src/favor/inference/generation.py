"""Greedy continuation of prompts under many adapters in one batch, with a key-value cache."""

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from favor.foundation.errors import UserError
from favor.inference.decoding import Batch, Choice, GrowingSteps, StaticSteps, static_fits
from favor.inference.decoding_stack import DecodingStack
from favor.inference.sampling import Sampling, Stream, draws, sampled
from favor.lm.attention import shared_heads
from favor.lm.base import BaseModel
from favor.lm.batch_limits import Widths
from favor.lm.lora import LoraState
from favor.lm.mixture import gate_layout
from favor.lm.settings import Lora
from favor.lm.stack import Component, Factors, Layout, LoraStack
from favor.running.devices.gpu_memory import attempt, fitting_batches
from favor.running.jobs.progress import Progress

# After how many steps it is asked whether every row has ended. The question waits for all that a GPU was given.
END_TEST_STEPS = {"cuda": 16, "cpu": 1}
_STATES_AT_ONCE = 32  # rows of a batch that is read and not continued
COMMON_ROWS = 16  # prompts of one length that make batches without padding


@dataclass(frozen=True)
class GenerationRequest:
    """One prompt under one adapter (``state`` None: the base alone).

    With ``companion`` and ``gate`` g the adapters' output is g * companion + (1 - g) * state (FedDPA); with
    ``token_gate``, vectors u by module, 1 - g is sigmoid(u x) at every token of every module (FedALT). Requests that
    hold the same state objects share one slot of the stack. ``stream``: name of the numbers that a sampled
    continuation is drawn with.
    """

    name: str
    prompt_tokens: Sequence[int]
    state: LoraState | None = None
    companion: LoraState | None = None
    gate: float = 0.0
    stream: Stream | None = None
    token_gate: LoraState | None = None

    @property
    def adapter(self) -> tuple[int, int, int]:
        """What tells its adapter, or pair of them, from another."""
        return id(self.state), id(self.companion), id(self.token_gate)


def generate(
    base: BaseModel,
    lora: Lora,
    requests: Sequence[GenerationRequest],
    max_new_tokens: int = 220,
    repetition_penalty: float = 1.1,
    rows_per_batch: int = 256,
    progress: Progress | None = None,
    widths: Widths | None = None,
    sampling: Sampling | None = None,
) -> list[list[int]]:
    """Return each request's new tokens (without the end token) in the order of ``requests``: greedy ones, or sampled.

    Text is that of ``transformers.generate`` on the one prompt and adapter: greedy, the repetition penalty over
    prompt and continuation, no padding seen by it or by attention, stopping at the model's end tokens.
    ``rows_per_batch`` bounds memory; rows are batched in a fixed order (by prompt length, then as given). On a GPU that
    runs out of memory it is halved for what is not yet generated; ``widths`` holds what was found to fit: it is where
    the call begins, and is changed in place.

    Raises ``UserError`` where a prompt is empty or leaves no room for the continuation in the model's context, and
    where memory does not hold one row.
    """
    for request in requests:
        if not 0 < len(request.prompt_tokens) <= base.context - max_new_tokens:
            raise UserError(
                f"{request.name}: a prompt of {len(request.prompt_tokens)} tokens and {max_new_tokens} new ones do not "
                f"fit the model's context of {base.context} tokens; shorten the prefix or max_new_tokens"
            )
    results: dict[int, list[int]] = {}
    widths = widths or Widths()
    stack = DecodingStack(base.model, lora)
    with stack.attached(), torch.inference_mode():
        while len(results) < len(requests):
            waiting = [index for index in range(len(requests)) if index not in results]
            for batch in _batches([requests[index] for index in waiting], widths.rows(rows_per_batch)):
                slots = [[waiting[place] for place in slot] for slot in batch]
                given = (base, stack, requests, slots, max_new_tokens, repetition_penalty, sampling)
                outputs = attempt(partial(_continue, *given))
                if outputs is None:
                    rows = len(slots) * len(slots[0])
                    if not widths.narrow(rows_per_batch, rows):
                        raise UserError(
                            f"{requests[slots[0][0]].name}: one continuation does not fit in GPU memory; lower "
                            "max_new_tokens or shorten the prefix"
                        )
                    print(f"GPU memory is short: fewer than {rows} rows at once from here on", file=sys.stderr)
                    break
                results |= outputs
                if progress is not None:
                    progress.update(len(outputs))
    return [results[index] for index in range(len(requests))]


def _continue(
    base: BaseModel,
    stack: LoraStack,
    requests: Sequence[GenerationRequest],
    slots: list[list[int]],
    max_new_tokens: int,
    repetition_penalty: float,
    sampling: Sampling | None = None,
) -> dict[int, list[int]]:
    """Return the continuation of every request in a batch's slots, by its index."""
    rows = [index for slot in slots for index in slot]
    firsts = [requests[slot[0]] for slot in slots]
    gates = torch.tensor([requests[index].gate for index in rows], device=base.device)
    stack.set(mixed_components(base, stack, [(one.state, one.companion, one.token_gate) for one in firsts], gates))
    prompts = [requests[index].prompt_tokens for index in rows]
    choose: Choice | None = None
    if sampling is not None:
        streams = [requests[index].stream for index in rows]
        drawn = draws([stream for stream in streams if stream is not None], max_new_tokens).to(base.device)
        choose = partial(_drawn, drawn, sampling)
    # A slot short of rows repeats its last one, with the same result.
    return dict(zip(rows, _decode(base, prompts, max_new_tokens, repetition_penalty, choose), strict=True))


def _most_probable(logits: torch.Tensor, _step: int) -> torch.Tensor:
    return logits.argmax(dim=-1)


def _drawn(drawn: torch.Tensor, sampling: Sampling, logits: torch.Tensor, step: int) -> torch.Tensor:
    return sampled(logits, drawn[:, step], sampling)


def last_token_states(
    base: BaseModel,
    lora: Lora,
    state: LoraState,
    sequences: Sequence[Sequence[int]],
) -> np.ndarray:
    """Return the final state at each sequence's last token under adapter ``state``, float32 [n, d] (FedDPA's gate).

    On a GPU that runs out of memory batches are halved. Raises ``UserError`` where it does not hold one row.
    """
    states = np.empty((len(sequences), base.hidden_size), dtype=np.float32)
    longest_first = sorted(range(len(sequences)), key=lambda index: -len(sequences[index]))
    stack = LoraStack(base.model, lora)
    with stack.attached(), torch.inference_mode():
        stack.set([Component(stacked_factors(base, stack, [state]))])
        for rows, found in fitting_batches(
            longest_first, _STATES_AT_ONCE, lambda rows: _last_states(base, [sequences[row] for row in rows]), "prompt"
        ):
            states[rows] = found
    return states


def _last_states(base: BaseModel, sequences: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the final states [n, d] at the last tokens of one batch."""
    lengths = [len(sequence) for sequence in sequences]
    tokens = np.zeros((len(sequences), max(lengths)), dtype=np.int64)
    for row, sequence in enumerate(sequences):
        tokens[row, : lengths[row]] = sequence
    final = base.final_states(torch.from_numpy(tokens).to(base.device))
    return final[torch.arange(len(sequences)), torch.tensor(lengths) - 1].float().cpu().numpy()


def _batches(requests: Sequence[GenerationRequest], rows_per_batch: int) -> list[list[list[int]]]:
    """Return batches of slots of row indices: a slot is one adapter, slots of a batch have equally many rows.

    A slot short of rows repeats its last one. Prompts of one length go together, so that nothing is padded; lengths
    that are too rare (:data:`COMMON_ROWS`, or a quarter of a smaller batch) share padded ones.
    """
    by_length = Counter(len(request.prompt_tokens) for request in requests)
    slots: dict[tuple[int, int, int, int], list[int]] = {}
    for index, request in sorted(enumerate(requests), key=lambda item: len(item[1].prompt_tokens)):
        length = len(request.prompt_tokens)
        common = by_length[length] >= min(COMMON_ROWS, rows_per_batch / 4)
        slots.setdefault((length if common else 0, *request.adapter), []).append(index)
    batches: list[list[list[int]]] = []
    previous = widest = 0
    for (length, *_), members in sorted(slots.items(), key=lambda item: item[0][0]):
        for start in range(0, len(members), rows_per_batch):
            rows = members[start : start + rows_per_batch]
            full = max(widest, len(rows)) * (len(batches[-1]) + 1) > rows_per_batch if batches else True
            if full or length != previous:
                batches.append([])
                widest = 0
            batches[-1].append(rows)
            previous, widest = length, max(widest, len(rows))
    for batch in batches:
        widest = max(len(rows) for rows in batch)
        for rows in batch:
            rows += rows[-1:] * (widest - len(rows))
    return batches


def mixed_components(
    base: BaseModel, stack: LoraStack, adapters: Sequence[tuple[LoraState | None, ...]], gates: torch.Tensor
) -> list[Component]:
    """Return what a pass adds of ``adapters``, (state, companion, gate per token) each, None for what one has not.

    ``gates``: the companions' weights, 0 where there is none. Beside a gate per token, an adapter without one is mixed
    with itself. Where nobody has an adapter nothing is added.
    """
    states, companions, token_gates = (list(part) for part in zip(*adapters, strict=True))
    if any(gate is not None for gate in token_gates):
        if any(companion is not None and gate is None for _, companion, gate in adapters):
            raise ValueError("a gate per token and one per text cannot be read together")
        layout = gate_layout(stack.layers)
        flat = _stacked(base, layout, token_gates)
        others = [state if companion is None else companion for state, companion, _ in adapters]
        return [
            Component(stacked_factors(base, stack, members), gates=layout.leaves(sign * flat))
            for members, sign in ((states, 1), (others, -1))
        ]
    if all(companion is None for companion in companions):
        return [Component(stacked_factors(base, stack, states))] if any(state is not None for state in states) else []
    return [
        Component(stacked_factors(base, stack, companions), gates),
        Component(stacked_factors(base, stack, states), 1.0 - gates),
    ]


def stacked_factors(base: BaseModel, stack: LoraStack, states: Sequence[LoraState | None]) -> Factors:
    """Return the factors of ``states`` (None: an adapter that changes nothing), in the model's type on its device."""
    return stack.layout.factors(_stacked(base, stack.layout, states))


def _stacked(base: BaseModel, layout: Layout, states: Sequence[LoraState | None]) -> torch.Tensor:
    """Return ``states`` as rows [states, size] in the model's type, cast once a batch; zeros for None."""
    flat = torch.zeros(len(states), layout.size, device=base.device, dtype=base.dtype)
    for row, state in enumerate(states):
        if state is not None:
            flat[row] = layout.flatten(state, base.device)
    return flat


def _decode(
    base: BaseModel,
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    repetition_penalty: float,
    choose: Choice | None,
) -> list[list[int]]:
    """Return the continuations of a batch of prompts: by ``choose``, or greedy ones."""
    rows, longest = len(prompts), max(len(prompt) for prompt in prompts)
    total = longest + max_new_tokens
    history = torch.empty(rows, total, dtype=torch.long)
    mask = torch.ones(rows, total, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        gap = longest - len(prompt)
        history[row] = prompt[0]
        history[row, gap:longest] = torch.as_tensor(np.asarray(prompt, dtype=np.int64))
        mask[row, :gap] = 0
    ends = torch.tensor(base.end_ids, dtype=torch.long, device=base.device)
    batch = Batch(history.to(base.device), mask.to(base.device), longest, ends)
    every = END_TEST_STEPS[base.device.type]
    static = choose is None and static_fits(base, total)
    steps: GrowingSteps | StaticSteps
    if static:
        steps = StaticSteps(base, batch, repetition_penalty)
    else:
        steps = GrowingSteps(base, batch, repetition_penalty, choose or _most_probable)
    # In float32 a processor gains nothing by it.
    with shared_heads(base.model) if static or base.dtype != torch.float32 else nullcontext():
        for step in range(1, max_new_tokens + 1):
            steps.advance()
            # What comes after an end is cut below.
            if step % every == 0 and bool(batch.finished.all()):
                break
    outputs = []
    for tokens in batch.history[:, longest : longest + step].tolist():
        stop = next((place for place, token in enumerate(tokens) if token in base.end_ids), len(tokens))
        outputs.append(tokens[:stop])
    return outputs
