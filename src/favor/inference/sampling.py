"""Sampled continuations: every token is drawn by a number of a named stream, so that text depends on nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from favor.foundation.seeds import numpy_generator

Stream = tuple[int, str, str, int]  # seed, method, prompt, sample


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn: ``temperature`` divides the logits.

    ``top_p``: among the most probable tokens that together have at least this probability (Holtzman et al. 2020, "The
    Curious Case of Neural Text Degeneration").
    """

    temperature: float
    top_p: float


def draws(streams: Sequence[Stream], tokens: int) -> torch.Tensor:
    """Return numbers in [0, 1), float64 [streams, tokens]: row by row those of the stream of that name.

    A stream depends on its name alone: not on the batch, its order or the device.
    """
    rows = [
        numpy_generator(seed, "continuation", method, prompt, sample).random(tokens)
        for seed, method, prompt, sample in streams
    ]
    return torch.from_numpy(np.stack(rows))


def sampled(logits: torch.Tensor, drawn: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return one token per row of ``logits`` [n, vocabulary]: the inverse distribution function at ``drawn`` [n].

    Tokens stand in order of falling probability, equal ones by their ids, and the first ones that reach ``top_p`` are
    kept; the token is the first whose cumulative probability exceeds ``drawn`` times that of all kept ones.
    """
    probabilities = torch.softmax(logits.double() / sampling.temperature, dim=-1)
    ordered, tokens = probabilities.sort(dim=-1, descending=True, stable=True)
    cumulative = ordered.cumsum(dim=-1)
    # A token is kept where those before it do not reach top_p; the first one always.
    kept = ((cumulative - ordered) < sampling.top_p).sum(dim=-1, keepdim=True)
    mass = cumulative.gather(1, kept - 1)
    place = (cumulative <= drawn[:, None] * mass).sum(dim=-1, keepdim=True)
    return tokens.gather(1, torch.minimum(place, kept - 1))[:, 0]
