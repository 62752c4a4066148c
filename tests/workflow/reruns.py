"""What an edit of the code reruns, told without Snakemake from its records of the last run.

A job reruns where the fingerprint of its code changed, or where a job before it does. ``test_invalidation.py`` holds
this against what Snakemake plans.
"""

from __future__ import annotations

import ast
import json
import re
from base64 import urlsafe_b64decode
from collections import Counter
from functools import cache

from favor.foundation.files import read_json
from favor.running.invalidation.fingerprint import SourceCode
from favor.running.invalidation.parts import modules_below

_FINGERPRINT = re.compile("[0-9a-f]{16}")


def output_of(record) -> str:
    """Return the output that a record of Snakemake's is named after."""
    metadata = next(folder for folder in record.parents if folder.name == "metadata")
    # Names over 255 characters are cut into folders.
    name = "".join(part.removeprefix("@") for part in record.relative_to(metadata).parts)
    return urlsafe_b64decode(name).decode()


def rerun_by_code(project) -> dict[str, int]:
    """Return the jobs that the code as it is reruns, by rule, for results that were made in full."""
    root = project.folder / "src"
    source = SourceCode(root, modules_below(root))

    @cache
    def changed(fingerprint) -> bool:
        taken = read_json(project.folder / "results" / ".code" / f"{fingerprint}.json")
        script = project.folder / "workflow" / "scripts" / taken["script"]
        return source.fingerprint(script, taken["modules"]) != fingerprint

    # A job is its log file; its parameters are written as Python values, the fingerprint among them.
    jobs: dict[str, str] = {}
    inputs: dict[str, set[str]] = {}
    maker: dict[str, str] = {}
    there: set[str] = set()
    found: set[str] = set()
    for path in (project.folder / ".snakemake" / "metadata").rglob("*"):
        if not path.is_file():
            continue
        record = json.loads(path.read_text())
        (log,) = (path for path in record["log"] if path.endswith(".log"))
        jobs[log], inputs[log] = record["rule"], set(record["input"])
        maker[output := output_of(path)] = log
        there |= {log} if (project.folder / output).exists() else set()
        values = map(ast.literal_eval, record["params"])
        found |= {
            log for value in values if isinstance(value, str) and _FINGERPRINT.fullmatch(value) and changed(value)
        }
    before = {log: {maker[file] for file in files if file in maker} for log, files in inputs.items()}
    while following := {log for log, earlier in before.items() if earlier & found} - found:
        found |= following
    # Results that were taken away are nobody's wish any more.
    return dict(Counter(jobs[log] for log in found & there))
