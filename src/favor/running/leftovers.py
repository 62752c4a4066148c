"""What an earlier run may have left behind, cleared before any job could read half of a file.

Writes are atomic, so the workflow leaves no half file under a final name itself; a broken copy or a failing disk may. A
truncated file is renamed, so that the workflow sees it missing and makes it again. A job killed while it writes leaves
a temporary file, which is removed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from favor.running.clock import order_future_files

SUFFIX = ".truncated"
PARTIAL = ".partial"


def _parquet(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        if size < 12 or file.read(4) != b"PAR1":
            return False
        file.seek(size - 8)
        footer = int.from_bytes(file.read(4), "little")
        return file.read(4) == b"PAR1" and footer + 12 <= size


def _safetensors(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        header_size = int.from_bytes(file.read(8), "little")
        if size < 8 or header_size + 8 > size:
            return False
        try:
            header = json.loads(file.read(header_size))
        except ValueError:
            return False
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    return 8 + header_size + max(ends, default=0) == size


def _json(path: Path, size: int) -> bool:
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True


def _ends_with(mark: bytes) -> Callable[[Path, int], bool]:
    def whole(path: Path, size: int) -> bool:
        with path.open("rb") as file:
            file.seek(max(0, size - len(mark) - 2))
            return file.read().rstrip(b"\r\n").endswith(mark) and size > 0

    return whole


def _whole_lines(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, size - 1))
        return file.read() == b"\n"


_WHOLE: dict[str, Callable[[Path, int], bool]] = {
    ".parquet": _parquet,
    ".safetensors": _safetensors,
    ".json": _json,
    ".html": _ends_with(b"</html>"),
    ".svg": _ends_with(b"</svg>"),
    ".pdf": _ends_with(b"%%EOF"),
    ".csv": _whole_lines,
    ".tex": _whole_lines,
}


def is_truncated(path: Path) -> bool:
    """Whether a file lacks its end, judged by its size and closing marks; other kinds of files never count as such.

    Of a CSV or TeX file that was cut at the end of a line nothing can be told.
    """
    whole = _WHOLE.get(path.suffix)
    return whole is not None and not whole(path, path.stat().st_size)


def set_aside_truncated(results: Path, rename: bool) -> list[Path]:
    """Find truncated files under ``results``; with ``rename``, give each the suffix ``.truncated``.

    Prints one line a file and returns the files found.
    """
    found = []
    for folder, _, names in os.walk(results):
        for name in names:
            path = Path(folder) / name
            if not name.startswith(".") and is_truncated(path):
                found.append(path)
    for path in sorted(found):
        if rename:
            path.replace(path.with_name(path.name + SUFFIX))
            print(f"{path}: truncated; set aside as {path.name}{SUFFIX} and made again", file=sys.stderr)
        else:
            print(f"{path}: truncated; a real run sets it aside and makes it again", file=sys.stderr)
    return found


def remove_partial(results: Path) -> None:
    """Remove the temporary files and folders of jobs that were killed; no job may be at work under ``results``."""
    for folder, subfolders, names in os.walk(results):
        for name in [name for name in (*subfolders, *names) if name.startswith(".") and name.endswith(PARTIAL)]:
            path = Path(folder) / name
            if path.is_dir():
                shutil.rmtree(path)
                subfolders.remove(name)
            else:
                path.unlink()


def clear_leftovers(results: Path, alone: bool) -> None:
    """Clear what an earlier run left under ``results``; ``alone``, no other process is at work there."""
    set_aside_truncated(results, rename=True)
    if alone:
        remove_partial(results)
        order_future_files(results)
