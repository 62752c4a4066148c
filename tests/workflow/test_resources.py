"""Every rule is wired to what it asks a cluster for; the amounts are the planner's (tests/plan/test_costs.py)."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.workflow.conftest import copy_project

pytestmark = pytest.mark.slow(15)

CLUSTER = {
    "partition": "cpu",
    "gpu_partition": "a100",
    "account": "research",
    "gpu_model": "a100",
    "maximum_minutes": 900,
}


@pytest.fixture(scope="module")
def jobs(repository, tmp_path_factory) -> dict[str, dict[str, str]]:
    """Resources of every planned job by rule and wildcards."""
    project = copy_project(repository, tmp_path_factory.mktemp("resources") / "project")
    config = yaml.safe_load((repository / "tests" / "data" / "micro.yaml").read_text()) | {"cluster": CLUSTER}
    (project.folder / "changed.yaml").write_text(yaml.safe_dump(config))
    output = project.snakemake("-n", "--configfile", "changed.yaml").stdout
    found = {}
    for block in re.split(r"\n(?=(?:local)?rule )", output):
        rule = re.match(r"(?:local)?rule (\w+):", block)
        resources = re.search(r"\n    resources: (.*)", block)
        if rule and resources:
            wildcards = re.search(r"\n    wildcards: (.*)", block)
            name = f"{rule[1]} {wildcards[1] if wildcards else ''}".strip()
            found[name] = dict(item.split("=", 1) for item in resources[1].split(", "))
    return found


def of(jobs, rule) -> dict[str, str]:
    """Resources of the rule's first job."""
    return next(resources for name, resources in jobs.items() if name.split()[0] == rule)


def test_partition_account_and_model_follow_the_gpu(jobs) -> None:
    gpu = {"slurm_partition": "a100", "slurm_account": "research", "gpu": "1", "gpu_model": "a100", "nodes": "1"}
    for rule in ("train_shared", "train_personal", "generate", "train_asce", "measure_bertscore", "train_assistant"):
        assert gpu.items() <= of(jobs, rule).items()
    for rule in ("pretrain_base", "build_documents", "score", "fit_stylometry", "aggregate"):
        resources = of(jobs, rule)
        assert resources["gpu"] == "0"
        assert resources["slurm_partition"] == "cpu"
        assert "gpu_model" not in resources
    encoders = {name: job["gpu"] for name, job in jobs.items() if name.startswith("embed_sources")}
    assert encoders["embed_sources experiment=micro, encoder=stylometry"] == "0"
    assert encoders["embed_sources experiment=micro, encoder=minilm"] == "1"
    assert of(jobs, "score")["mem_mb"] == "<TBD>"  # known once its inputs are there
