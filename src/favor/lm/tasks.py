"""What one client trains in one stage, from a text's tokens to pieces, steps and micro-batches, and what comes back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.lm.lora import LoraState
from favor.lm.settings import Optimisation

Steps = list[list[list[int]]]


@dataclass(frozen=True)
class Piece:
    """A window of a document: ``tokens`` (int32), supervised from position ``response_start`` on."""

    tokens: np.ndarray
    response_start: int
    document_id: str

    def __len__(self) -> int:
        return len(self.tokens)


def cut_pieces(
    token_ids: Sequence[int],
    document_id: str,
    prefix_tokens: int,
    max_length: int,
    cut: Literal["windows", "truncate"] = "windows",
    opening: Sequence[int] = (),
    given: int = 0,
) -> list[Piece]:
    """Cut one document into pieces of at most ``max_length`` tokens, each after the ``opening``.

    The first ``given`` tokens, a writing prompt, are context alone, however short the prefix is.

    "windows": successive windows overlap by ``prefix_tokens``, which are context only, so that every token after the
    document's first prefix is supervised exactly once. "truncate": the first ``max_length`` tokens alone (the released
    trainers). In a document shorter than two prefixes the second half is supervised. A document of fewer than two
    tokens gives no piece.
    """
    before, max_length = np.asarray(opening, dtype=np.int32), max_length - len(opening)
    if not 0 < prefix_tokens < max_length:
        raise ValueError("prefix_tokens must be at least 1, and with the opening under max_length")
    tokens = np.asarray(token_ids, dtype=np.int32)
    if len(tokens) < 2:
        return []
    first_response = prefix_tokens if len(tokens) >= 2 * prefix_tokens else len(tokens) // 2
    cuts = [(0, max(first_response, given))]
    start = max_length - prefix_tokens if cut == "windows" else len(tokens)
    while start + prefix_tokens < len(tokens):
        cuts.append((start, max(prefix_tokens, given - start)))
        start += max_length - prefix_tokens
    return [
        Piece(np.concatenate([before, tokens[start : start + max_length]]), len(before) + response, document_id)
        for start, response in cuts
        if start + response < min(start + max_length, len(tokens))
    ]


def stage_steps(pieces: int, epochs: float, effective_batch: int, steps_per_epoch: int | None = None) -> int:
    """Return the optimiser steps of ``epochs`` passes over ``pieces``: ceil(epochs * ceil(pieces / effective batch)).

    A fraction of a pass stops within it, after the step that reaches it (as ``transformers.Trainer`` does).
    ``steps_per_epoch`` stands for the steps of a pass, whatever the number of pieces.
    """
    return math.ceil(round(epochs * (steps_per_epoch or math.ceil(pieces / effective_batch)), 9))


def plan_steps(
    lengths: Sequence[int],
    epochs: float,
    micro_batch: int,
    accumulation: int,
    seed: int,
    group_by_length: bool = True,
    steps_per_epoch: int | None = None,
) -> Steps:
    """Return steps -> micro-batches -> indices of pieces for one stage of one client.

    Every pass shuffles again (stream: ``seed``, pass) and cuts into effective batches of micro_batch * accumulation
    pieces, the last one smaller. With ``steps_per_epoch`` passes follow one another without a break, so that every one
    of the stage's steps has a whole effective batch, however few pieces there are. With ``group_by_length`` the pieces
    of one step are sorted by falling length before micro-batches are formed, which saves padding and leaves the step's
    token mean as it is.
    """
    effective = micro_batch * accumulation
    total = stage_steps(len(lengths), epochs, effective, steps_per_epoch)
    passes = math.ceil(total * effective / len(lengths)) if steps_per_epoch else math.ceil(epochs)
    orders = [
        numpy_generator(seed, "piece order", number).permutation(len(lengths)).tolist() for number in range(passes)
    ]
    if steps_per_epoch:
        orders = [[index for order in orders for index in order]]
    steps: Steps = []
    for order in orders:
        for start in range(0, len(order), effective):
            step = order[start : start + effective]
            if group_by_length:
                step.sort(key=lambda index: -lengths[index])
            steps.append([step[first : first + micro_batch] for first in range(0, len(step), micro_batch)])
    return steps[:total]


LogRow = dict[str, float | int | str]


@dataclass(frozen=True)
class ClientTask:
    """One client's stage: where it starts, what holds it and what it aligns to.

    - ``start``: the adapter at the first step; ``offset``: a frozen adapter to which the trained residual is added,
      or None. The factors used are offset + residual, so the private stage's endpoint + residual is exact.
    - ``anchor`` and ``proximal``: the loss gains proximal * sum ||factor - anchor||_F^2 (no 1/2).
    - ``target``: the author's style target q [style], or None for no alignment.
    - ``inner_steps`` K and ``outer_rate`` rho: with K > 0 every step is taken K times on the same pieces, after which
      the anchor w moves by rho * (theta - w) towards the factors theta (pFedMe's outer step).
    - ``companion`` and ``gates``: a second, frozen adapter and a gate g per piece; the adapters' output is
      g * companion + (1 - g) * trained (FedDPA). The companion's input has no dropout. Without gates it is
      companion + trained, or, with ``weight`` a, (1 - a) * companion + a * trained, where every optimiser step moves a
      by -``weight_rate`` * dL/da within 0..1 (APFL). With ``gate``, vectors u by module (empty: zeros), a is
      sigmoid(u x) at every token of every module, and u is trained with the adapter (FedALT).
    - ``correction``: what is added to the gradient of the factors at every step, after clipping and before the
      optimiser (SCAFFOLD's c - c_i); None: nothing.
    - ``trained``: the names of the tensors that are trained, the others keeping the values of ``start``; None: all.
    - ``validation``: pieces that are read and not trained on, before the first step and after every pass (none: no
      reading), with their ``validation_gates`` where ``gates`` are; ``patience``: the passes without a lower loss on
      them after which the stage ends, with the values of its best pass (None: it runs to its end).
    - ``stage_seed`` names every random stream of the stage: shuffling, dropout, projection head.
    """

    name: str
    pieces: Sequence[Piece]
    start: LoraState
    epochs: float
    stage_seed: int
    offset: LoraState | None = None
    anchor: LoraState | None = None
    proximal: float = 0.0
    target: np.ndarray | None = None
    companion: LoraState | None = None
    gates: np.ndarray | None = None
    inner_steps: int = 0
    outer_rate: float = 0.0
    trained: frozenset[str] | None = None
    weight: float | None = None
    weight_rate: float = 0.0
    gate: LoraState | None = None
    correction: LoraState | None = None
    validation: Sequence[Piece] = ()
    validation_gates: np.ndarray | None = None
    patience: int | None = None


@dataclass
class ClientResult:
    """What a stage trained: the adapter in effect, the trained part (equal to it without an offset), and the log.

    ``displacement``: how far the anchor moved (tasks with inner steps; else None). ``weight``: the trained adapter's
    share of a mixture, ``gate``: the vectors of a gate per token, ``gradient``: the mean gradient of the factors, each
    step's weighted by its rate, clipped and not corrected (tasks that have these). The log has one row an optimiser
    step with the columns of the table ``training_log`` except stage and round.
    """

    name: str
    state: LoraState
    residual: LoraState
    log: list[LogRow]
    displacement: LoraState | None = None
    weight: float | None = None
    gate: LoraState | None = None
    gradient: LoraState | None = None


@dataclass(frozen=True)
class Group:
    """One micro-batch: which pieces, its number in the stage, and the supervised tokens they hold."""

    indices: tuple[int, ...]
    counter: int


@dataclass
class Plan:
    """The steps of one client's stage: micro-batches and supervised (predicted) tokens of each step.

    ``passes``: the steps, from 0, with which a pass over the text or the stage ends.
    """

    task: ClientTask
    steps: list[list[Group]] = field(default_factory=list)
    supervised_tokens: list[int] = field(default_factory=list)
    passes: frozenset[int] = frozenset()


def response_start(piece: Piece, settings: Optimisation) -> int:
    """Return the first position of a piece whose label is not ignored."""
    return 0 if settings.supervised == "all" else piece.response_start


def predicted_tokens(piece: Piece, settings: Optimisation) -> int:
    """Return how many tokens of a piece enter the task loss: labelled positions, less position 0 (unpredicted)."""
    return len(piece) - max(1, response_start(piece, settings))


def make_plan(task: ClientTask, settings: Optimisation) -> Plan:
    """Return the plan of a task. Raises ``UserError`` where it would train nothing, or a piece is too long."""
    lengths = [len(piece) for piece in task.pieces]
    if not task.epochs > 0 or not any(predicted_tokens(piece, settings) > 0 for piece in task.pieces):
        raise UserError(
            f"{task.name}: no supervised token to train on ({len(lengths)} pieces, {task.epochs:g} epochs); "
            "give the client more text, a shorter prefix or more epochs"
        )
    if max(lengths) > settings.max_length:
        raise UserError(f"{task.name}: a piece of {max(lengths)} tokens exceeds max_length {settings.max_length}")
    steps: Steps = plan_steps(
        lengths,
        task.epochs,
        settings.micro_batch,
        settings.accumulation,
        task.stage_seed,
        settings.group_by_length,
        settings.steps_per_epoch,
    )
    effective = settings.micro_batch * settings.accumulation
    one = stage_steps(len(lengths), 1, effective, settings.steps_per_epoch) * max(1, task.inner_steps)
    total = len(steps) * max(1, task.inner_steps)
    plan = Plan(task, passes=frozenset({*range(one - 1, total, one), total - 1}))
    numbers = count()
    for step in (step for step in steps for _ in range(max(1, task.inner_steps))):
        groups = [Group(tuple(indices), next(numbers)) for indices in step]
        plan.steps.append(groups)
        plan.supervised_tokens.append(
            sum(predicted_tokens(task.pieces[index], settings) for group in groups for index in group.indices)
        )
    return plan


def validation_plan(task: ClientTask, settings: Optimisation) -> Plan:
    """Return the plan of one reading: all of the task's validation pieces as one step of micro-batches.

    Its mean over a step's supervised tokens is then the mean over all of them. There is no step where nothing is
    supervised.
    """
    pieces, size = task.validation, settings.micro_batch
    plan = Plan(replace(task, pieces=pieces, gates=task.validation_gates))
    tokens = sum(predicted_tokens(piece, settings) for piece in pieces)
    if tokens:
        starts = range(0, len(pieces), size)
        plan.steps.append([Group(tuple(range(start, min(start + size, len(pieces)))), 0) for start in starts])
        plan.supervised_tokens.append(tokens)
    return plan


@dataclass
class EarlyStopping:
    """Which pass of a stage is kept: the one of the lowest validation loss, the first of equal ones.

    The stage ends after ``patience`` passes in a row that are not lower. ``best``: the lowest loss, in nats per token;
    ``since``: the passes after it.
    """

    patience: int
    best: float = math.inf
    since: int = 0

    def better(self, loss: float) -> bool:
        """Take the loss after a pass; return whether it is the lowest so far."""
        lower = loss < self.best
        self.best, self.since = (loss, 0) if lower else (self.best, self.since + 1)
        return lower

    @property
    def over(self) -> bool:
        """Whether the stage ends here."""
        return self.since >= self.patience
