"""Reading and writing safetensors: atomically, with the same bytes for the same content. No code is ever loaded."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.foundation.lazy import LazyMapping


def write_safetensors(tensors: Mapping[str, object], path: str | Path, header: Mapping[str, str]) -> None:
    """Write NumPy arrays or torch tensors, in name order, with ``header`` as the file's own description."""
    import safetensors.numpy

    arrays = {name: np.ascontiguousarray(_as_numpy(tensors[name])) for name in sorted(tensors)}
    content = safetensors.numpy.save(arrays, metadata=dict(sorted(header.items())))
    with atomic_path(path) as temporary:
        temporary.write_bytes(_canonical_header(content))


def _canonical_header(content: bytes) -> bytes:
    # The library writes the header's metadata in hash order; sorted keys make equal content equal bytes.
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    entries = dict(sorted(header.items(), key=lambda item: (item[1]["data_offsets"], item[0])))
    text = json.dumps({"__metadata__": dict(sorted(metadata.items())), **entries}, separators=(",", ":"))
    encoded = text.encode()
    encoded += b" " * (-len(encoded) % 8)
    return len(encoded).to_bytes(8, "little") + encoded + content[8 + size :]


def _as_numpy(tensor: Any) -> np.ndarray:
    return tensor if isinstance(tensor, np.ndarray) else tensor.detach().cpu().numpy()


def safetensors_bytes(shapes: Mapping[str, Sequence[int]], types: Mapping[str, str] | None = None) -> int:
    """Return the size in bytes of tensors of these shapes as one adapter file, header {"format": "pt"}.

    ``types``: the type of every tensor, as :func:`safetensors_types` returns them; without them all are float32. The
    file is what PEFT writes: the length of the header in 8 bytes, a JSON header padded to 8 bytes, and the tensors.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    sizes = {name: int(types[name][1:]) // 8 if types else 4 for name in shapes}
    # The library puts wider types first.
    for name, shape in sorted(shapes.items(), key=lambda item: (-sizes[item[0]], item[0])):
        kind = types[name] if types else "F32"
        end = offset + sizes[name] * math.prod(shape)
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    length = len(json.dumps(header, separators=(",", ":")).encode())
    return 8 + length + (-length % 8) + offset


def safetensors_shapes(path: str | Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a file's tensors without reading them. Raises ``UserError`` as :func:`open_safetensors`."""
    with _reading(path):
        file = _opened(path)
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a dict


def safetensors_types(path: str | Path) -> dict[str, str]:
    """Return the types of a file's tensors as its header writes them, such as "F32" or "I8", without reading them."""
    with _reading(path):
        file = _opened(path)
        return {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 - not a dict


def safetensors_header(path: str | Path) -> dict[str, str]:
    """Return a file's header without its tensors. Raises ``UserError`` as :func:`open_safetensors`."""
    return open_safetensors(path)[1]


def open_safetensors(path: str | Path) -> tuple[LazyMapping[np.ndarray], dict[str, str]]:
    """Return (tensors by name, each read when it is asked for; header).

    The file is mapped, not held open, so that thousands can be. Raises ``UserError`` where it is missing or truncated.
    """
    with _reading(path):
        file = _opened(path)
        names, header = file.keys(), dict(file.metadata() or {})

    def read(name: str) -> np.ndarray:
        with _reading(path):
            return np.asarray(file.get_tensor(name))

    return LazyMapping(names, read), header


def read_safetensors(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return (tensors by name, header). Raises ``UserError`` as :func:`open_safetensors`."""
    tensors, header = open_safetensors(path)
    return dict(tensors), header


def _opened(path: str | Path) -> Any:
    from safetensors import safe_open

    return safe_open(path, framework="numpy")


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; run the workflow so that it is made") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: not a complete safetensors file ({error}); delete it and run again") from None
