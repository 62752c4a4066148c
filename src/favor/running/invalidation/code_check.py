"""A job runs the code that was planned: what changes while a run is on is noticed, and nothing made by it is kept.

A run takes its fingerprints when it starts; its jobs import the files when they start. Beside the fingerprints stands
what each file of the code was then (size and time of change). A job compares before and after its work. Where a file
differs it takes its own fingerprint again, so that an edit that cannot change its result does not end it.
"""

import json
import os
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.files import write_json
from favor.running.invalidation.job_inputs import LOCAL_FILES, RECORD, check_local_files
from favor.running.invalidation.source_index import code_files, modules_below

# Names the folder with the fingerprints of the run that a job belongs to.
CODE = "FAVOR_CODE"
FILES = ".files.json"  # no result: times of files, which differ between equal runs


def write_code_files(root: Path, files: dict[str, list[int]], folder: Path) -> None:
    """Write down what ``code_files`` found at the start of a run."""
    write_json({"root": str(root), "files": files}, folder / FILES)


def check_planned(snakemake: Any) -> None:
    """Raise ``UserError`` where the code of a job, or a file of the user's that it reads, is not what was planned."""
    folder = Path(os.environ.get(CODE, ""))
    check_local_files((snakemake.params.get(LOCAL_FILES, None) or (LOCAL_FILES, {}))[1], folder / RECORD)
    planned = snakemake.params.get("code", None)
    if not planned or not os.environ.get(CODE) or not (folder / FILES).is_file():
        return
    start = json.loads((folder / FILES).read_text(encoding="utf-8"))
    root = Path(start["root"])
    taken = folder / f"{planned}.json"
    if code_files(root) == start["files"] or not taken.is_file():
        return
    from favor.running.invalidation.fingerprint import SourceCode

    entry = json.loads(taken.read_text(encoding="utf-8"))
    source = SourceCode(root / "src", modules_below(root / "src"))
    if source.fingerprint(root / "workflow" / "scripts" / entry["script"], entry["modules"]) != planned:
        raise UserError(
            "its code changed after the run had started, so that nothing it made is kept; start the run again"
        )
