"""A SuperLink and two SuperNodes on this machine, by the commands of docs/sites.md; a recorder between them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.sites.walk import blocks, run_blocks, small_demo

SITES = {"anna": ("client_001", "9000001"), "bert": ("client_002", "9000002")}


@pytest.fixture(scope="session")
def prepared(repository, tmp_path_factory) -> Path:
    """The walk of the page up to its first round: a coordinator and two sites that know each other's keys."""
    folder = tmp_path_factory.mktemp("prepared") / "project"
    small_demo(repository, folder)
    run_blocks(folder, blocks(repository, "bash")[0][:3])
    return folder


@pytest.fixture(scope="session")
def by_files(repository, prepared, tmp_path_factory) -> Path:
    """The same federation to its end, without Flower."""
    folder = shutil.copytree(prepared, tmp_path_factory.mktemp("by_files") / "project")
    run_blocks(folder, blocks(repository, "bash")[0][3:5])
    return folder


@pytest.fixture(scope="session")
def in_round_two(repository, prepared, tmp_path_factory) -> Path:
    """The same federation with its first round closed, without Flower."""
    folder = shutil.copytree(prepared, tmp_path_factory.mktemp("in_round_two") / "project")
    run_blocks(folder, [blocks(repository, "bash")[0][3].partition("favor server open")[0]])
    return folder


class Recorder:
    """Passes connections on to a port and keeps all bytes of every connection, both ways, in files of a folder."""

    def __init__(self, folder, port) -> None:
        self.folder, self.to = folder, port
        folder.mkdir()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        number = 0
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:  # closed
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:  # no SuperLink: the SuperNode finds its connection closed, as without a recorder
                near.close()
                continue
            number += 1
            for name, source, sink in (("up", near, far), ("down", far, near)):
                into = self.folder / f"{number}_{name}"
                threading.Thread(target=self._pass_on, args=(source, sink, into), daemon=True).start()

    @staticmethod
    def _pass_on(source, sink, into) -> None:
        with into.open("wb", buffering=0) as file:
            with suppress(OSError):  # one of the two was killed
                while content := source.recv(65536):
                    file.write(content)
                    sink.sendall(content)
            for each in (source, sink):
                with suppress(OSError):  # already closed
                    each.shutdown(socket.SHUT_RDWR)

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())


@dataclass
class Flower:
    """Processes of Flower in ``folder``; each leads a group, so that a kill takes all that it started."""

    folder: Path
    commands: dict[str, str]
    recorder: Recorder
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}.log").open("ab")
        binaries = [Path(__file__).resolve().parents[2] / "build/flower/bin", Path(sys.executable).parent]
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([*map(str, binaries), os.environ["PATH"]]),
            "PYTHONPATH": str(self.folder / "src"),
            "FLWR_HOME": str(self.folder / "flwr"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "OMP_NUM_THREADS": "1",
        }
        given = {"cwd": self.folder, "env": environment, "stdout": log, "stderr": log, "start_new_session": True}
        self.running[name] = subprocess.Popen(["bash", "-c", self.commands[name]], **given)
        return self.running[name]

    def kill(self, name) -> None:
        os.killpg(self.running[name].pid, signal.SIGKILL)
        self.running.pop(name).wait()

    def log(self, name) -> str:
        return (self.folder / f"{name}.log").read_text()

    def start_all(self) -> None:
        self.start("superlink")
        self.until(lambda: "Uvicorn running" in self.log("superlink"))
        if "register" in self.commands:
            assert self.start("register").wait(120) == 0, self.log("register")
        for name in SITES:
            self.start(name)
        for name in SITES:
            self.until(lambda name=name: "SuperNode ID" in self.log(name))

    def until(self, happened, seconds=300) -> None:
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, "\n".join(self.log(name)[-3000:] for name in self.running)
            time.sleep(0.2)

    def finish(self, seconds=600) -> str:
        """Start a run and wait for its end; its log."""
        self.start("run").wait(seconds)
        return self.log("run")


@pytest.fixture
def flower(repository, tmp_path) -> Iterator[Callable[..., Flower]]:
    """Makes the processes of a copy of a federation; they are killed at the end."""
    made: list[Flower] = []

    def make(federation, secured=False) -> Flower:
        folder = tmp_path / "project"
        shutil.copytree(federation, folder)
        shutil.copytree(repository / "bridges", folder / "bridges")
        ports = []
        for _ in range(3):
            with socket.create_server(("127.0.0.1", 0)) as free:
                ports.append(free.getsockname()[1])
        recorder = Recorder(tmp_path / "recorded", ports[0])
        _, superlink, nodes, run, keys, register = blocks(repository, "bash")[1]
        (config,) = blocks(repository, "toml")[1]
        (folder / "flwr").mkdir()
        (folder / "flwr" / "config.toml").write_text(config.replace("8000", str(ports[0])))
        anna, bert = (line.replace(":8000", f":{recorder.port}") for line in nodes.splitlines())
        commands = {
            "superlink": f"exec {superlink.strip()} --port {ports[0]}",
            "anna": "exec " + anna.replace("9101", str(ports[1])),
            "bert": "exec " + bert.replace("9102", str(ports[2])),
            "run": f"exec {run}",
        }
        if secured:
            page = (repository / "docs" / "sites.md").read_text()
            link, node, there = re.findall(
                r"^\| (?:SuperLink|SuperNode|`config.toml`) \| `(.*?)`.* \|$", page, re.MULTILINE
            )
            subprocess.run(["bash", "-ec", keys], cwd=folder, check=True)
            for name, options in {"superlink": link, **{name: node.replace("anna", name) for name in SITES}}.items():
                commands[name] = commands[name].replace("--insecure", options)
            toml = folder / "flwr" / "config.toml"
            toml.write_text(toml.read_text().replace("insecure = true", there.replace("/home/me", str(folder))))
            commands["register"] = f"set -e\n{register}"
        made.append(Flower(folder, commands, recorder))
        return made[0]

    yield make
    for each in made:
        each.recorder.server.close()
        for name in list(each.running):
            if each.running[name].poll() is None:
                each.kill(name)
