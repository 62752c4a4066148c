"""Reading and writing Parquet, safetensors, JSON and text: atomically, with the same bytes for the same content.

A write goes to a temporary name beside the target and is moved over it, so a killed job leaves no half file under
a final name. Nothing here can execute code from a file: no pickle, no remote code.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from favor.foundation.columns import TABLES
from favor.foundation.errors import UserError
from favor.foundation.lazy import LazyMapping

REMEDY = "free space or mend the folder's permissions, then run again"


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; on success it is moved to ``path``, on failure removed."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    except OSError as error:
        raise UserError(f"{target}: cannot write there ({error.strerror}); {REMEDY}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        to_disk(temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror or error}); {REMEDY}") from None
    finally:
        temporary.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk.

    Without it, a power loss may leave a file of full length under its final name that was never filled.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_parquet(frame: pd.DataFrame, path: str | Path, table: str) -> None:
    """Write ``frame`` as the declared ``table``: its columns only, in declared order, rows sorted, no metadata.

    Raises ``ValueError`` (a defect of the caller) when a declared column is missing, a column is undeclared, or the
    key columns do not identify the rows.
    """
    declared = TABLES[table]
    names = declared.schema.names
    if set(frame.columns) != set(names):
        raise ValueError(f"table {table}: columns {sorted(frame.columns)} are not the declared {sorted(names)}")
    ordered = frame.sort_values(list(declared.sort_by), kind="stable")[names]
    if ordered.duplicated(list(declared.sort_by)).any():
        row = ordered[ordered.duplicated(list(declared.sort_by))].iloc[0]
        raise ValueError(f"table {table}: two rows share {[row[name] for name in declared.sort_by]}")
    arrow = pa.Table.from_pandas(ordered, schema=declared.schema, preserve_index=False, safe=True)
    with atomic_path(path) as temporary:
        pq.write_table(arrow.replace_schema_metadata(None), temporary, compression="zstd", store_schema=False)


def read_parquet(path: str | Path, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the declared ``table`` (or some of its ``columns``); its schema is checked.

    Raises ``UserError`` where the file is missing, truncated or holds another table.
    """
    try:
        arrow = pq.read_table(path, columns=list(columns) if columns is not None else None)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the workflow so that it is made") from None
    except (pa.ArrowInvalid, pa.ArrowIOError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: not a whole Parquet file ({reason}); delete it and run again") from None
    schema = TABLES[table].schema
    for name in columns if columns is not None else schema.names:
        if name not in arrow.schema.names:
            raise UserError(f"{path}: column '{name}' of table '{table}' is missing; delete the file and run again")
        found = arrow.schema.field(name).type
        if not _same_type(found, schema.field(name).type):
            raise UserError(
                f"{path}: column '{name}' is {found}, not {schema.field(name).type}; delete the file and run again"
            )
    return arrow.to_pandas()


def _same_type(found: pa.DataType, declared: pa.DataType) -> bool:
    if pa.types.is_list(declared) or pa.types.is_large_list(declared):
        return (pa.types.is_list(found) or pa.types.is_large_list(found)) and found.value_type == declared.value_type
    return found == declared or (pa.types.is_large_string(found) and pa.types.is_string(declared))


def write_safetensors(tensors: Mapping[str, Any], path: str | Path, header: Mapping[str, str]) -> None:
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


def safetensors_bytes(shapes: Mapping[str, Sequence[int]]) -> int:
    """Return the size in bytes of float32 tensors of these shapes as one adapter file, header {"format": "pt"}.

    The file is 8 bytes of header length, a JSON header padded to 8 bytes, and the tensors: what PEFT writes.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, shape in sorted(shapes.items()):
        end = offset + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    length = len(json.dumps(header, separators=(",", ":")).encode())
    return 8 + length + (-length % 8) + offset


def safetensors_shapes(path: str | Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a file's tensors without reading them. Raises ``UserError`` as :func:`open_safetensors`."""
    with _reading(path):
        file = _opened(path)
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a dict


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
        raise UserError(f"{path}: no such file; run the workflow so that it is made") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: not a whole safetensors file ({error}); delete it and run again") from None


def write_text(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(content: Any, path: str | Path) -> None:
    """Write ``content`` as indented JSON with sorted keys; NaN is refused."""
    write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n", path)


def read_json(path: str | Path) -> Any:
    """Read a JSON file. Raises ``UserError`` where it is missing or broken."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the workflow so that it is made") from None
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not whole JSON ({error}); delete it and run again") from None
