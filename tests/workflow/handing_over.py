"""Hands every job of a finished run its files otherwise, one mutation at a time, and asks whether a parameter changes.

"python -m tests.workflow.handing_over [CONFIGFILE...]" in the folder of the run prints JSON: how many mutations were
made, of which rules, and those that change no parameter.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from favor.running.invalidation.job_inputs import input_output_digest

Files = dict[str, list[str]]  # the files under each name of a job's inputs or outputs


def mutations(named) -> Iterator[tuple[str, Files]]:
    """Yield every swap of the files of two names, and every list reversed, where that changes anything."""
    for one, other in combinations(named, 2):
        if named[one] != named[other]:
            yield f"{one} <-> {other}", {**named, one: named[other], other: named[one]}
    for name, files in named.items():
        if files != files[::-1]:
            yield f"{name} reversed", {**named, name: files[::-1]}


def by_name(files) -> tuple[Files, set[str]]:
    """Return the files under each name, and the names that stand for one file and not for a list."""
    named = {name: [value] if isinstance(value, str) else list(value) for name, value in files.items()}
    return named, {name for name, value in files.items() if isinstance(value, str)}


def rebuilt(files, named, single) -> Any:
    """Return a list of Snakemake's with these files under these names."""
    made = type(files)()
    for name, parts in named.items():
        start = len(made)
        made.extend(parts)
        made._set_name(name, start, end=None if name in single else start + len(parts))
    return made


def unplanned(workflow) -> dict[str, Any]:
    """Mutate what each job of a finished run is given, and return what would rerun nothing."""

    def digits(job) -> tuple[str, str]:
        return input_output_digest(SimpleNamespace(input=job._input, output=job._output))(job.wildcards)

    made, rules, overlooked = 0, set(), []
    for job in sorted(workflow.dag.jobs, key=str):
        if job.rule.norun:
            continue
        assert repr(input_output_digest(job.rule)(job.wildcards)) in workflow.persistence._params(job), job.rule.name
        before = digits(job)
        for part in ("_input", "_output"):
            files = getattr(job, part)
            named, single = by_name(files)
            for title, mutated in mutations(named):
                swapped = title.partition(" <-> ")
                both = single if not swapped[1] else single - {swapped[0], swapped[2]}
                both |= {name for name in (swapped[0], swapped[2]) if name in named and len(mutated[name]) == 1}
                setattr(job, part, rebuilt(files, mutated, both))
                made += 1
                rules.add(job.rule.name)
                overlooked += [f"{job.rule.name}: {title}"] if digits(job) == before else []
            setattr(job, part, files)
    return {"mutations": made, "rules": sorted(rules), "overlooked": overlooked}


def _print() -> None:
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, ResourceSettings

    with SnakemakeApi() as api:
        configuration = ConfigSettings(configfiles=[Path(name) for name in sys.argv[1:]])
        workflow = api.workflow(ResourceSettings(cores=1), configuration, snakefile=Path("Snakefile"))
        workflow.dag().execute_workflow("dryrun")
        print(json.dumps(unplanned(workflow._workflow)))


if __name__ == "__main__":
    _print()
