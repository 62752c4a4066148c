"""Repairs of snakemake-executor-plugin-slurm 2.8.0 (docs/dependencies.md), and Slurm jobs that a run has left."""

import os
import subprocess
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from favor.foundation.errors import UserError

PACKAGE = "snakemake-executor-plugin-slurm"
REPAIRED = "2.8.0"
_LONGEST_OUTAGE = 3600.0  # seconds a submission waits for the controller
_UNFINISHED = "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING"


def repair(plugin: ModuleType, poll_seconds: float | None) -> bool:
    """Repair the plugin's module in place; return whether its version is the one that is repaired.

    ``poll_seconds`` is the time between looks at the queue; None keeps the plugin's own.
    """
    if version(PACKAGE) != REPAIRED:
        return False
    if getattr(plugin, "repaired", False):
        return True
    plugin.repaired = True  # type: ignore[attr-defined]
    plugin.query_job_status = _patient(plugin.query_job_status)  # type: ignore[attr-defined]
    plugin.get_min_job_age = _remembered(plugin.get_min_job_age)  # type: ignore[attr-defined]
    executor = plugin.Executor
    executor.run_job = _when_reachable(executor.run_job)
    executor.__post_init__ = _alone(executor.__post_init__, plugin.WorkflowError)
    if poll_seconds is not None:
        constant = property(lambda _: poll_seconds, lambda _self, _value: None)
        executor.next_seconds_between_status_checks = constant
    return True


def _patient(query: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def query_job_status(command: str, logger: Any) -> tuple[dict[str, str], float]:
        status, seconds = await query(command, logger)
        if status is None:
            logger.warning("Slurm does not answer; its jobs stay watched and are asked for again.")
            return {}, 0.0
        return status, seconds

    return query_job_status


def _remembered(ask: Callable[[], int | None]) -> Callable[[], int | None]:
    known: list[int] = []

    def get_min_job_age() -> int | None:
        age = ask()
        if age is not None:
            known[:] = [age]
        return known[0] if known else None

    return get_min_job_age


def _reachable() -> bool:
    return subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode == 0


def _when_reachable(submit: Callable[..., None]) -> Callable[..., None]:
    def run_job(self: Any, job: Any) -> None:
        end = time.monotonic() + _LONGEST_OUTAGE
        told = False
        while not _reachable() and time.monotonic() < end:
            if not told:
                self.logger.warning("Slurm does not answer; the submission waits for it.")
                told = True
            time.sleep(5)
        submit(self, job)

    return run_job


def _alone(prepare: Callable[..., None], refusal: type[Exception]) -> Callable[..., None]:
    def __post_init__(self: Any, test_mode: bool = False) -> None:  # noqa: N807 - stands in for a class's own
        try:
            left = jobs_in(Path.cwd())
        except UserError as error:
            raise refusal(str(error)) from None
        if left:
            raise refusal(
                f"Slurm jobs {', '.join(left)} of an earlier run still work in this folder; "
                "resume with: python workflow/profiles/slurm/resume.py ARGUMENTS OF SNAKEMAKE"
            )
        prepare(self, test_mode)

    return __post_init__


def jobs_in(folder: Path, states: str = _UNFINISHED) -> list[str]:
    """Return the ids of this user's jobs that work in ``folder`` and are in one of the ``states``.

    Snakemake's plugin submits every job with the folder it was started in. Raises ``UserError`` where Slurm does not
    answer. A cluster that does not answer may still run its jobs.
    """
    command = ["squeue", "--noheader", f"--user={os.getuid()}", f"--states={states}", "--format=%A %Z"]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode:
        raise UserError(f"squeue does not answer ({done.stderr.strip()}); try again when Slurm is back")
    jobs = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    return sorted({number for number, place in jobs if Path(place).resolve() == folder.resolve()}, key=int)


def settle(folder: Path, cancelling: bool) -> None:
    """Return once no job works in ``folder``: pending ones are cancelled, running ones finish or are cancelled too."""
    if jobs := jobs_in(folder) if cancelling else jobs_in(folder, "PENDING"):
        # Whether it did is for the queue to tell, since some may have ended just now.
        subprocess.run(["scancel", *jobs], check=False)
    told: list[str] = []
    while left := jobs_in(folder):
        if left != told:
            print(f"waiting for the end of Slurm jobs {', '.join(left)}", flush=True)
            told = left
        time.sleep(5)
