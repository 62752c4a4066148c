"""The environment that jobs inherit from the workflow."""

from __future__ import annotations

import os
from pathlib import Path


def export_source(source_root: Path) -> None:
    """Let every job import the package from ``source_root``, whichever environment runs it."""
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    paths = [str(source_root), *(entry for entry in others if entry != str(source_root))]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    # Libraries draw bars with carriage returns, which make no lines in a log; the workflow prints its own progress.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
