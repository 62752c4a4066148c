"""What happens before any job: the results folder is taken, and what is missing is named."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from favor.config.resolve import require_writable
from favor.running.leftovers import clear_leftovers, set_aside_truncated
from favor.running.occupancy import name_results, occupy, remove_stale_locks


def take_results_folder(results: Path, main: bool, remote: bool, planning: bool) -> None:
    """Hold the results folder for this run and clear what an earlier one left there.

    ``main``: this is the process that the user started, not one of its jobs; ``remote``: a job of a cluster;
    ``planning``: nothing is run, so nothing is changed. Raises ``UserError`` where the folder cannot be used.
    """
    name_results(None if remote else results)
    if not main:
        return
    if planning:
        set_aside_truncated(results, rename=False)
        return
    require_writable(results)
    alone = occupy(results)
    if alone:
        remove_stale_locks(Path(".snakemake", "locks"), str(results))
    clear_leftovers(results, alone)


def announce(absent: Iterable[str], to_fetch: Iterable[str], latex: bool) -> None:
    """Name the optional encoders that are left out (each with its reason), what jobs will fetch, and missing LaTeX."""
    left_out, fetched = "; ".join(absent), ", ".join(to_fetch)
    if left_out:
        print(
            f"warning: left out: {left_out}. Tables print a dash; fetch ids with 'hf download <id>'.", file=sys.stderr
        )
    if fetched:
        print(
            f"warning: not on this machine, fetched when a job needs them: {fetched}. Without a network then, "
            "fetch them before ('hf download <id>').",
            file=sys.stderr,
        )
    if not latex:
        print("LaTeX (latexmk, pdflatex) is not installed: report.pdf is left out.", file=sys.stderr)
