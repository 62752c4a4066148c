"""Repairs of Snakemake itself, applied while the workflow is parsed; the Slurm plug-in's are its own module's."""

from favor.running.repairs.locks import keep_to_own_locks
from favor.running.repairs.scheduling import look_again_once


def repair_snakemake() -> None:
    """Let its scheduler look for jobs once per second, and a run remove its own locks alone."""
    look_again_once()
    keep_to_own_locks()
