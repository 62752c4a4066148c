"""The rules as Snakemake reads them; "python -m tests.workflow.rules" prints them as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def read_rules(repository) -> list[dict[str, Any]]:
    """Return the name, directives and captions of every rule, read in a process of its own, which Snakemake changes."""
    command = [sys.executable, "-m", "tests.workflow.rules"]
    done = subprocess.run(command, cwd=repository, check=True, stdout=subprocess.PIPE, text=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def _print() -> None:
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ResourceSettings

    with SnakemakeApi() as api:
        workflow = api.workflow(ResourceSettings(cores=1), snakefile=Path("Snakefile"))._workflow
        rules = [
            {
                "name": rule.name,
                "conda": str(rule.conda_env or ""),
                "script": str(rule.script or ""),
                "shell": str(rule.shellcmd or ""),
                "log": len(rule.log),
                "benchmark": str(rule.benchmark or ""),
                "params": [name for name, _ in rule.params._get_names()],
                "captions": [str(output.flags["report"].caption) for output in rule.output if "report" in output.flags],
            }
            for rule in workflow.rules
        ]
    print(json.dumps(rules))


if __name__ == "__main__":
    _print()
