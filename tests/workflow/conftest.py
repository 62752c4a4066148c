"""Copies of the project to run Snakemake in, away from the checkout."""

import atexit
import json
import os
import secrets
import shutil
import socket
import subprocess
import textwrap
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile

import pytest

from favor.running.invalidation.fingerprint import EXEMPT, source_code
from favor.running.jobs import forked
from tests.once import made_once

# What libraries read when they are imported, and the workflow sets (favor.running.jobs.environment).
READ_AT_IMPORT = {
    **dict.fromkeys(("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS", "TQDM_DISABLE"), "1"),
    "OMP_WAIT_POLICY": "passive",
}

COPIED = (
    *("Snakefile", "config", "envs", "profiles", "src", "workflow"),
    *("requirements.lock", "LICENSE", "CITATION.cff"),
)

# Jobs that find it on their path note what they execute.
TRACING = Path(__file__).with_name("tracing")

# Does in no time what the real script does in minutes: it leaves its outputs, as files that count as whole. The real
# script stands below "if False", so its imports still count for the code fingerprint.
STUB = """
from pathlib import Path

WHOLE = {{
    ".parquet": b"PAR1" + bytes(4) + b"PAR1",
    ".safetensors": (2).to_bytes(8, "little") + b"{{}}",
    ".json": b"{{}}",
}}
for path in map(Path, snakemake.output):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(WHOLE.get(path.suffix, f"{{path}}\\n".encode()))
# The end of a run reads these.
if snakemake.rule == "compare_all":
    from favor.analysis.schemas import EVIDENCE
    from favor.foundation.parquet import write_parquet

    write_parquet(EVIDENCE.empty(), snakemake.output.evidence, EVIDENCE)
if path.name in ("voice_kept.parquet", "likelihood.parquet"):
    from favor.foundation.parquet import write_parquet
    from favor.scores.schemas import SCORES

    write_parquet(SCORES.empty(), path, SCORES)
if False:
{original}
"""


@cache
def fork_server() -> dict[str, str]:
    """Start a process that all runs and their jobs are forked from; return the variable by which runs find it."""
    name = f"favor-{secrets.token_hex(16)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked, "_SCRIPT", Path(__file__).with_name("fork_server.py"))
        for variable, value in READ_AT_IMPORT.items():
            patch.setenv(variable, value)
        atexit.register(forked.start(name).communicate)  # it ends where its input does
    return {forked.SERVER: name}


