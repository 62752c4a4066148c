"""The rules as Snakemake reads them; "python -m tests.workflow.rules" prints them as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def read_rules(repository, snakefile="Snakefile", **environment) -> list[dict[str, Any]]:
    """Return the name, directives and captions of every rule, read in a process of its own, which Snakemake changes."""
    command = [sys.executable, "-m", "tests.workflow.rules", str(snakefile)]
    variables = os.environ | environment
    done = subprocess.run(command, cwd=repository, check=True, stdout=subprocess.PIPE, text=True, env=variables)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def _print() -> None:
    from snakemake.api import SnakemakeApi
    from snakemake.io import strip_wildcard_constraints
    from snakemake.settings.types import ResourceSettings

    with SnakemakeApi() as api:
        given = ResourceSettings(cores=1, overwrite_resources={"score": {"mem_mb": 77}})
        workflow = api.workflow(given, snakefile=Path(sys.argv[1]))._workflow
        rules = [
            {
                "name": rule.name,
                "conda": str(rule.conda_env or ""),
                "script": str(rule.script or ""),
                "shell": str(rule.shellcmd or ""),
                "log": [strip_wildcard_constraints(log) for log in rule.log],
                "benchmark": strip_wildcard_constraints(rule.benchmark or ""),
                "resources": {name: str(value.raw) for name, value in rule.resources.items()},
                "params": [name for name, _ in rule.params._get_names()],
                "captions": [str(output.flags["report"].caption) for output in rule.output if "report" in output.flags],
            }
            for rule in workflow.rules
        ]
    print(json.dumps(rules))


if __name__ == "__main__":
    _print()
