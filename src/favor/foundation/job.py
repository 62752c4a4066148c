"""What every workflow script does around its work: log, live lines, and one clear line on a user's error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from favor.foundation.errors import UserError


class _Tee:
    """Writes to the terminal and to the job's log."""

    def __init__(self, terminal: TextIO, log: TextIO) -> None:
        self.terminal, self.log = terminal, log

    def write(self, text: str) -> int:
        self.log.write(text)
        self.log.flush()
        return self.terminal.write(text)

    def flush(self) -> None:
        self.log.flush()
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
    script with exit status 1 and its one line, without a traceback; any other exception keeps its traceback, in the
    log too.
    """
    terminal = sys.stderr
    log_path = Path(str(snakemake.log[0])) if snakemake.log else None
    if log_path is None:
        yield _configuration(snakemake)
        return
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("w", encoding="utf-8") as log:
        sys.stderr = _Tee(terminal, log)  # type: ignore[assignment]
        try:
            yield _configuration(snakemake)
        except UserError as error:
            print(f"error in {snakemake.rule}: {error}", file=sys.stderr, flush=True)
            sys.exit(1)
        except Exception:
            import traceback

            log.write(traceback.format_exc())
            raise
        finally:
            sys.stderr = terminal


def _configuration(snakemake: Any) -> dict[str, Any]:
    return dict(snakemake.params.get("cfg", None) or {})