def run_forked(lines, folder, environment, answers="", merged=True) -> subprocess.CompletedProcess[str]:
    """Run lines of Python in ``folder``, in a fork of the server that has libraries and Snakemake imported.

    ``answers`` is its standard input; ``merged``: standard error is part of what it printed.
    """
    end = time.monotonic() + 600
    with (
        NamedTemporaryFile("w+", suffix=".py") as script,
        TemporaryFile("w+") as given,
        TemporaryFile("w+") as out,
        TemporaryFile("w+") as errors,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        for file, text in ((script, lines), (given, answers)):
            file.write(text)
            file.seek(0)
        while connection.connect_ex(f"\0{fork_server()[forked.SERVER]}"):  # until its libraries are imported
            assert time.monotonic() < end, "no process that jobs are forked from"
            time.sleep(0.1)
        variables = {"OMP_NUM_THREADS": "1"} | environment
        request = {"script": script.name, "rule": "favor", "folder": str(folder), "environment": variables}
        content = json.dumps(request).encode()
        files = [file.fileno() for file in (given, out, out if merged else errors)]
        socket.send_fds(connection, [len(content).to_bytes(8)], files)
        connection.sendall(content)
        _, ended = connection.makefile("r")
        printed = [file.seek(0) or file.read() for file in (out, errors)]
        return subprocess.CompletedProcess(lines, json.loads(ended)[0], *printed)


def run_snakemake(arguments, folder, environment) -> subprocess.CompletedProcess[str]:
    lines = f"import sys\nfrom snakemake.cli import main\n\nsys.argv = {['snakemake', *arguments]!r}\nmain()\n"
    return run_forked(lines, folder, environment)


@dataclass(frozen=True)
class Project:
    """A copy of the project in ``folder``; ``originals`` holds the texts of edited files.

    ``traced``: its jobs leave what they executed (:mod:`tests.workflow.traced`). ``warm``: they are forked from one
    process for all runs (:mod:`favor.running.jobs.forked`).
    """

    folder: Path
    traced: bool = False
    warm: bool = True
    originals: dict[Path, str] = field(default_factory=dict)

    def copy(self, folder, traced=False) -> "Project":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder, traced)

    def snakemake(self, *arguments, check=True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy and return what it printed (standard error merged in)."""
        environment = os.environ | (fork_server() if self.warm else {})
        environment["HF_HUB_OFFLINE"] = "1"  # whatever asks for the network fails
        if self.traced:
            (self.folder / "trace").mkdir(exist_ok=True)
            environment |= {
                "FAVOR_TRACE": str(self.folder / "trace"),
                "FAVOR_EXEMPT": " ".join(EXEMPT),
                "PYTHONPATH": str(TRACING),
            }
        done = run_snakemake(["--cores", "2", *arguments], self.folder, environment)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(arguments)} failed:\n{done.stdout[-4000:]}")
        return done

    def favor(self, *arguments, answers="", merged=False) -> subprocess.CompletedProcess[str]:
        """Call the command of the copy's own code in a fork of the process that jobs are forked from."""
        environment = os.environ | fork_server() | {"PYTHONPATH": str(self.folder / "src")}
        lines = f"import sys\nfrom favor.cli import main\n\nsys.argv = {['favor', *arguments]!r}\nmain()\n"
        return run_forked(lines, self.folder, environment, answers, merged)

    def planned(self, *arguments) -> dict[str, int]:
        return planned_jobs(self.snakemake("-n", *arguments).stdout)

    def edit(self, name, old, new) -> None:
        """Replace ``old``, which must stand in the file once, by ``new``."""
        path = self.folder / name
        text = path.read_text()
        assert text.count(old) == 1, f"{name}: {text.count(old)} times {old!r}"
        self.originals.setdefault(path, text)
        path.write_text(text.replace(old, new))

    def restore(self) -> None:
        while self.originals:
            path, text = self.originals.popitem()
            path.write_text(text)


def planned_jobs(output) -> dict[str, int]:
    """Return the last table of job counts in Snakemake's output."""
    jobs: dict[str, int] = {}
    for block in output.split("Job stats:")[1:]:
        rows = [line.split() for line in block.splitlines()[3:]]
        jobs = {}
        for row in rows:
            if len(row) != 2 or row[0] == "total":
                break
            jobs[row[0]] = int(row[1])
    jobs.pop("all", None)
    return jobs


def copy_project(repository, folder, *configurations, only=COPIED, traced=False) -> Project:
    """Copy the parts of the project that a run needs, what was compiled and indexed of them before, and test data."""
    ignored = shutil.ignore_patterns("*.egg-info")
    source_code(repository / "src")
    for name in only:
        source = repository / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    for name in configurations:
        shutil.copy(repository / "tests" / "data" / name, folder)
    return Project(folder, traced)


def use_planned_configuration(repository, project) -> None:
    """Put the tests' small configuration in the place of the demo's, which may grow."""
    shutil.copyfile(repository / "tests" / "data" / "planned.yaml", project.folder / "config" / "config.yaml")


@pytest.fixture(scope="session")
def micro(repository, tmp_path_factory) -> Project:
    """The micro configuration, its corpus read and its base model and style encoder made; not to be changed.

    What made them was traced.
    """

    def make(folder) -> None:
        project = copy_project(repository, folder, "micro.yaml", traced=True)
        made = ("models/micro/base/model.safetensors", "encoders/asce_a/encoder.json")
        project.snakemake("--configfile", "micro.yaml", "--", *(f"results/{name}" for name in made))

    return Project(made_once(tmp_path_factory, "micro", make))


@pytest.fixture(scope="session")
def stubbed(repository, tmp_path_factory) -> Project:
    """A project whose scripts leave their outputs at once, after one whole run of ``tests/data/planned.yaml``."""
    project = copy_project(repository, tmp_path_factory.mktemp("stubbed") / "project")
    use_planned_configuration(repository, project)
    for script in (project.folder / "workflow" / "scripts").glob("*.py"):
        script.write_text(STUB.format(original=textwrap.indent(script.read_text(), "    ")))
    project.snakemake("--cores", "4")
    return project
