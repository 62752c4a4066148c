"""How a command ends early: by a signal, or because the machine refuses something."""

import errno
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import psutil  # type: ignore[import-untyped]

from favor.foundation.errors import UserError
from favor.foundation.files import REMEDY

STARTED_BY_FAVOR = "FAVOR_STARTED"  # tells Snakemake whose options its user types
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 300  # characters of a file's name that a line shows
_REMEDIES = {
    errno.ENAMETOOLONG: "give a shorter name",
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP), "check the name"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM), REMEDY),
}


class Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does. Its argument is the signal."""


def _end(number: int, _frame: object) -> NoReturn:
    raise Ended(number)


def end_on_signals() -> None:
    """Let SIGINT raise ``KeyboardInterrupt``, and SIGTERM and SIGHUP :class:`Ended`.

    A signal that is ignored stays so, as SIGHUP is below ``nohup``.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) == signal.SIG_DFL:
            signal.signal(each, _end)


def start(command: Sequence[str]) -> int:
    """Run a command and return its status.

    Raises ``KeyboardInterrupt`` once the command has ended on a signal to this process, and ``UserError`` where it was
    killed by another.

    The command has a process group of its own, so that this process alone hears a signal, from the terminal or not,
    and passes it on as Ctrl-C: Snakemake then ends its jobs and lets go of the results folder. A script's background
    processes ignore Ctrl-C; Snakemake must not inherit that. It inherits that signals wait, until it has imported its
    libraries (start.smk): Ctrl-C would print a traceback there.
    """
    usual = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a process that is started inherits what is ignored
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    process, interrupted = subprocess.Popen(command, env=os.environ | {STARTED_BY_FAVOR: "1"}, process_group=0), None
    signal.signal(signal.SIGINT, usual)
    while True:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            status = process.wait()
        except KeyboardInterrupt as stopped:
            interrupted = stopped
            _interrupt(process.pid)
            continue
        if interrupted:
            raise interrupted
        if status < 0:
            why = ", perhaps for lack of memory" if status == -signal.SIGKILL else ""
            raise UserError(f"Snakemake was ended by signal {-status}{why}; the same command goes on when its jobs end")
        return status


def end_without_traceback() -> None:
    """Let Ctrl-C end Snakemake at once where ``favor`` started it (:func:`start`), also one that came before."""
    if STARTED_BY_FAVOR in os.environ:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def end_with_jobs() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` again, at which Snakemake ends its jobs."""
    if STARTED_BY_FAVOR in os.environ:
        raise_interrupts()


def raise_interrupts() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt``.

    Where it comes while an object is let go of, Python prints it and goes on: it is raised again a moment later.
    """
    usual = sys.unraisablehook

    def again(lost: "sys.UnraisableHookArgs") -> None:
        if lost.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            usual(lost)

    sys.unraisablehook = again
    for each in (signal.SIGINT, signal.SIGALRM):
        signal.signal(each, signal.default_int_handler)


def _interrupt(process: int) -> None:
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process)
        for each in (parent, *parent.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGINT)


def refused(error: OSError | RecursionError | MemoryError) -> str:
    """Return one line that says what the machine refused, and for which file.

    Where the error names no file, it is the last one that the code was working on.
    """
    named = error.filename if isinstance(error, OSError) and isinstance(error.filename, str) else _file_at_work(error)
    named = named if len(named) <= LONGEST else f"{named[:LONGEST]}..."
    if isinstance(error, OSError):
        return f"{named}: {error.strerror or error}; {_REMEDIES.get(error.errno or 0, 'check it')}"
    if isinstance(error, RecursionError):
        return f"{named}: nested too deeply to be read; check the file, or get it again"
    return f"{named}: does not fit into memory; give a smaller file, or use a machine with more memory"


def _file_at_work(error: BaseException) -> str:
    found = "a file"
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            with suppress(OSError, ValueError):
                if isinstance(value, Path) and value.exists():
                    found = str(value)
    return found
