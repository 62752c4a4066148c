"""One run a results folder: locks that the kernel drops when their owner dies, so that a killed run leaves none behind.

The main process of a run holds ``.run.lock`` and writes its name into it; every job holds a file of its own under
``.jobs``, because jobs can outlive a main process that is killed alone. Whoever holds the first and finds none of the
second held knows that Snakemake's own lock, which stays behind after a SIGKILL, has no owner. A job whose run another
one has replaced stops before it works. Jobs of a cluster do neither: its queue tells of them.
"""

import errno
import fcntl
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from favor.foundation.errors import UserError

RUN_LOCK = ".run.lock"
JOBS = ".jobs"
_RUN = r"process \d+ on .*"  # how a run and, after its rule, a job names itself
RESULTS_VARIABLE = "FAVOR_RESULTS"
RUN_VARIABLE = "FAVOR_RUN"
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_held: dict[Path, int] = {}  # descriptors stay open until the process ends, however often the Snakefile is parsed


def name_results(results: Path | None) -> None:
    """Tell the jobs, by the environment, in which folder they mark that they run; None, in none."""
    if results is None:
        os.environ.pop(RESULTS_VARIABLE, None)
    else:
        os.environ[RESULTS_VARIABLE] = str(results.resolve())


def occupy(results: Path) -> bool:
    """Hold ``results`` (an existing folder) until this process ends.

    Returns whether the file system has locks; where it has none, nothing is held. Raises ``UserError`` where another
    run, or a job that outlived an earlier one, is at work there.
    """
    folder = results.resolve()
    if folder in _held:
        return True
    try:
        descriptor = os.open(folder / RUN_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise UserError(f"{results / RUN_LOCK}: cannot be opened ({error.strerror}); fix its permissions") from None
    try:
        owner = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "just started"
        if owner != "just started" and not re.match(_RUN, owner):
            raise UserError(f"{results / RUN_LOCK} is not a lock of this workflow. Move it away, then run again.")
        if not _lock(descriptor):
            raise UserError(
                f"results folder '{results}': another run is at work there ({owner}); wait until it ends, "
                "or set another folder with --config results=..."
            )
        # First the name, then the marks: a job of an earlier run makes its mark first and then reads the name.
        run = f"process {os.getpid()} on {socket.gethostname()}, started {time.strftime('%F %T')}"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{run}\n".encode(), 0)
        alive = _jobs_alive(folder / JOBS)
        if alive:
            raise UserError(
                f"results folder '{results}': jobs of an earlier run are still at work there ({', '.join(alive)}); "
                "wait until they end, or end them, then run again"
            )
    except UserError:
        os.close(descriptor)
        raise
    except OSError as error:
        os.close(descriptor)
        if error.errno in _UNSUPPORTED:
            os.environ.pop(RUN_VARIABLE, None)
            return False
        raise
    _held[folder] = descriptor
    os.environ[RUN_VARIABLE] = run
    return True


@contextmanager
def at_work(rule: str) -> Iterator[None]:
    """Mark a job of ``rule`` as running while the block runs, where a run named its results folder.

    Raises ``UserError`` where another run has taken the place of the one that the job belongs to.
    """
    named = os.environ.get(RESULTS_VARIABLE)
    if named is None:
        yield
        return
    mark = Path(named) / JOBS / f"{rule}, process {os.getpid()} on {socket.gethostname()}"
    mark.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        run, own = Path(named) / RUN_LOCK, os.environ.get(RUN_VARIABLE)
        if own is not None and run.read_text(encoding="utf-8").strip() != own:
            raise UserError(
                f"the run that started this job ({own}) has ended and another took its place; this job does nothing"
            )
        yield
    finally:
        mark.unlink(missing_ok=True)
        os.close(descriptor)


def remove_stale_locks(locks: Path, results: str) -> None:
    """Remove Snakemake's locks in the folder ``locks`` that name files under ``results``, which this process holds."""
    for path in sorted(locks.glob("*.lock")):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:  # of a run elsewhere, which has just ended
            continue
        if any(line.startswith(f"{results}/") for line in lines):
            path.unlink(missing_ok=True)
            print(f"{path}: left by a run that was killed; removed", file=sys.stderr)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _jobs_alive(marks: Path) -> list[str]:
    """Return the marks that are held; those of dead jobs are removed. Other files in the folder are the user's."""
    alive = []
    for mark in sorted(path for path in marks.glob("*") if re.fullmatch(rf"\w+, {_RUN}", path.name) and path.is_file()):
        descriptor = os.open(mark, os.O_RDWR)
        try:
            if _lock(descriptor):
                mark.unlink(missing_ok=True)
            else:
                alive.append(mark.name)
        finally:
            os.close(descriptor)
    return alive
