"""Tells Snakemake which results are kept, and the user, before the first job, what else has changed."""

import logging
import sys
from typing import Any

from snakemake.logging import logger
from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase
from snakemake.settings.enums import RerunTrigger
from snakemake_interface_logger_plugins.common import LogEvent

from favor.running.invalidation.changes import Changes, Difference


def announce_changes(workflow: Any, changes: Changes) -> None:
    """Keep the results that ``changes`` keeps, and print what else changed before the planned jobs are listed."""
    params_changed = PersistenceBase.params_changed

    def unless_kept(self: PersistenceBase, job: Any, file: Any = None) -> bool | ParamsChange:
        change = params_changed(self, job, file)
        return NO_PARAMS_CHANGE if change and changes.keeps(tuple(job.output), difference_of(job, change)) else change

    def say(record: logging.LogRecord) -> bool:
        if getattr(record, "event", None) == LogEvent.RUN_INFO:
            logger.removeFilter(say)
            _say(workflow, changes)
        return True

    PersistenceBase.params_changed = unless_kept
    logger.addFilter(say)


def _say(workflow: Any, changes: Changes) -> None:
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.rule.norun]
    if RerunTrigger.PARAMS in workflow.rerun_triggers:
        found = ((job, workflow.persistence.params_changed(job)) for job in jobs)
        lines = changes.lines((job.rule.name, difference_of(job, change) if change else None) for job, change in found)
        for line in ("", *lines, "") if lines else ():
            print(line, file=sys.stderr)
    if not workflow.dryrun:
        changes.write({tuple(job.output): job.params.get("code") for job in jobs})


def difference_of(job: Any, change: ParamsChange) -> Difference:
    """Return how a job's parameters changed, from the two sets that Snakemake compares."""
    return Difference.read(str(job.rule.name), change.only_old, change.only_new)
