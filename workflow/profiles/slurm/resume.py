"""Resume a run on Slurm whose Snakemake is gone (killed, logged out, its machine restarted).

    python workflow/profiles/slurm/resume.py [--cancel] ARGUMENTS OF SNAKEMAKE

Pending jobs of the old run are cancelled and running ones awaited (with --cancel, cancelled too), so that no two copies
write one file. Then Snakemake is unlocked and started with its arguments, and repeats nothing that is finished.
"""

import os
import subprocess
import sys
from pathlib import Path

import psutil

PROFILE = Path(__file__).resolve().parent
sys.path.insert(0, str(PROFILE.parents[2] / "src"))

from favor.foundation.errors import UserError  # noqa: E402
from favor.running.repairs.slurm_plugin import settle  # noqa: E402


def living() -> list[int]:
    """Snakemakes that run in this folder on this machine and are no job's."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        is_snakemake = any(Path(word).name == "snakemake" for word in words[:3])
        if is_snakemake and "--mode" not in words and process.info["cwd"] == os.getcwd():
            found.append(process.info["pid"])
    return found


def main(arguments: list[str]) -> None:
    """Settle or cancel the jobs that Slurm still holds, then start Snakemake again."""
    cancelling = "--cancel" in arguments
    rest = [argument for argument in arguments if argument != "--cancel"]
    if not any(argument.split("=")[0] in ("--workflow-profile", "--executor") for argument in rest):
        rest = ["--workflow-profile", str(PROFILE), *rest]
    if living():
        raise UserError(f"Snakemake still runs here (process {living()[0]}); end it first, or let it go on")
    settle(Path.cwd(), cancelling)
    snakemake = [sys.executable, "-m", "snakemake"]
    subprocess.run([*snakemake, *rest, "--unlock"], check=True)
    os.execv(sys.executable, [*snakemake, *rest])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
