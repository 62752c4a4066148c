"""Runs of Snakemake whose imports are already done: this process imports it once and forks for every run.

Start it with "python -m tests.warm_snakemake". It reads a line of JSON per run (``arguments``, ``folder``,
``environment``, ``output``: a file for what is printed) and answers with the exit status. Nothing of the project is
imported before the fork, so that a run takes the code of its own folder and ends as ``python -m snakemake`` does.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_snakemake"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)  # it ends where its input does
    return server


def run_snakemake(arguments, folder, environment) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` with the whole ``environment``; return its status and all that it printed."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with TemporaryDirectory() as scratch:
        output = Path(scratch, "output")
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment,
            "output": str(output),
        }
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, output.read_text())


def _serve() -> None:
    """Fork for every line that comes in; return in the child, ready to run."""
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        child = os.fork()
        if child:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(status, flush=True)
            continue
        output = os.open(request["output"], os.O_WRONLY | os.O_CREAT, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[0] = request["folder"]  # as "python -m" does
        sys.argv = ["snakemake", *request["arguments"]]
        return
    sys.exit()


if __name__ == "__main__":
    from snakemake.cli import get_argument_parser, main

    get_argument_parser()  # which imports Snakemake's plug-ins
    for library in ("nbformat", "smart_open", "pydantic.functional_validators"):  # which every run imports later
        import_module(library)
    assert "favor" not in sys.modules
    gc.freeze()
    _serve()
    run_path(str(ROOT / "src/favor/running/jobs/fork_server.py"))["end_with"](main)
