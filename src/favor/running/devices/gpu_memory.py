"""GPU memory that runs out: how it is recognised, and batches that are halved until they fit."""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import torch

from favor.foundation.errors import UserError

T = TypeVar("T")
Item = TypeVar("Item")

# What CUDA says where memory that torch does not manage runs out, a library's workspace for one: plain RuntimeErrors.
EXHAUSTED = ("CUBLAS_STATUS_ALLOC_FAILED", "CUDA error: out of memory")


def attempt(action: Callable[[], T]) -> T | None:
    """Return what ``action`` returns, or None where the GPU's memory ran out; what it held is then freed."""
    try:
        return action()
    except RuntimeError as error:
        if not isinstance(error, torch.cuda.OutOfMemoryError) and not any(text in str(error) for text in EXHAUSTED):
            raise
        # Only after this block does nothing hold the frames of the failed call, and with them their tensors.
    gc.collect()
    torch.cuda.empty_cache()
    return None


def fitting_batches(
    items: Sequence[Item], size: int, work: Callable[[Sequence[Item]], T], what: str
) -> Iterator[tuple[Sequence[Item], T]]:
    """Yield (batch, what ``work`` returns of it) for batches of ``items`` in order: ``size`` each, or as many as fit.

    ``what`` names an item. Raises ``UserError`` where memory does not hold one.
    """
    start = 0
    while start < len(items):
        batch = items[start : start + size]
        result = attempt(partial(work, batch))
        if result is not None:
            yield batch, result
            start += len(batch)
        elif len(batch) == 1:
            raise UserError(f"one {what} does not fit in GPU memory; stop other work on the GPU, or shorten it")
        else:
            size = (len(batch) + 1) // 2
            print(f"GPU memory is short: {size} instead of {len(batch)} at once from here on", file=sys.stderr)
