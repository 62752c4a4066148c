"""Slurm jobs that an earlier Snakemake, which has ended, left running in a folder."""

import os
import subprocess
import time
from pathlib import Path

from favor.foundation.errors import UserError

_UNFINISHED = "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING"


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
