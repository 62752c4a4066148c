"""GPU jobs on one machine: no more at once than there are GPUs. That each is on its own: tests/running/devices."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.slow(15)

SNAKEFILE = """
import os, sys
sys.path.insert(0, "src")
os.environ["PYTHONPATH"] = os.path.abspath("src")
from favor.foundation.errors import UserError
from favor.running.devices.leases import limit_gpu_jobs

if workflow.is_main_process:
    try:
        limit_gpu_jobs(workflow)
    except UserError as error:
        sys.exit(str(error))

rule all:
    input:
        expand("{number}.txt", number=range(6)),

rule train:
    output:
        "{number}.txt",
    resources:
        gpu=1,
    script:
        "train.py"
"""
SCRIPT = """
from favor.running.devices.leases import lease

device = lease(snakemake)

import sys, time
from pathlib import Path

assert "torch" not in sys.modules
time.sleep(1)
Path(snakemake.output[0]).write_text(str(device))
"""


@pytest.fixture
def project(repository, tmp_path, monkeypatch) -> Project:
    for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FAVOR_GPUS", "4")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    project = replace(copy_project(repository, tmp_path / "project", only=("src", "workflow", "profiles")), warm=False)
    (project.folder / "Snakefile").write_text(SNAKEFILE)
    (project.folder / "train.py").write_text(SCRIPT)
    return project


@pytest.mark.parametrize(
    ("variable", "arguments", "limit", "devices"),
    [
        (("FAVOR_GPUS", "4"), (), "4", "0123"),
        # The user's own limit wins: more jobs than devices, asked for by name, share.
        (("CUDA_VISIBLE_DEVICES", "7"), ("--resources", "gpu=2"), "2", "7"),
        (("FAVOR_GPUS", "0"), (), None, ["None"]),
    ],
)
def test_as_many_gpu_jobs_run_as_there_are_gpus(project, monkeypatch, variable, arguments, limit, devices) -> None:
    monkeypatch.setenv(*variable)
    output = project.snakemake("--cores", "6", *arguments).stdout
    found = [path.read_text() for path in project.folder.glob("?.txt")]
    assert len(found) == 6
    assert {*found} == {*devices}
    assert "waits for one of" not in output  # the limit, and not a wait for a lease, holds jobs back
    said = re.search(r"Provided resources: gpu=\D*(\d+)\b", output)
    assert (said and said[1]) == limit


# Runs the imports of every script, and names those that ask CUDA for anything: a GPU is leased after them.
IMPORTS = """
import ast, sys
from pathlib import Path
import torch

asked = []
for name in ("_lazy_init", "is_available", "device_count", "current_device", "get_device_properties"):
    setattr(torch.cuda, name, lambda *_, name=name: asked.append(name) or 0)
for path in sorted(Path(sys.argv[1]).glob("*.py")):
    before = len(asked)
    nodes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(nodes, []), str(path), "exec"), {})
    if asked[before:]:
        print(path.name, asked[before:])
"""


def test_no_script_asks_for_a_gpu_while_it_imports(repository) -> None:
    command = [sys.executable, "-c", IMPORTS, str(repository / "workflow" / "scripts")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == ""
