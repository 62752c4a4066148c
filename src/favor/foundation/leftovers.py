"""Truncated files of an earlier run: found by their size and closing marks before any job could read half of one.

Writes are atomic, so the workflow leaves no such file itself; a full disk, a broken copy or a crash of the machine may.
A file found is renamed, so that the workflow sees it missing and makes it again.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SUFFIX = ".truncated"


def is_truncated(path: Path) -> bool:
    """Whether a Parquet or safetensors file lacks its end, judged without reading its content."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if path.suffix == ".parquet":
            if size < 12 or file.read(4) != b"PAR1":
                return True
            file.seek(size - 8)
            footer = int.from_bytes(file.read(4), "little")
            return file.read(4) != b"PAR1" or footer + 12 > size
        if size < 8:
            return True
        header_size = int.from_bytes(file.read(8), "little")
        if header_size + 8 > size:
            return True
        try:
            header = json.loads(file.read(header_size))
        except ValueError:
            return True
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return 8 + header_size + max(ends, default=0) != size


def set_aside_truncated(results: Path, rename: bool) -> list[Path]:
    """Find truncated files under ``results``; with ``rename``, give each the suffix ``.truncated``.

    Prints one line a file and returns the files found.
    """
    found = []
    for folder, _, names in os.walk(results):
        for name in names:
            if name.endswith((".parquet", ".safetensors")) and not name.startswith("."):
                path = Path(folder) / name
                if is_truncated(path):
                    found.append(path)
    for path in sorted(found):
        if rename:
            path.replace(path.with_name(path.name + SUFFIX))
            print(f"{path}: truncated; set aside as {path.name}{SUFFIX} and made again", file=sys.stderr)
        else:
            print(f"{path}: truncated; a real run sets it aside and makes it again", file=sys.stderr)
    return found
