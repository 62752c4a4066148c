"""How likely a model holds texts under many adapters: forward passes alone, packed, the adapters stacked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch

from favor.foundation.arithmetic import fast_products
from favor.lm.base import BaseModel
from favor.lm.batches import Piece
from favor.lm.generation import stacked_factors
from favor.lm.grouped import Runs
from favor.lm.lora import LoraState
from favor.lm.packing import Packing, packed_attention
from favor.lm.settings import LoraSettings
from favor.lm.stack import Component, LoraStack
from favor.running.gpu_memory import fitting_batches
from favor.running.progress import Progress

# Tokens of one forward pass, and logits held at once: what stays in a processor's cache, and what fills a GPU.
_TOKENS_PER_PASS = {"cpu": 2048, "cuda": 32768}
_CHUNK_ELEMENTS = {"cpu": 1 << 20, "cuda": 1 << 27}
_RUN_MULTIPLE = 16  # a run is filled up to it, so that few shapes occur


class Question(NamedTuple):
    """One piece under one adapter (None: the base alone). Questions with the same state object share a copy of it."""

    state: LoraState | None
    piece: Piece


class Answers(NamedTuple):
    """Of every question: ``loss``, mean -ln p of the supervised tokens, and ``least``, Min-K%++; float64 [n] each."""

    loss: np.ndarray
    least: np.ndarray


def answer(
    base: BaseModel,
    lora: LoraSettings,
    questions: Sequence[Question],
    share: float = 0.2,
    progress: Progress | None = None,
) -> Answers:
    """Read every piece under its adapter; see :class:`Answers`.

    Min-K%++ (Zhang et al. 2025) is the mean, over the ``share`` of a piece's supervised tokens where it is least, of
    (ln p(x) - mu) / sigma, with mu and sigma of ln p under the model's own distribution at that place. Neither number
    depends, beyond rounding, on what else is asked. On a GPU that runs out of memory passes are halved; raises
    ``UserError`` where it does not hold one piece, and ``ValueError`` for a piece whose first token is supervised:
    nothing in it predicts that.
    """
    if any(piece.response_start < 1 for _, piece in questions):
        raise ValueError("a piece's first token cannot be supervised")
    adapters = {id(state): place for place, state in reversed(list(enumerate(state for state, _ in questions)))}
    order = sorted(
        range(len(questions)), key=lambda row: (adapters[id(questions[row].state)], -len(questions[row].piece))
    )
    found = np.full((2, len(questions)), np.nan)
    if not order:
        return Answers(*found)
    kind = "cpu" if base.device.type == "cpu" else "cuda"
    rows = max(1, _TOKENS_PER_PASS[kind] // max(len(question.piece) for question in questions))
    stack = LoraStack(base.model, lora)
    with stack.attached(), packed_attention(base.model), torch.inference_mode():
        for done, values in fitting_batches(
            order, rows, lambda part: _read(base, stack, [questions[row] for row in part], share), "text"
        ):
            found[:, list(done)] = values
            if progress is not None:
                progress.update(len(done))
    return Answers(*found)


def _read(base: BaseModel, stack: LoraStack, questions: Sequence[Question], share: float) -> np.ndarray:
    """Return loss and Min-K%++ [2, n] of questions in the order of their adapters, in one pass."""
    runs = [list(own) for _, own in groupby(questions, key=lambda question: id(question.state))]
    tokens: list[np.ndarray] = []
    lengths: list[int] = []
    predicting: list[np.ndarray] = []
    places: list[int] = []
    place = 0
    for own in runs:
        first = place
        for _, piece in own:
            tokens.append(piece.tokens)
            lengths.append(len(piece))
            predicting.append(np.arange(piece.response_start - 1, len(piece) - 1) + place)
            place += len(piece)
        if padding := -(place - first) % _RUN_MULTIPLE:
            tokens.append(np.zeros(padding, dtype=np.int32))
            lengths.append(padding)
            place += padding
        places.append(place - first)
    packing, device = Packing(tuple(lengths), base.device), base.device
    row = torch.from_numpy(np.concatenate(tokens).astype(np.int64)).unsqueeze(0).to(device)
    labels = np.concatenate([piece.tokens[piece.response_start :] for _, piece in questions]).astype(np.int64)
    with stack.released():
        factors = stacked_factors(base, stack, [own[0].state for own in runs])
        stack.set([Component(factors)], runs=Runs(places, device))
        states = base.final_states(row, position_ids=packing.positions, packing=packing)[0]
        states = states[torch.from_numpy(np.concatenate(predicting)).to(device)]
        likelihood, surprise = _token_values(base, states, torch.from_numpy(labels).to(device))
    ends = np.cumsum([len(piece) - piece.response_start for _, piece in questions])[:-1]
    losses = [-own.mean() for own in np.split(likelihood, ends)]
    least = [np.sort(own)[: max(1, round(share * len(own)))].mean() for own in np.split(surprise, ends)]
    return np.array([losses, least])


def _token_values(base: BaseModel, states: torch.Tensor, labels: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return ln p of every label, and by how many standard deviations it is above its mean, float64 [tokens] each."""
    head = base.head
    chunk = max(1, _CHUNK_ELEMENTS["cpu" if states.device.type == "cpu" else "cuda"] // head.weight.shape[0])
    values = torch.empty(2, len(labels), dtype=torch.float64)
    for start in range(0, len(labels), chunk):
        part = slice(start, start + chunk)
        with fast_products():
            logits = head(states[part]).float()
        logs = torch.log_softmax(logits, dim=-1)
        probabilities = logs.exp()
        chosen = logs.gather(1, labels[part, None]).squeeze(1)
        mean = (probabilities * logs).sum(dim=-1)
        variance = (probabilities * (logs - mean.unsqueeze(1)).square()).sum(dim=-1)
        values[0, part] = chosen.double().cpu()
        # Without spread, where the model is certain or knows nothing, rounding alone would decide.
        values[1, part] = ((chosen - mean) / variance.clamp_min(1e-8).sqrt()).double().cpu()
    return values[0].numpy(), values[1].numpy()
