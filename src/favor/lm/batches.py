"""From a text's tokens to training pieces, and from pieces to optimiser steps and micro-batches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from favor.foundation.seeds import numpy_generator

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
