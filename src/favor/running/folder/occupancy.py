"""Allows one run per results folder, by a kernel lock that disappears with its processes, so also after a SIGKILL.

A run takes ``.run.lock`` alone, writes its name into it, and then shares it with its jobs, which can outlive a main
process that is killed. So whoever gets it alone knows that nobody works there, and that Snakemake's own lock, which
stays behind after a SIGKILL, has no owner. A job whose run another one has replaced stops before it works. Jobs of a
cluster take no lock: its queue tells of them.
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
    run = f"process {os.getpid()} on {socket.gethostname()}, started {time.strftime('%F %T')}"
    owner = _name(descriptor) or "just started"
    try:
        if owner != "just started" and not re.match(r"process \d+ on .*", owner):
            raise UserError(f"{results / RUN_LOCK} is not a lock of this workflow. Move it away, then run again.")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{run}\n".encode(), 0)
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UserError(
            f"results folder '{results}': another run is at work there ({owner}), or jobs that it left; wait until "
            "they end, or set another folder with the key 'results'"
        ) from None
    except (OSError, UserError) as error:
        os.close(descriptor)
        if isinstance(error, OSError) and error.errno in _UNSUPPORTED:
            os.environ.pop(RUN_VARIABLE, None)
            return False
        raise
    _held[folder] = descriptor
    os.environ[RUN_VARIABLE] = run
    return True


@contextmanager
def at_work() -> Iterator[None]:
    """Share the lock of the results folder that a run named, as its job, while the block runs.

    Raises ``UserError`` where another run has taken the place of the one that the job belongs to.
    """
    named, own = os.environ.get(RESULTS_VARIABLE), os.environ.get(RUN_VARIABLE)
    if named is None:
        yield
        return
    descriptor = os.open(Path(named) / RUN_LOCK, os.O_RDONLY | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        if own is not None and _name(descriptor) != own:
            raise UserError(
                f"the run that started this job ({own}) has ended and another took its place; this job does nothing"
            )
        yield
    finally:
        os.close(descriptor)


def _name(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode(errors="replace").strip()


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
