"""What the workflow says before any job."""

import sys
from collections.abc import Iterable


def announce(absent: Iterable[str], to_fetch: Iterable[str]) -> None:
    """Name the optional encoders that are left out (each with its reason), and what jobs will fetch."""
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
