"""Where Snakemake is told which changes the user accepts, and where the others are said before the first job.

``PersistenceBase.params_changed`` is wrapped, since no setting keeps results of some rules. ``onstart`` is not called
in a dry run, so the log entry that lists the planned jobs is waited for.
"""

import atexit
import logging
import sys
from collections.abc import Callable
from typing import Any

from snakemake.logging import logger
from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase
from snakemake.settings.enums import RerunTrigger
from snakemake_interface_logger_plugins.common import LogEvent

from favor.foundation.errors import UserError
from favor.running.invalidation.changes import Changes, Difference


def announce_changes(workflow: Any, changes: Changes, planning: bool) -> None:
    """Keep the results that ``changes`` accepts, and say what else changed before the jobs that follow are listed.

    Unless ``planning``, what was accepted and what is behind the fingerprints of the jobs is written down.
    """
    params_changed = PersistenceBase.params_changed

    def unless_accepted(self: PersistenceBase, job: Any, file: Any = None) -> bool | ParamsChange:
        change = params_changed(self, job, file)
        if not change:
            return change
        difference = difference_of(job, change)
        changes.libraries.see(str(job.rule.name), tuple(job.output), difference)
        same = not changes.libraries.rerun and not difference.beside_libraries
        return NO_PARAMS_CHANGE if same or changes.accepts(difference) else change

    def say(record: logging.LogRecord) -> bool:
        if getattr(record, "event", None) == LogEvent.RUN_INFO:
            logger.removeFilter(say)
            _say(workflow, changes)
        return True

    PersistenceBase.params_changed = unless_accepted
    logger.addFilter(say)
    if not planning:
        atexit.register(changes.write_accepted)  # Snakemake lists no jobs where there are none


def check_targets(workflow: Any, targets: Any, stop: Callable[[UserError], None]) -> None:
    """Check what the command line asks for, once Snakemake has told the workflow, before it looks for jobs.

    It does so after the Snakefile is read, and then logs; there is no other call between the two.
    """

    def find(path: str) -> Any:
        return next((rule.get_wildcards(path) for rule in workflow.rules if rule.is_producer(path)), None)

    def check(_record: logging.LogRecord) -> bool:
        if workflow.dag_settings is not None:
            logger.removeFilter(check)
            try:
                _refuse_storage(workflow.storage_settings)
                targets.check(workflow.dag_settings.targets, [rule.name for rule in workflow.rules], find)
            except UserError as error:
                stop(error)
        return True

    logger.addFilter(check)


def _refuse_storage(settings: Any) -> None:
    """Refuse a default storage provider: Snakemake would look there for the files of the checkout too."""
    if settings is not None and settings.default_storage_provider is not None:
        raise UserError(
            f"--default-storage-provider {settings.default_storage_provider}: corpus and results are files of this "
            "machine or of a file system that all jobs see; leave the option out (docs/design.md)"
        )


def _say(workflow: Any, changes: Changes) -> None:
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.rule.norun]
    if RerunTrigger.PARAMS in workflow.rerun_triggers:
        found = ((job, workflow.persistence.params_changed(job)) for job in jobs)
        lines = changes.lines((job.rule.name, difference_of(job, change) if change else None) for job, change in found)
        lines += changes.libraries.lines()
        for line in ("", *lines, "") if lines else ():
            print(line, file=sys.stderr)
    if not workflow.dryrun:
        changes.write(job.params.get("code") for job in jobs)
        changes.libraries.write(tuple(job.output) for job in jobs)


def difference_of(job: Any, change: ParamsChange) -> Difference:
    """Return what a change of a job's parameters is, of the two sets that Snakemake compares."""
    return Difference(str(job.rule.name), frozenset(change.only_old), frozenset(change.only_new))
