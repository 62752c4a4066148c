"""A job runs the code that was planned: if the code changes during a run, the job fails and its outputs are discarded.

A job compares how the files of the code look before and after its work. Where they look otherwise it takes its own
fingerprint again, so that an edit that cannot change its result does not end it.
"""

import os
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.files import read_json
from favor.running.invalidation.job_inputs import LOCAL_FILES, RECORD, check_local_files
from favor.running.invalidation.parts import code_looks

# Names the folder with the fingerprints of the run that a job belongs to.
CODE = "FAVOR_CODE"
STARTED = ".files.json"  # [the checkout, how its files looked]; no result, since times differ between equal runs


def check_planned(snakemake: Any) -> None:
    """Raise ``UserError`` where a job's code, or a file of the user that it reads, changed after planning."""
    folder = Path(os.environ.get(CODE, ""))
    check_local_files((snakemake.params.get(LOCAL_FILES, None) or (LOCAL_FILES, {}))[1], folder / RECORD)
    planned = snakemake.params.get("code", None)
    taken = folder / f"{planned}.json"
    if CODE not in os.environ or not (folder / STARTED).is_file() or not taken.is_file():
        return
    checkout, looked = read_json(folder / STARTED)
    if code_looks(Path(checkout)) == looked:
        return
    from favor.running.invalidation.fingerprint import source_code

    entry = read_json(taken)
    script = Path(checkout, "workflow", "scripts", entry["script"])
    if source_code(Path(checkout, "src")).fingerprint(script, entry["modules"]) != planned:
        raise UserError(
            "its code changed after the run had started, so that nothing it made is kept; start the run again"
        )
