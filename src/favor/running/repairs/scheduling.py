"""A repair of Snakemake's scheduler (9.27), applied while the workflow is parsed: it looks for jobs once per second.

Every job that ended added a look of its own, each with a thread: 130 per second after 148 jobs.
"""

from threading import Timer
from typing import Any

from snakemake.scheduling.job_scheduler import JobScheduler


def look_again_once() -> None:
    """Schedule at most one pending evaluation per delay. A Snakemake without the method stays as it is."""
    if hasattr(JobScheduler, "_schedule_reevalutation"):  # as Snakemake spells it
        JobScheduler._schedule_reevalutation = _look_again


def _look_again(scheduler: Any, delay: float) -> None:
    """Wake the ``scheduler`` in ``delay`` seconds, unless it is to be woken already."""
    coming = vars(scheduler).setdefault("looks_to_come", set())
    if delay in coming:
        return
    coming.add(delay)

    def look() -> None:
        coming.remove(delay)  # first: the look that follows may ask for the next one
        scheduler._open_jobs.release()

    timer = Timer(delay, look)
    timer.daemon = True  # Snakemake ends when its jobs have
    timer.start()
