"""What the header of a GGUF file says of a model, read without its tensors, numpy or the library ``gguf``.

The planner asks for it at every start, and the library takes seconds to read a vocabulary that nothing here needs.
Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from favor.foundation.errors import UserError

SUFFIX = ".gguf"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_TOKENS = "tokenizer.ggml.tokens"


@dataclass(frozen=True)
class GgufHeader:
    """``architecture``: llama.cpp's name. ``context``: longest sequence in tokens. ``values``: of all keys but arrays.

    ``shapes``: of all tensors by llama.cpp's name, inputs before outputs.
    """

    architecture: str
    context: int
    values: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]

    @property
    def parameters(self) -> int:
        """Parameters of all tensors."""
        return sum(map(math.prod, self.shapes.values()))

    @property
    def widths(self) -> int:
        """Inputs and outputs of all projections, to which adapters are proportional."""
        return sum(sum(sizes) for name, sizes in self.shapes.items() if name.startswith("blk.") and len(sizes) == 2)


def is_gguf(source: str | None) -> bool:
    """Return whether a model's source names a GGUF file, there or not."""
    return source is not None and source.endswith(SUFFIX)


def read_header(path: str | Path) -> GgufHeader:
    """Read the header of a GGUF file.

    Raises ``UserError`` for a file that is missing, not GGUF or cut off, and for one without tokenizer or context.
    """
    place = Path(path).expanduser()
    try:
        state = place.stat()
    except OSError:
        raise UserError(
            f"{path}: file not found; correct the path ('make real-base' fetches SmolLM2-135M-Instruct)"
        ) from None
    return _read(place, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: Path, size: int, _changed: int) -> GgufHeader:
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise UserError(f"{path}: not a GGUF file (it does not begin with GGUF); give one, or a model's folder")
            version, tensors, entries = _numbers(file, "<IQQ")
            if version not in (2, 3):
                raise UserError(f"{path}: GGUF of version {version}, but 2 and 3 are read; convert the model again")
            values = dict(_entry(file) for _ in range(entries))
            found = [_tensor(file) for _ in range(tensors)]
            alignment = values.get("general.alignment", 32)
            if type(alignment) is not int or alignment < 1:
                raise UserError(f"{path}: 'general.alignment' is {alignment}, which is no length; fetch it again")
            begin = -(-file.tell() // alignment) * alignment
    # ValueError: a length that no file has, or bytes that are no text.
    except (OSError, struct.error, ValueError, KeyError, OverflowError, MemoryError):
        raise UserError(f"{path}: truncated or damaged in its header; fetch it again") from None
    if not found or begin + max(offset for *_, offset in found) >= size:
        raise UserError(f"{path}: truncated: tensors are missing at its end; fetch it again")
    if _TOKENS not in values:
        raise UserError(f"{path}: no tokenizer in it ({_TOKENS}); convert the model again, with its tokenizer")
    architecture = values.get("general.architecture")
    context = values.get(f"{architecture}.context_length")
    if not isinstance(architecture, str) or type(context) is not int or context < 1:
        raise UserError(f"{path}: no architecture or context length in its header; convert the model again")
    return GgufHeader(architecture, context, values, {name: sizes for name, sizes, _ in found})


def _numbers(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _text(file: BinaryIO) -> str:
    (length,) = _numbers(file, "<Q")
    found = file.read(length)
    if len(found) < length:
        raise struct.error("cut off")
    return found.decode("utf-8")


def _entry(file: BinaryIO) -> tuple[str, Any]:
    """Read a key and its value; an array is passed over and stands as None."""
    key, (kind,) = _text(file), _numbers(file, "<I")
    if kind == _TEXT:
        return key, _text(file)
    if kind != _ARRAY:
        return key, _numbers(file, f"<{_SCALARS[kind]}")[0]
    kind, count = _numbers(file, "<IQ")
    if kind == _TEXT:
        for _ in range(count):
            file.seek(_numbers(file, "<Q")[0], 1)
    else:
        file.seek(count * struct.calcsize(f"<{_SCALARS[kind]}"), 1)
    return key, None


def _tensor(file: BinaryIO) -> tuple[str, tuple[int, ...], int]:
    """Read the name and the shape of a tensor, and where it begins behind the header."""
    name = _text(file)
    (dimensions,) = _numbers(file, "<I")
    sizes = _numbers(file, f"<{dimensions}Q")
    _, offset = _numbers(file, "<IQ")
    return name, sizes, offset
