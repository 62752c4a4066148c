"""Files that somebody else wrote: regular files only, opened once, and JSON that is what a model declares.

A link, a FIFO or a device is refused before it is read: another could point it elsewhere between two looks, and a FIFO
never ends.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from favor.foundation.errors import UserError
from favor.foundation.names import printable

if TYPE_CHECKING:
    import numpy as np

LARGEST = 64 * 2**20  # bytes of a JSON file; a plan with every tensor of a large model takes one


class Received(BaseModel):
    """JSON of others: the declared keys and no other, each of its declared type. A text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, protected_namespaces=())


Kind = TypeVar("Kind", bound=Received)


@contextmanager
def opened(path: str | Path, links: bool = False) -> Iterator[BufferedReader]:
    """Open a file of somebody else. Raises ``UserError`` where it is missing, or no regular file.

    ``links``: whether it may be a link to one, as every file in the cache of Hugging Face is.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; correct the name, or ask for the file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read as a regular file ({error.strerror}); put a copy there") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UserError(f"{path}: not a regular file; put a copy there")
    with os.fdopen(handle, "rb") as file:
        yield file


def received_bytes(path: str | Path, most: int = LARGEST, links: bool = False) -> bytes:
    """Return what a file holds. Raises ``UserError`` as :func:`opened`, and for one of more than ``most`` bytes."""
    with opened(path, links) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror}); ask for the file again") from None
    if len(content) > most:
        raise UserError(f"{path}: more than the {most:,} bytes that such a file has; ask for the file again")
    return content


def received_json(
    path: str | Path, kind: type[Kind], remedy: str, links: bool = False, content: bytes | None = None
) -> Kind:
    """Return a JSON file as ``kind``; ``content``: what was read of it, if it was.

    Raises ``UserError`` that names the first key which is not what is declared.
    """
    try:
        return kind.model_validate_json(received_bytes(path, links=links) if content is None else content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        where = f"key '{printable(key)}': " if key else ""
        raise UserError(f"{path}: {where}{printable(first['msg'])}; {remedy}") from None


def received_tensors(content: bytes, path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return (tensors by name, header) of a safetensors file's ``content``. Raises ``UserError`` that names ``path``.

    An entry of another type than NumPy has is refused too.
    """
    import safetensors.numpy
    from safetensors import SafetensorError

    if content.startswith(b"PK\x03\x04"):
        raise UserError(f"{path}: a zip archive; unpack it, and give the file in it")
    try:
        tensors = safetensors.numpy.load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")]).get("__metadata__") or {}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: not a complete safetensors file ({error}); ask for the file again") from None
    return tensors, header
