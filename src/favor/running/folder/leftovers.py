"""What an earlier run may have left behind, cleared before any job could read half of a file (docs/reruns.md).

Only outputs on record and temporary names are touched.
"""

import json
import os
import shutil
import sys
import time
from pathlib import Path

from favor.foundation.files import PARTIAL
from favor.running.folder.output_record import made_outputs

SUFFIX = ".truncated"
# Snakemake takes the time of a folder from this file in it.
_FOLDER_TIME = ".snakemake_timestamp"


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
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
            return bool(8 + header_size + max(ends, default=0) == size)
        except (ValueError, AttributeError, LookupError, TypeError, RecursionError):  # a header of another form
            return False


def is_truncated(path: Path) -> bool:
    """Whether a Parquet or safetensors file, or one in a folder, lacks its end, judged by its size and marks.

    Nothing is told of other kinds, nor of a file that cannot be read: the job that reads it says so.
    """
    if path.is_dir():
        return any(is_truncated(Path(folder) / name) for folder, _, names in os.walk(path) for name in names)
    whole = {".parquet": _parquet, ".safetensors": _safetensors}.get(path.suffix)
    try:
        return whole is not None and path.is_file() and not whole(path, path.stat().st_size)
    except OSError:
        return False


def set_aside(path: Path) -> None:
    """Rename a truncated output to the first free name with the suffix ``.truncated``; prints one line."""
    number = 1
    while os.path.lexists(target := path.with_name(f"{path.name}{SUFFIX}{number if number > 1 else ''}")):
        number += 1
    path.rename(target)
    print(f"{path}: truncated; set aside as {target.name}, and made again when a run needs it", file=sys.stderr)


def name_truncated(results: Path) -> None:
    """Print a line per truncated output, and touch nothing."""
    for path in filter(is_truncated, made_outputs(results)):
        print(f"{path}: truncated; a real run sets it aside, and makes it again when it is needed", file=sys.stderr)


def remove_partial(results: Path) -> None:
    """Remove the temporary files and folders of jobs that were killed; no job may be at work under ``results``."""
    for path in sorted(results.rglob(f"*{PARTIAL}")):
        if not path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def clear_leftovers(results: Path, alone: bool) -> None:
    """Clear what an earlier run left under ``results``; ``alone``, no other process is at work there."""
    for path in filter(is_truncated, made_outputs(results)):
        set_aside(path)
    if alone:
        remove_partial(results)
        order_future_files(results)


def order_future_files(results: Path) -> int:
    """Give recorded outputs that are newer than now times between the newest other one and now, in their order.

    Prints one line where there are such files, and returns their number.
    """
    now = time.time_ns()
    files = (path / _FOLDER_TIME if path.is_dir() else path for path in made_outputs(results))
    times = {path: path.stat().st_mtime_ns for path in files if path.is_file()}
    future = sorted({found for found in times.values() if found > now})
    if not future:
        return 0
    newest = max((found for found in times.values() if found <= now), default=now - 3_600_000_000_000)
    new = {old: newest + (now - newest) * (rank + 1) // len(future) for rank, old in enumerate(future)}
    moved = [path for path, found in times.items() if found in new]
    for path in moved:
        os.utime(path, ns=(now, new[times[path]]))
    print(
        f"{results}: {len(moved)} files were newer than now, by up to {(future[-1] - now) / 1e9:,.0f} s (was the clock "
        "set back?); they now count as made before now, in the same order",
        file=sys.stderr,
    )
    return len(moved)
