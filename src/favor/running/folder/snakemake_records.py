"""Snakemake's records of the results, and what the workflow adds to them (docs/dependencies.md says why)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snakemake.executors.local import RealExecutor
from snakemake.persistence import PersistenceBase
from snakemake.settings.enums import RerunTrigger

from favor.foundation.errors import UserError
from favor.running.folder.output_record import read_record, write_record


def _trusted(workflow: Any) -> bool:
    """Whether the user asked to take files as they are."""
    return RerunTrigger.PARAMS not in workflow.rerun_triggers


def refuse_unrecorded(workflow: Any, stop: Callable[[str], None]) -> None:
    """Let Snakemake call ``stop`` with one line where outputs exist without its record of how they were made.

    Without the record (a lost or missing ``.snakemake``) Snakemake takes a file for up to date, whatever the
    configuration has become.
    """
    has_metadata = PersistenceBase.has_metadata

    def checked(self: PersistenceBase, job: Any) -> bool:
        unrecorded = (path for path in job.output if self.metadata(path) is None and os.path.lexists(path))
        path = None if _trusted(workflow) else next(unrecorded, None)
        if path is not None:
            stop(
                f"{path} has no Snakemake record, so its settings cannot be checked. Were the results copied, or was "
                ".snakemake deleted? Copy the original .snakemake here, or rerun into a new folder (--config "
                "results=PATH). To accept the files as they are, add --rerun-triggers mtime."
            )
        return bool(has_metadata(self, job))

    PersistenceBase.has_metadata = checked


def mark_before_start() -> None:
    """Let Snakemake mark a job's outputs as begun before it starts the job, and not a moment later.

    Ctrl-C or a kill between the two would leave a job that runs on, and outputs that :func:`refuse_unrecorded` refuses.
    """

    def marked(self: RealExecutor, job: Any) -> None:
        job.register()
        self.printjob(job)

    RealExecutor.run_job_pre = marked


def record_outputs(workflow: Any, results: Path) -> None:
    """Put the outputs of the plan on record in ``results``, before its first job.

    Raises ``UserError`` where a job would replace a file that the workflow did not make, or there is no room to write.
    """
    persistence, dag = workflow.persistence, workflow.dag
    made = read_record(results)
    for job in () if _trusted(workflow) else dag.needrun_jobs():
        for path in job.output:
            known = os.path.relpath(path, results) in made or not os.path.lexists(path)
            if known or persistence.metadata(path) is not None:
                continue
            if path not in workflow.async_run(persistence.incomplete(job)):  # begun by a job that was killed
                raise UserError(
                    f"{path} would be replaced, but this workflow did not make it. Move it away, or choose another "
                    "results folder with the key 'results'."
                )
    outputs = made | {os.path.relpath(path, results) for job in dag.jobs for path in job.output}
    if outputs != made:
        write_record(results, outputs)


def record_in_jobs() -> None:
    """Let a job of a cluster record its own parameters, since the process that submitted it may be gone by its end."""
    finished = PersistenceBase.finished

    async def finished_and_recorded(self: PersistenceBase, job: Any) -> None:
        settings = self.dag.workflow.remote_execution_settings
        immediate = settings.immediate_submit
        settings.immediate_submit = True  # jobs that nobody waits for: each records itself
        try:
            await finished(self, job)
        finally:
            settings.immediate_submit = immediate

    PersistenceBase.finished = finished_and_recorded
