"""What every workflow script does around its work: it takes its configuration and threads from the rule, and logs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

from favor.running.jobs.job_log import logged


@contextmanager
def job(snakemake: Any) -> Iterator[dict[str, Any]]:
    """Run a script's work, and yield the rule's ``cfg`` (its configuration; empty if the rule has none).

    Raises as :func:`favor.running.jobs.job_log.logged` says.
    """
    _compute_as_configured(snakemake)
    with logged(snakemake):
        yield dict(snakemake.params.get("cfg", None) or {})


def _compute_as_configured(snakemake: Any) -> None:
    """Let torch and linear algebra use the configured number of threads: sums must not depend on ``--cores``."""
    threads, torch = snakemake.resources.get("compute_threads"), sys.modules.get("torch")
    if threads is None:
        return
    threadpoolctl.threadpool_limits(threads)
    if torch is not None:
        torch.set_num_threads(threads)
