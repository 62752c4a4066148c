"""Copies of a finished run to break, and ways to break them."""

import ctypes
import os
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from threading import Thread
from typing import Any

import psutil
import pytest

from tests.shortest import ARGUMENTS, TABLES, Project, finished_run  # noqa: F401 - a fixture
from tests.workflow.conftest import fork_server

CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 1, 24  # linux/capability.h, linux/prctl.h


@pytest.fixture
def project(finished, tmp_path) -> Project:
    return finished.copy(tmp_path / "project")


def start(project, *targets, environment=None, before=None, warm=False) -> subprocess.Popen[str]:
    """Start Snakemake as the leader of a session of its own; :func:`ended` waits for it, ``printed`` holds its lines.

    ``warm``: its jobs are forked from the process that serves all tests.
    """
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *ARGUMENTS, *(targets or TABLES)]
    process = subprocess.Popen(
        command,
        cwd=project.folder,
        env={**os.environ, **(environment or {}), **(fork_server() if warm else {})},
        stdout=subprocess.PIPE,  # a file would fall under a limit on the size of files
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )
    process.printed = []
    process.reader = Thread(target=lambda: process.printed.extend(process.stdout), daemon=True)
    process.reader.start()
    return process


def ended(process) -> str:
    process.wait()
    process.reader.join()
    return "".join(process.printed)


def completes(project, *targets) -> str:
    return project.snakemake(*ARGUMENTS, *(targets or TABLES)).stdout


def jobs_of(process) -> list[psutil.Process]:
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                command = " ".join(child.cmdline())
                forked = "fork_server.py" in command and not child.name().startswith("python")  # named as its rule
                if forked or ".snakemake/scripts/" in command:
                    found.append(child)
    return found


def wait_for(condition, seconds=1800) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


def in_jobs(folder, rule, code) -> dict[str, str]:
    """The environment in which the script of ``rule`` runs ``code`` before anything else."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        f"import sys\nif any(a.endswith('.{rule}.py') for a in sys.orig_argv):\n{textwrap.indent(code, '    ')}\n"
    )
    return {"PYTHONPATH": str(folder)}


def file_limit(size) -> str:
    """Code after which no file of the process can grow beyond ``size`` bytes: to the process, a full disk."""
    return f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"


def obeys_permissions() -> None:
    """Make the process about to start obey the permissions of files, as root too."""
    if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot drop CAP_DAC_OVERRIDE")


def remove(project, names) -> None:
    for name in names:
        (project.folder / "results" / name).unlink()
