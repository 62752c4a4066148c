"""How likely a model holds texts under many adapters: forward passes alone, packed, the adapters stacked."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch

from favor.foundation.arithmetic import fast_products
from favor.inference.generation import mixed_components
from favor.lm.attention import Packing, packed_attention
from favor.lm.base import BaseModel
from favor.lm.grouped import Runs
from favor.lm.lora import LoraState
from favor.lm.losses import tokens_at_once, tokens_in_cache
from favor.lm.settings import Lora
from favor.lm.stack import LoraStack
from favor.lm.tasks import Piece
from favor.running.devices.gpu_memory import fitting_batches
from favor.running.jobs.progress import Progress

# Tokens of one forward pass: what stays in a processor's cache, and what fills a GPU.
_TOKENS_PER_PASS = {"cpu": 2048, "cuda": 32768}
_RUN_MULTIPLE = 16  # a run is filled up to it, so that few shapes occur


class Question(NamedTuple):
    """One piece under one adapter (None: the base alone). Questions with the same state objects share a copy of them.

    ``companion``, ``gate`` and ``token_gate``: as a mixture generates
    (:class:`favor.inference.generation.GenerationRequest`).
    """

    state: LoraState | None
    piece: Piece
    companion: LoraState | None = None
    gate: float = 0.0
    token_gate: LoraState | None = None

    @property
    def adapter(self) -> tuple[int, int, int]:
        """What tells its adapter, or pair of them, from another."""
        return id(self.state), id(self.companion), id(self.token_gate)


class Answers(NamedTuple):
    """Of every question: ``loss``, mean -ln p of the supervised tokens, and ``least``, Min-K%++; float64 [n] each."""

    loss: np.ndarray
    least: np.ndarray


def answer(
    base: BaseModel,
    lora: Lora,
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
    found = np.full((2, len(questions)), np.nan)
    for row, tokens, surprise in _tokens(base, lora, questions, True, progress):
        found[:, row] = -tokens.mean(), np.sort(surprise)[: max(1, round(share * len(surprise)))].mean()
    return Answers(*found)


def log_likelihoods(
    base: BaseModel, lora: Lora, questions: Sequence[Question], progress: Progress | None = None
) -> list[np.ndarray]:
    """Return ln p of every supervised token of each question, float64 [tokens] each; see :func:`answer`."""
    found = {row: tokens for row, tokens, _ in _tokens(base, lora, questions, False, progress)}
    return [found[row] for row in range(len(questions))]


def _tokens(
    base: BaseModel, lora: Lora, questions: Sequence[Question], surprise: bool, progress: Progress | None
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield of every question its place, ln p of its supervised tokens, and their surprise where it is asked for."""
    if any(question.piece.response_start < 1 for question in questions):
        raise ValueError("a piece's first token cannot be supervised")
    adapters = {question.adapter: place for place, question in reversed(list(enumerate(questions)))}
    order = sorted(
        range(len(questions)), key=lambda row: (adapters[questions[row].adapter], -len(questions[row].piece))
    )
    if not order:
        return
    kind = "cpu" if base.device.type == "cpu" else "cuda"
    rows = max(1, _TOKENS_PER_PASS[kind] // max(len(question.piece) for question in questions))
    stack = LoraStack(base.model, lora)
    with stack.attached(), packed_attention(base.model), torch.inference_mode():
        read = partial(_read, base, stack, surprise=surprise)
        for done, values in fitting_batches(order, rows, lambda part: read([questions[row] for row in part]), "text"):
            for row, (tokens, surprises) in zip(done, values, strict=True):
                yield row, tokens, surprises
            if progress is not None:
                progress.update(len(done))


def _read(
    base: BaseModel, stack: LoraStack, questions: Sequence[Question], surprise: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return ln p and surprise of the tokens of questions in the order of their adapters, read in one pass."""
    runs = [list(own) for _, own in groupby(questions, key=lambda question: question.adapter)]
    tokens: list[np.ndarray] = []
    lengths: list[int] = []
    predicting: list[np.ndarray] = []
    gates: list[float] = []
    places: list[int] = []
    place = 0
    for own in runs:
        first = place
        for question in own:
            piece = question.piece
            tokens.append(piece.tokens)
            lengths.append(len(piece))
            gates.append(question.gate)
            predicting.append(np.arange(piece.response_start - 1, len(piece) - 1) + place)
            place += len(piece)
        if padding := -(place - first) % _RUN_MULTIPLE:
            tokens.append(np.zeros(padding, dtype=np.int32))
            lengths.append(padding)
            gates.append(0.0)
            place += padding
        places.append(place - first)
    packing, device = Packing(tuple(lengths), base.device), base.device
    row = torch.from_numpy(np.concatenate(tokens).astype(np.int64)).unsqueeze(0).to(device)
    labels = [question.piece.tokens[question.piece.response_start :].astype(np.int64) for question in questions]
    with stack.released():
        weight = torch.from_numpy(np.repeat(np.asarray(gates, dtype=np.float32), lengths)).to(device)
        adapters = [(own[0].state, own[0].companion, own[0].token_gate) for own in runs]
        stack.set(mixed_components(base, stack, adapters, weight), runs=Runs(places, device))
        states = base.final_states(row, position_ids=packing.positions, packing=packing)[0]
        states = states[torch.from_numpy(np.concatenate(predicting)).to(device)]
        values = _token_values(base, states, torch.from_numpy(np.concatenate(labels)).to(device), surprise)
    ends = np.cumsum([len(own) for own in labels])[:-1]
    return list(zip(*(np.split(side, ends) for side in values), strict=True))


def _token_values(
    base: BaseModel, states: torch.Tensor, labels: torch.Tensor, surprise: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return ln p of every label, and by how many standard deviations it is above its mean, float64 [tokens] each.

    Without ``surprise`` the second is not computed, and 0.
    """
    weight = base.head.weight
    values = torch.zeros(2, len(labels), dtype=torch.float64)
    parts = (tensor.split(tokens_at_once(weight)) for tensor in (states, labels, values.t()))
    for rows, targets, found in zip(*parts, strict=True):
        with fast_products():
            logits = base.head(rows)
        blocks = (tensor.split(tokens_in_cache(weight)) for tensor in (logits, targets, found))
        for own, target, value in zip(*blocks, strict=True):
            logs = torch.log_softmax(own.float(), dim=-1)
            chosen = logs.gather(1, target[:, None]).squeeze(1)
            value[:, 0] = chosen
            if not surprise:
                continue
            probabilities = logs.exp()
            mean = (probabilities * logs).sum(dim=-1)
            variance = (probabilities * (logs - mean.unsqueeze(1)).square()).sum(dim=-1)
            # Without spread, where the model is certain or knows nothing, rounding alone would decide.
            value[:, 1] = (chosen - mean) / variance.clamp_min(1e-8).sqrt()
    return values[0].numpy(), values[1].numpy()
