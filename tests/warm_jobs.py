"""Jobs whose libraries are already imported: this process imports them once and forks for every script.

Start it with "python -m tests.warm_jobs" and the number of a listening socket. Nothing of the project is imported
before the fork, so a job runs the code of its own folder, and results are the same (the tests of faults hold jobs of
either kind against the other). It ends when its standard input does.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from tests.forked import end_with

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "tests" / "workflow" / "warm"

# What jobs import beside the project: base models of the tests are of Qwen2's kind, encoders of RoBERTa's and BERT's.
LIBRARIES = (
    *("pandas", "pyarrow.dataset", "pyarrow.parquet", "scipy.stats", "sklearn.metrics", "regex"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg"),
    *("torch", "torch._dynamo", "safetensors.torch", "tokenizers", "accelerate", "snakemake.script"),
    *("transformers.models.auto.tokenization_auto", "transformers.models.qwen2.modeling_qwen2"),
    *("transformers.models.roberta.modeling_roberta", "transformers.models.bert.modeling_bert"),
)
# What these libraries read when they are imported; jobs have the same from the workflow (favor.running.environment).
READ_AT_IMPORT = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "OMP_WAIT_POLICY": "passive"}


@cache
def _address() -> str:
    """Start the process; return where it listens."""
    folder = TemporaryDirectory(prefix="favor-warm-")
    atexit.register(folder.cleanup)
    address = str(Path(folder.name, "jobs"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        number = listener.fileno()
        command = [sys.executable, "-m", "tests.warm_jobs", str(number)]
        environment = os.environ | READ_AT_IMPORT
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number], cwd=ROOT, env=environment)
    atexit.register(server.communicate)
    return address


def warmed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which the jobs of a run are forked; what its PYTHONPATH customises holds for them."""
    path = os.pathsep.join(filter(None, (str(CLIENT), environment.get("PYTHONPATH"))))
    return {**environment, "PYTHONPATH": path, "FAVOR_WARM": _address()}


def _accept(listener: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork for every job; return what it asks for, and its standard files, in the process that is to run it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
            sys.exit()
        client, _ = listener.accept()
        if not os.fork():
            break
        client.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    listener.close()
    header, files, _, _ = socket.recv_fds(client, 8, 3)
    size, content = int.from_bytes(header), b""
    while len(content) < size:
        content += client.recv(size - len(content))
    child = os.fork()
    if child:
        ended = os.pidfd_open(child)
        if ended not in select.select([ended, client], [], [])[0]:
            os.kill(child, signal.SIGKILL)  # whoever waited for it was killed
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        try:
            client.sendall(str(status % 256).encode())
        finally:
            os._exit(0)
    client.close()
    return json.loads(content), files


def _become(request: dict[str, Any], files: list[int]) -> None:
    """Run a script as Python does."""
    for target, source in enumerate(files):
        os.dup2(source, target)
        os.close(source)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    script = request["script"]
    sys.argv = sys.orig_argv = [script]
    places = [place for place in os.environ["PYTHONPATH"].split(os.pathsep) if place != str(CLIENT)]
    sys.path[:1] = [os.path.dirname(script), *places]
    customised = PathFinder.find_spec("sitecustomize", places)
    if customised is not None and customised.loader is not None:
        customised.loader.exec_module(importlib.util.module_from_spec(customised))
    main = ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    code = compile(Path(script).read_bytes(), script, "exec")
    end_with(lambda: exec(code, vars(main)))


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    # The names that weights of all architectures had: built once per process, for 0.3 s.
    importlib.import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("")
    assert "favor" not in sys.modules
    gc.freeze()
    _become(*_accept(socket.socket(fileno=int(sys.argv[1]))))
