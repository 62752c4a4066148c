"""Local jobs start by a fork of a process that has their libraries imported, which saves each some seconds.

Snakemake's call that runs a script is replaced: :mod:`favor.running.jobs.fork_server` forks the job, and the same
thread waits. Its benchmark is what the system counted until its end. A job that cannot be forked starts as ever.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from snakemake.script import PythonScript

from favor.running.devices.leases import visible_devices

# Names the socket of a server that serves several runs; empty, there is none and none is started.
SERVER = "FAVOR_FORK_SERVER"
_SCRIPT = Path(__file__).with_name("fork_server.py")
_FEWEST = 10  # jobs for which a server pays
# Ctrl-C, which waits until here, ends a job without a traceback while it imports its libraries; job_log raises it.
_QUIET = (
    "import signal; signal.getsignal(signal.SIGINT) == signal.SIG_IGN or signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})"
)
_THREADS = ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")


class ForkServer:
    """The process that jobs are forked from: the one at ``name``, or one that is started where a run has enough jobs.

    It ends with this process, which holds the other end of its standard input.
    """

    def __init__(self, name: str | None) -> None:
        self._name, self._lock = name, Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, unless there is one or none is wanted."""
        with self._lock:
            if self._name is None:
                self._name = f"favor-{secrets.token_hex(16)}"
                self._process = start(self._name)

    def connect(self, jobs: int) -> socket.socket | None:
        """Return a connection; None while the server imports its libraries, and where there is none.

        ``jobs``: how many the run has to do yet.
        """
        if jobs >= _FEWEST:
            self.start()
        if not self._name:
            return None
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(f"\0{self._name}")
        except ConnectionRefusedError:
            connection.close()
            return None
        return connection


def start(name: str) -> subprocess.Popen[bytes]:
    """Start a server that listens at ``name`` until its standard input is closed."""
    # One thread, and no module found beside the script (-P).
    environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in _THREADS}
    with _waiting_interrupts():
        return subprocess.Popen([sys.executable, "-P", str(_SCRIPT), name], stdin=subprocess.PIPE, env=environment)


@contextmanager
def _waiting_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait in what this thread starts, until that no longer prints a traceback."""
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)


def fork_local_jobs(workflow: Any, wanted: bool = True, results: Path | None = None) -> None:
    """Let scripts that run on this machine, beside Snakemake and in its environment, be forked, where that is wanted.

    Not those that take a GPU, since no fork has been tried on one. Where no job has left its benchmark in ``results``
    yet, all are to be done: the server imports its libraries while Snakemake plans them.
    """
    execute, server = PythonScript.execute_script, ForkServer(os.environ.get(SERVER))
    wanted = wanted and sys.platform == "linux"  # elsewhere a fork of a process with threads is not safe

    def fork_or_execute(self: Any, fname: str, edit: bool = False) -> None:
        elsewhere = not wanted or self.conda_env or self.container_img or self.env_modules
        on_gpu = self.resources.get("gpu", 0) and visible_devices()
        connection = None if elsewhere or on_gpu else server.connect(len(list(workflow.dag.needrun_jobs())))
        if connection is None or not _run(self, os.path.abspath(fname), connection):
            Path(fname).write_text(f"{_QUIET}\n{Path(fname).read_text(encoding='utf-8')}", encoding="utf-8")
            with _waiting_interrupts():
                execute(self, fname, edit)

    PythonScript.execute_script = fork_or_execute
    if wanted and results is not None and not (results / "benchmarks").exists():
        workflow.execute = _with_server(workflow.execute, server)


def _with_server(execute: Callable[..., Any], server: ForkServer) -> Callable[..., Any]:
    def start_and_execute(executor_plugin: Any, **settings: Any) -> Any:
        executor = executor_plugin.common_settings
        if executor.local_exec and not (executor.dryrun_exec or executor.touch_exec):
            server.start()
        return execute(executor_plugin=executor_plugin, **settings)

    return start_and_execute


def _run(script: Any, path: str, connection: socket.socket) -> bool:
    """Have a script run and return True, or False where no process could be forked for it.

    Raises ``CalledProcessError`` where the script fails, as Snakemake does.
    """
    content = json.dumps(
        {"script": path, "rule": script.rulename, "folder": os.getcwd(), "environment": _environment(script)}
    ).encode()
    with connection, connection.makefile("r") as answers:
        socket.send_fds(connection, [len(content).to_bytes(8)], [0, 1, 2])
        connection.sendall(content)
        process = int(answers.readline() or 0)
        if not process:
            return False
        started = time.time()
        status, measured = json.loads(answers.readline() or "[1, {}]")
        record = script.bench_record
        if record is not None and measured:  # what the system does not count stays empty
            record.running_time, record.data_collected = time.time() - started, True
            record.cpu_usage = 100 * measured["cpu_time"]  # percent times seconds, which Snakemake divides by seconds
            for name, value in measured.items():
                setattr(record, name, value)
    if status:
        raise subprocess.CalledProcessError(status, f"{sys.executable} {path}")
    return True


def _environment(script: Any) -> dict[str, str]:
    """The environment that ``snakemake.shell.shell`` gives a script."""
    threads = {f"{library}_NUM_THREADS": str(script.threads) for library in _THREADS}
    folder = script.resources.get("tmpdir")
    temporary = dict.fromkeys(("TMPDIR", "TMP", "TEMPDIR", "TEMP"), folder) if folder else {}
    return os.environ | threads | {"VECLIB_MAXIMUM_THREADS": str(script.threads)} | temporary
