"""What counts as a GPU without memory, and batches that are halved until they fit."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from favor.encoders.backbones import by_length
from favor.foundation.errors import UserError
from favor.running.devices.gpu_memory import attempt, fitting_batches


def holds(rows, seen) -> Callable[..., int]:
    """Work that needs memory for each item, where ``rows`` fit."""

    def work(batch) -> int:
        seen.append(len(batch))
        if len(batch) > rows:
            raise torch.cuda.OutOfMemoryError("no room")
        return sum(batch)

    return work


def raising(error) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        torch.AcceleratorError("CUDA error: out of memory"),
    ],
)
def test_every_way_that_a_gpu_says_so(error) -> None:
    assert attempt(raising(error)) is None


@pytest.mark.parametrize("text", ["CUDA error: device-side assert triggered", "shapes cannot be multiplied"])
def test_another_error_is_none_of_memory(text) -> None:
    with pytest.raises(RuntimeError, match=text):
        attempt(raising(RuntimeError(text)))


def test_batches_are_halved_and_every_item_is_done_once_in_order(capsys) -> None:
    seen = []
    found = list(fitting_batches(range(10), 8, holds(3, seen), "text"))
    assert seen == [8, 4, 2, 2, 2, 2, 2]
    assert [(list(batch), value) for batch, value in found] == [
        ([0, 1], 1), ([2, 3], 5), ([4, 5], 9), ([6, 7], 13), ([8, 9], 17)
    ]  # fmt: skip
    assert capsys.readouterr().err.count("GPU memory is short") == 2


def test_one_item_that_does_not_fit_is_one_line() -> None:
    with pytest.raises(UserError, match="one text does not fit in GPU memory"):
        list(fitting_batches([1, 2], 2, holds(0, []), "text"))


def test_an_encoder_goes_on_in_smaller_batches() -> None:
    texts, distinct = ["aa", "b", "cccc", "b", "ddd", "eeeee"], ["aa", "b", "cccc", "ddd", "eeeee"]
    rows = []

    def encode(chosen) -> np.ndarray:
        rows.append(len(chosen))
        if len(chosen) > 2:
            raise torch.cuda.OutOfMemoryError("no room")
        return np.array([[ord(distinct[place][0]), len(distinct[place])] for place in chosen])

    found = by_length(texts, distinct, list(map(len, distinct)), encode, 2, 4)
    assert rows == [4, 2, 2, 1]
    assert found.tolist() == [[ord(text[0]), len(text)] for text in texts]
    assert found.dtype == np.float32
