"""Forks jobs from a process that has their libraries imported. Run as a script; favor.running.jobs.forked asks it.

Nothing of the package is imported before the fork, so a job runs the code of its own checkout. A job starts with the
folder, environment, standard files and arguments that the request names, imports "sitecustomize" again, as Python does
at its start, and ends with the exit status that Python would give. Linux only.

Argument: the name of the socket (of Linux's abstract ones, which no file stands for) that it listens at once the
libraries are imported. It serves its own user, and ends when its standard input does; jobs under way go on then.
"""

import atexit
import gc
import importlib
import importlib.util
import inspect
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import tempfile
import traceback
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import threadpoolctl

HEADER = 8  # bytes of a request's length


def serve(name: str) -> tuple[dict[str, Any], list[int]]:
    """Fork for every request; return, in the process that is to run the job, the request and its standard files."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen(64)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for Snakemake and its jobs
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
                sys.exit()
            client, _ = listener.accept()
            if user(client) == os.getuid() and not os.fork():
                break
            client.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    header, files, _, _ = socket.recv_fds(client, HEADER, 3)
    size = int.from_bytes(header)
    with client.makefile("rb") as reader:
        content = reader.read(size)
    if not size or len(content) < size:
        os._exit(1)  # Snakemake was killed while it asked
    job = os.fork()
    if job:
        watch(job, client)
    client.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until job_log raises it
    return json.loads(content), files


def user(client: socket.socket) -> int:
    """Return the user at the other end of a socket."""
    return int(struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])


def watch(job: int, client: socket.socket) -> NoReturn:
    """Tell the client the job's process, wait until it ends, tell its status and what it used, and end.

    What the system counted of the job and of the processes that it waited for, as a Snakemake benchmark names it:
    processor seconds, the peak memory of the largest process and what was read and written, in MB.
    """
    with suppress(ConnectionError):  # Snakemake was killed; its jobs go on
        client.sendall(f"{job}\n".encode())
        _, ended, used = os.wait4(job, 0)
        measured = {
            "cpu_time": used.ru_utime + used.ru_stime,
            "max_rss": used.ru_maxrss / 1024,
            "io_in": used.ru_inblock / 2048,
            "io_out": used.ru_oublock / 2048,
        }
        client.sendall(json.dumps([os.waitstatus_to_exitcode(ended), measured]).encode() + b"\n")
    os._exit(0)


def become(request: dict[str, Any], files: list[int]) -> Callable[[], None]:
    """Turn this process into the job; return what runs its script."""
    for target, source in enumerate(files):
        os.dup2(source, target)
        os.close(source)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    script = request["script"]
    Path("/proc/self/comm").write_text(request["rule"])  # what "top" shows
    sys.argv = [script]
    sys.orig_argv = [sys.executable, script]
    sys.path[:0] = [os.path.dirname(script), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    # Linear algebra took its number of threads from the environment when it was loaded.
    threadpoolctl.threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
    sys.modules.pop("sitecustomize", None)
    if importlib.util.find_spec("sitecustomize"):
        importlib.import_module("sitecustomize")
    main = ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    code = compile(Path(script).read_bytes(), script, "exec")
    return lambda: exec(code, vars(main))


def end_with(run: Callable[[], object]) -> NoReturn:
    """Run a program's work and end as Python does, without taking apart the libraries that came with the fork."""
    status = 0
    try:
        run()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while libraries are imported prints no traceback
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for library in runpy.run_path(str(Path(__file__).with_name("preloaded.py")))["LIBRARIES"]:
        importlib.import_module(library)
    # The names that weights of all architectures had: built once per process, for 0.3 s.
    importlib.import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("")
    # Which file each module came from, which torch looks up where a job registers an operator: 0.1 s.
    inspect.getmodule(serve.__code__)
    # Jobs inherit it: encoders and generation, too, free and ask for the same few MiB over and over.
    runpy.run_path(str(Path(__file__).with_name("processor_memory.py")))["keep_freed_memory"]()
    # What torch takes apart and counts up at the end of a process would cost each job 0.1 s.
    for finalizer in weakref.finalize._registry:  # type: ignore[attr-defined]
        finalizer.atexit = False
    atexit.unregister(importlib.import_module("torch._dynamo.utils").dump_compile_times)
    assert "favor" not in sys.modules
    gc.freeze()
    requested = serve(sys.argv[1])
    end_with(lambda: become(*requested)())
