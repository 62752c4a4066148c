"""Checks of Snakemake's own command line at the start of a run."""

import logging
from collections.abc import Callable
from typing import Any

from snakemake.logging import logger

from favor.foundation.errors import UserError


def check_command_line(workflow: Any, targets: Any, stop: Callable[[UserError], None]) -> None:
    """Check targets and storage, once Snakemake has told the workflow, before it looks for jobs."""

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
