"""One job alone: ``favor debug`` runs it in this process, ``favor why`` says why it would run again."""

import filecmp
import os
import pdb
import runpy
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from snakemake.api import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, SnakemakeApi
from snakemake.exceptions import MissingInputException, MissingRuleException
from snakemake.iocontainers import Log, OutputFiles, Snakemake
from snakemake.settings.enums import Quietness, RerunTrigger

from favor.foundation.errors import UserError
from favor.foundation.tensors import read_safetensors
from favor.running.invalidation.changes import Difference

TRIGGERS = frozenset(RerunTrigger) - {RerunTrigger.CODE}  # as in profiles/default


def debug(file: str, snakefile: Path, configfiles: Sequence[str], values: Mapping[str, Any], post_mortem: bool) -> None:
    """Run the script of the job that makes ``file``, with its settings and inputs, and keep its outputs apart.

    Nothing is written under a final name: the outputs go to a new folder, and a line for each says whether it holds the
    bytes of the file that the results have. ``breakpoint()`` works in every function that the job calls; with
    ``post_mortem`` the debugger opens where an exception is raised. Raises ``UserError`` where no job makes the file or
    one of its inputs is not there.
    """
    job = _job(file, _planned(file, snakefile, configfiles, values))
    if not job.is_script:
        raise UserError(f"{file}: rule {job.rule.name} has no script; name a file that it reads")
    if missing := [str(path) for path in job.input if not os.path.exists(path)]:
        raise UserError(
            f"{missing[0]}: an input of {job.rule.name} is not there ({len(missing)} of {len(job.input)} are missing); "
            "make it first, with --notemp where a run lets it go: snakemake --notemp FILE"
        )
    folder = Path(tempfile.mkdtemp(prefix=f"favor-{job.rule.name}-"))
    outputs = OutputFiles(toclone=job.output, custom_map=lambda path: str(folder / str(path).lstrip("/")))
    logs = {name: str(folder / path.lstrip("/")) for name, path in job.log.items()}
    for path in (*outputs, *logs.values()):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    script = os.path.join(os.path.dirname(job.rule.snakefile), job.rule.script)
    print(f"{job.rule.name}: {script}\noutputs below {folder}", flush=True)
    described = Snakemake(
        job.input,
        outputs,
        job.params,
        job.wildcards,
        job.threads,
        job.resources,
        Log(),  # without one, errors keep their tracebacks
        job.rule.workflow.config,
        job.rule.name,
        None,
        os.path.dirname(script),
    )
    vars(described.log).update(logs)  # a job may write into one by its name
    started = time.perf_counter()
    try:
        runpy.run_path(script, {"snakemake": described}, "__main__")
    except Exception:
        if not post_mortem:
            raise
        traceback.print_exc()
        pdb.post_mortem()
        sys.exit(1)
    print(f"{job.rule.name}: done in {time.perf_counter() - started:.1f} s")
    for made, path in zip(outputs, job.output, strict=True):
        print(f"{made}: {_compared(Path(made), Path(path))}")


def _compared(made: Path, path: Path) -> str:
    if not path.exists():
        return f"{path} is not there"
    if made.is_dir():
        return f"a folder, as {path} is"
    if made.suffix == ".safetensors":  # their metadata names other files by where the file itself is
        one, other = read_safetensors(made)[0], read_safetensors(path)[0]
        same = one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
        return f"{'the same tensors as' if same else 'differs from'} {path}"
    return f"{'the same bytes as' if filecmp.cmp(made, path, shallow=False) else 'differs from'} {path}"


def why(file: str, snakefile: Path, configfiles: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return lines that say why the job behind ``file`` would run again, or that it would not.

    Settings, inputs, code and libraries that differ from what is recorded are named one by one. What changed for the
    jobs before it is said while the workflow is planned. Raises ``UserError`` where no job makes the file.
    """
    workflow = _planned(file, snakefile, configfiles, values)
    job = _job(file, workflow)
    reason, changes = workflow.dag.reason(job), workflow.globals["changes"]
    lines = [
        *(f"  {path} is not there" for path in sorted(reason.missing_output)),
        *(f"  {path} was not finished" for path in sorted(reason.incomplete_output)),
        *(f"  {path} is newer" for path in sorted(reason.updated_input)),
        *(f"  {path} is made again first" for path in sorted(reason.updated_input_run)),
    ]
    if reason.input_changed:
        lines.append("  it reads other files than it did")
    if change := workflow.persistence.params_changed(job):  # Snakemake's reason names the first cause alone
        lines += [f"  {what}" for what in changes.named(Difference.of(job.rule.name, change))]
    if not workflow.dag.needrun(job):
        return [f"{file}: {job.rule.name} would not run again"]
    return [f"{file}: {job.rule.name} would run again, because", *lines]


def _job(file: str, workflow: Any) -> Any:
    found = next((job for job in workflow.dag.jobs if file in job.output), None)
    if found is None:
        raise UserError(f"{file}: this is a rule; name a file that the workflow makes")
    return found


def _planned(file: str, snakefile: Path, configfiles: Sequence[str], values: Mapping[str, Any]) -> Any:
    """Return Snakemake's workflow after a dry run for ``file``."""
    sys.argv = ["snakemake", "--dry-run"]  # the Snakefile is told so that it writes nothing
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        planned = api.workflow(
            ResourceSettings(cores=1),
            ConfigSettings(config=dict(values), configfiles=[Path(each) for each in configfiles]),
            snakefile=snakefile,
        )
        try:
            planned.dag(DAGSettings(targets={file}, rerun_triggers=TRIGGERS)).execute_workflow("dryrun")
        except MissingRuleException:
            raise UserError(
                f"{file}: no job of this configuration makes it; name the configuration that made it, behind the file"
            ) from None
        except MissingInputException as error:
            raise UserError(f"{file}: no job of this configuration makes it ({error})") from None
        return planned._workflow
