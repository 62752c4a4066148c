"""One FAVoR seed at the paper's size, as the benchmarks assume it: a corpus's pieces, its jobs, and their padding."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from favor.config.checks import MOST_CLIENTS_PER_JOB
from favor.lm.batch_limits import Widths
from favor.lm.forward import build_batch
from favor.lm.memory_budget import Room
from favor.lm.settings import Optimisation
from favor.lm.tasks import ClientTask, Piece, Plan, make_plan

SETTINGS = Optimisation(supervised="response", warmup_counts_from=1)
# The corpus assumed: log-normal posts cut at 1,024 tokens, shares of clients falling as rank^-0.7.
PIECES, MEAN, SIGMA, SKEW, CLIENTS, ROUNDS, SAMPLED = 4522, 302.0, 1.0, 0.7, 50, 6, 12
# Seconds from a job's start to its first pass: Snakemake, imports (3 s of processor time), CUDA, 2 GB of base. Assumed.
START = 10
# What one generation of the clients' prompts decodes: rows, and steps.
ROWS, STEPS = 200, 220


def corpus(seed: int = 1) -> list[list[int]]:
    """Return the lengths in tokens of every client's pieces."""
    generator = np.random.default_rng(seed)
    lengths = np.clip(generator.lognormal(np.log(MEAN) - SIGMA**2 / 2, SIGMA, PIECES), 16, SETTINGS.max_length)
    shares = np.arange(1, CLIENTS + 1) ** -SKEW
    bounds = np.round(np.cumsum(shares / shares.sum()) * PIECES).astype(int)[:-1]
    return [part.astype(int).tolist() for part in np.split(lengths, bounds)]


def plans(lengths: Sequence[Sequence[int]], settings: Optimisation) -> list[Plan]:
    """Return a stage's plan of every client, over pieces of zeros."""
    made = []
    for number, own in enumerate(lengths):
        pieces = [Piece(np.zeros(length, dtype=np.int32), min(96, length // 2), "") for length in own]
        made.append(make_plan(ClientTask(str(number), pieces, {}, 1, number), settings))
    return made


def padding(stage: Sequence[Plan], together: int, device: torch.device) -> float:
    """Return padded / real tokens of one epoch of a stage with so many clients ``together`` in a job."""
    room = Room(device, SETTINGS, None, Widths())
    padded = real = 0
    for shares in _passes(room, stage, together):
        batch = build_batch(shares, SETTINGS, None, 0.0, torch.device("meta" if device.type == "cuda" else device))
        padded += batch.tokens.numel()
        real += sum(len(s.plan.task.pieces[i]) for s in shares for g in s.groups for i in s.indices(g))
    return padded / real


def _passes(room: Room, stage: Sequence[Plan], together: int) -> Iterator[Sequence[Any]]:
    """Yield every pass of a stage's epoch, a micro-batch that is cut in parts, with ``together`` clients in a job."""
    for first in range(0, len(stage), together):
        members = stage[first : first + together]
        for step in range(max(len(plan.steps) for plan in members)):
            active = [position for position, plan in enumerate(members) if step < len(plan.steps)]
            for parts in room.passes(members, step, active):
                yield from parts


def jobs() -> int:
    """Return how many jobs of one FAVoR seed load the base: training, and one of generation."""
    return ROUNDS * math.ceil(SAMPLED / MOST_CLIENTS_PER_JOB) + math.ceil(CLIENTS / MOST_CLIENTS_PER_JOB) + 1
