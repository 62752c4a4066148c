"""The environment that jobs inherit from the workflow."""

import logging
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

# Calls of Snakemake that run no job, and so must change no file.
_PLANNING = {
    *("--dry-run", "--dryrun", "--lint", "--unlock", "--summary", "--detailed-summary", "--dag", "--rulegraph"),
    *("--filegraph", "--list", "--list-rules", "--list-target-rules", "--cleanup-metadata", "--report", "--help"),
}


def export_source(source_root: Path) -> None:
    """Let every job import the package from ``source_root``, whichever environment runs it."""
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    paths = [str(source_root), *(entry for entry in others if entry != str(source_root))]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    quiet_libraries()


def quiet_libraries() -> None:
    """Let libraries draw no bars, keep no threads spinning and not ask for what is not needed; before their import."""
    # Bars are drawn with carriage returns, which make no lines in a log; the workflow prints its own progress.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Threads that spin while they wait take a core from whatever else runs, and slow all of it several times over.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # transformers imports bitsandbytes, which on some processors warns that it cannot download a faster 4-bit kernel.
    logging.getLogger("bitsandbytes.backends.cpu.ops").addFilter(lambda record: "kernels" not in record.getMessage())


def latex_available() -> bool:
    """Whether pdfLaTeX is on this machine."""
    return shutil.which("pdflatex") is not None


def only_planning(arguments: Sequence[str]) -> bool:
    """Whether Snakemake was called to plan or inspect, not to run.

    Snakemake itself does not tell a Snakefile that is being parsed.
    """
    return any(
        argument.split("=")[0] in _PLANNING or re.fullmatch(r"-[a-zA-Z]*[nl][a-zA-Z]*", argument)
        for argument in arguments
    )
