"""What every workflow script does around its work: log, live lines, and one clear line on a user's error."""

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
from favor.running.occupancy import at_work
from favor.running.progress import Progress

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
def job(snakemake: Any) -> Iterator[Any]:
    """Run a script's work: standard error goes to the terminal and to the rule's log.

    Yields the rule's ``cfg`` dictionary (its configuration; empty if the rule has none). A :class:`UserError` ends the
    script with exit status 1 and its one line, without a traceback; so does a full disk, or a folder that is not to be
    written, wherever it is met (the traceback is in the log). Ctrl-C ends it with a line too. Any other exception
    keeps its traceback, in the log too.
    """
    _compute_as_configured(snakemake)
    if not snakemake.log:
        yield _configuration(snakemake)
        return
    terminal = sys.stderr
    tee = _Tee(terminal, Path(str(snakemake.log[0])))
    sys.stderr = tee  # type: ignore[assignment]
    try:
        with at_work(snakemake.rule), _kept_losses(snakemake):
            yield _configuration(snakemake)
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


@contextmanager
def _kept_losses(snakemake: Any) -> Iterator[None]:
    """Write the loss of every step to the rule's log of that name, if it has one, when the work is done."""
    path = getattr(snakemake.log, "losses", None)
    if path is None:
        yield
        return
    Progress.losses = []
    try:
        yield
        # Imported here: reading tables costs half a second, and no other job needs it. Written without write_parquet,
        # which is in the fingerprints of jobs whose results are tables, and not in those of a job with such a log.
        import pyarrow as pa
        import pyarrow.parquet as pq

        from favor.foundation.files import atomic_path
        from favor.running.losses import LOSSES

        rows = [dict(zip(LOSSES.names, step, strict=True)) for step in Progress.losses]
        with atomic_path(path) as temporary:
            table = pa.Table.from_pylist(rows, schema=LOSSES.schema)
            pq.write_table(table, temporary, compression="zstd", store_schema=False)
    finally:
        Progress.losses = None


def _compute_as_configured(snakemake: Any) -> None:
    """Let torch use the configured number of threads, where it is loaded: its sums must not depend on ``--cores``."""
    threads, torch = snakemake.resources.get("compute_threads"), sys.modules.get("torch")
    if threads is not None and torch is not None:
        torch.set_num_threads(threads)


def _configuration(snakemake: Any) -> dict[str, Any]:
    return dict(snakemake.params.get("cfg", None) or {})
