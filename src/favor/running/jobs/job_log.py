"""What a job says: its log, live lines, and one clear line on a user's error. Nothing here reaches a result."""

from __future__ import annotations

import errno
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from favor.foundation.errors import UserError
from favor.foundation.files import REMEDY
from favor.running.folder.occupancy import at_work
from favor.running.invalidation.code_check import check_code

# What the machine refuses and its user can fix; any other error of the system is a defect and keeps its traceback.
_REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}


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
                self._log.write(text)
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
            self.terminal.write(text)
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
    too. Any other exception keeps its traceback, in the log too.
    """
    if not snakemake.log:
        yield
        return
    terminal = sys.stderr
    tee = _Tee(terminal, Path(str(snakemake.log[0])))
    sys.stderr = tee  # type: ignore[assignment]
    try:
        with at_work(snakemake.rule):
            check_code(snakemake)
            yield
            check_code(snakemake)
    except KeyboardInterrupt:
        print(f"{snakemake.rule}: interrupted; the same command goes on", file=sys.stderr, flush=True)
        sys.exit(128 + signal.SIGINT)
    except UserError as error:
        print(f"error in {snakemake.rule}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
    except Exception as error:
        tee.keep(traceback.format_exc())
        if not isinstance(error, OSError) or error.errno not in _REFUSED:
            raise
        place = error.filename or "a file"
        print(f"error in {snakemake.rule}: {place}: {error.strerror}; {REMEDY}", file=sys.stderr, flush=True)
        sys.exit(1)
    finally:
        sys.stderr = terminal
        tee.close()
