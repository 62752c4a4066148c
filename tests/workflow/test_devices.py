"""GPU jobs on one machine: never more at once than there are GPUs, each on its own."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import replace

import pytest

from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.plan import Planner
from favor.plan.costs import Load
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
begin = time.monotonic()
time.sleep(1)
Path(snakemake.output[0]).write_text(f"{device} {begin} {time.monotonic()}")
"""


@pytest.fixture
def project(repository, tmp_path, monkeypatch) -> Project:
    """Six jobs that ask for a GPU, on a machine that says it has four."""
    for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FAVOR_GPUS", "4")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    project = replace(copy_project(repository, tmp_path / "project", ("src", "workflow", "profiles")), warm=False)
    (project.folder / "Snakefile").write_text(SNAKEFILE)
    (project.folder / "train.py").write_text(SCRIPT)
    return project


def spans(project) -> list[tuple[str, float, float]]:
    """(device, begin, end) of every job."""
    found = [path.read_text().split() for path in sorted(project.folder.glob("*.txt"))]
    assert len(found) == 6
    return [(device, float(begin), float(end)) for device, begin, end in found]


def most_at_once(times) -> int:
    return max(sum(begin <= moment < end for begin, end in times) for moment, _ in times)


def test_as_many_gpu_jobs_run_as_there_are_gpus(project) -> None:
    output = project.snakemake("--cores", "6").stdout
    assert re.search(r"Provided resources: gpu=\D*4\b", output)
    found = spans(project)
    assert {device for device, _, _ in found} == {"0", "1", "2", "3"}
    assert most_at_once([(begin, end) for _, begin, end in found]) <= 4
    for device in "0123":
        assert most_at_once([(begin, end) for name, begin, end in found if name == device] or [(0, 1)]) == 1
    # The limit, and not a wait for a lease, held the other two back.
    assert "waits for one of" not in output


def test_the_users_own_limit_wins(project, monkeypatch) -> None:
    # More jobs than devices, asked for by name: they share.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    output = project.snakemake("--cores", "6", "--resources", "gpu=2").stdout
    assert re.search(r"Provided resources: gpu=\D*2\b", output)
    assert "waits for one of" not in output
    assert most_at_once([(begin, end) for _, begin, end in spans(project)]) == 2
    assert {device for device, _, _ in spans(project)} == {"7"}


def test_without_a_gpu_nothing_is_limited_or_leased(project, monkeypatch) -> None:
    monkeypatch.setenv("FAVOR_GPUS", "0")
    output = project.snakemake("--cores", "6").stdout
    assert "Provided resources" not in output
    assert {device for device, _, _ in spans(project)} == {"None"}
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_every_rule_that_may_use_a_gpu_leases_it_before_all_else(repository) -> None:
    """A rule is named like its script or made of such a rule; a script that leases late has torch on any device."""
    rules = "".join(path.read_text() for path in sorted((repository / "workflow" / "rules").glob("*.smk")))
    loads = Planner(resolve(read_files([str(repository / "tests/data/micro.yaml")])), repository).costs.loads
    # A stage asks for GPUs by a function of its own, or for those of the model that it loads.
    asking = {stage for stage, load in loads.items() if load.gpus or load.model is not Load.model}
    asking -= {"pretrain_base", "dequantise_base"}  # on the processor
    scripts = {rule: base for base, rule in re.findall(r"use rule (\w+) as (\w+) with", rules)}
    leasing = set()
    for path in (repository / "workflow" / "scripts").glob("*.py"):
        statements = [ast.unparse(node) for node in ast.parse(path.read_text()).body[1:]]
        if "lease(snakemake)" in statements:
            assert statements[:2] == ["from favor.running.devices.leases import lease", "lease(snakemake)"], path.name
            leasing.add(path.stem)
    assert leasing == {scripts.get(rule, rule) for rule in asking}
    assert {"train_shared", "train_personal", "generate"} <= leasing
