"""A job's log, its live lines, and one clear line for a user's error. Nothing here reaches a result."""

import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from favor.foundation.errors import UserError
from favor.foundation.files import REMEDY
from favor.foundation.screen import harmless
from favor.running.ending import raise_interrupts
from favor.running.folder.occupancy import at_work
from favor.running.invalidation.fingerprint import check_planned

# What the machine refuses and its user can fix; any other error of the system is a defect and keeps its traceback.
_REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}


# Set where the process that starts the jobs prints their errors itself, last of all (snakemake_logger_plugin_favor).
ERRORS_LAST = "FAVOR_ERRORS_LAST"


class _Tee:
    """Writes to the terminal and to the job's log; neither ends a job where it cannot be written."""

    def __init__(self, terminal: TextIO, log: Path) -> None:
        self.terminal = terminal
        self._path = log
        self._log: TextIO | None = None
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            self._log = log.open("w", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            self._give_up(error)

    def keep(self, text: str) -> None:
        """Write to the log alone."""
        try:
            if self._log is not None:
                self._log.write(harmless(text))
                self._log.flush()
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _give_up(self, error: OSError) -> None:
        if self._log is not None:
            # Closing tries to write what is buffered once more.
            with suppress(OSError):
                self._log.close()
        self._log = None
        print(f"{self._path}: cannot be written ({error.strerror}); the job goes on without its log", file=self)

    def write(self, text: str) -> int:
        self.keep(text)
        # The terminal may be a file on a full disk; there is nowhere left to say so.
        with suppress(OSError):
            self.terminal.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self.terminal.flush()

    def isatty(self) -> bool:
        # Libraries must not draw bars with carriage returns into the log.
        return False

    def fileno(self) -> int:
        return self.terminal.fileno()


@contextmanager
def logged(snakemake: Any) -> Iterator[None]:
    """Send a script's standard error to the terminal and to the rule's log, and word how it ends.

    A :class:`UserError` ends the script with exit status 1 and its one line, without a traceback; so does a full disk,
    or a folder that is not to be written, wherever it is met (the traceback is in the log). Ctrl-C ends it with a line
    too. Any other exception keeps its traceback, in the log too. Where errors are printed last (``ERRORS_LAST``), how
    the script ends is in the log alone, as a last line.
    """
    if not snakemake.log:
        yield
        return
    terminal, rule = sys.stderr, snakemake.rule
    tee = _Tee(terminal, Path(str(snakemake.log[0])))
    sys.stderr = tee
    end = tee.keep if ERRORS_LAST in os.environ else tee.write
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        if interrupt == signal.SIG_DFL:  # as it is while a job imports its libraries
            raise_interrupts()
        with at_work():
            check_planned(snakemake)
            yield
            check_planned(snakemake)
    except KeyboardInterrupt:
        end(f"{rule}: interrupted; the same command goes on\n")
        sys.exit(128 + signal.SIGINT)
    except UserError as error:
        end(f"error in {rule}: {error}\n")
        sys.exit(1)
    except Exception as error:
        tee.keep(traceback.format_exc())
        if isinstance(error, OSError) and error.errno in _REFUSED:
            end(f"error in {rule}: {error.filename or 'a file'}: {error.strerror}; {REMEDY}\n")
        elif ERRORS_LAST in os.environ:
            line = f"{type(error).__name__}: {error}".splitlines()[0]
            end(f"error in {rule}: {line} (a defect: the traceback is in {snakemake.log[0]})\n")
        else:
            raise
        sys.exit(1)
    finally:
        signal.signal(signal.SIGINT, interrupt)
        sys.stderr = terminal
        tee.close()
