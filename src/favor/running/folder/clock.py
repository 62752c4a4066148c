"""Files from the future: what a clock that was set back leaves behind.

Snakemake compares times of files. An input that is newer than now stays newer than every output made from it, which
stops the workflow; an old output that is newer than now stays newer than an input that is made again, and would count
as up to date.
"""

import os
import sys
import time
from pathlib import Path

from favor.running.folder.output_record import made_outputs

# Snakemake takes the time of a folder from this file in it.
_FOLDER_TIME = ".snakemake_timestamp"


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
