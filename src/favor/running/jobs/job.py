"""The frame of every workflow script: it takes its configuration, threads and GPU from the rule, and logs."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar, overload

import threadpoolctl

from favor.foundation.section import Section
from favor.running.devices.leases import lease
from favor.running.jobs.environment import quiet_libraries
from favor.running.jobs.job_log import logged

Settings = TypeVar("Settings", bound=Section)


@overload
def job(snakemake: Any, settings: type[Settings]) -> AbstractContextManager[Settings]: ...
@overload
def job(snakemake: Any) -> AbstractContextManager[dict[str, Any]]: ...
@contextmanager
def job(snakemake: Any, settings: type[Section] | None = None) -> Iterator[Any]:
    """Run a script's work, and yield the rule's ``cfg`` as the ``settings`` that the script reads.

    Raises as :func:`favor.running.jobs.job_log.logged` says.
    """
    quiet_libraries()
    _compute_as_configured(snakemake)
    with logged(snakemake):
        lease(snakemake)  # the imports before have asked for no GPU
        cfg = dict(snakemake.params.get("cfg", None) or {})
        yield cfg if settings is None else settings.model_validate_json(json.dumps(cfg))


def _compute_as_configured(snakemake: Any) -> None:
    """Let torch and linear algebra use the configured number of threads: sums must not depend on ``--cores``."""
    threads, torch = snakemake.resources.get("compute_threads"), sys.modules.get("torch")
    if threads is None:
        return
    threadpoolctl.threadpool_limits(threads)
    if torch is not None:
        torch.set_num_threads(threads)
