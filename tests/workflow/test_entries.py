"""The workflow can be entered by workflow/Snakefile and as another workflow's module, with the same jobs."""

from __future__ import annotations

import re

import pytest

from tests.workflow.conftest import copy_project

MODULE = """
configfile: "config/config.yaml"

module favor:
    snakefile: "workflow/Snakefile"
    config: config

use rule * from favor exclude all as *

rule mine:
    default_target: True
    input: "results/report.html"
"""


@pytest.fixture(scope="module")
def project(repository, tmp_path_factory):
    return copy_project(repository, tmp_path_factory.mktemp("entries") / "project")


def jobs(printed):
    """The number of jobs by rule that a dry run prints, without the targets themselves."""
    found = dict(re.findall(r"^(\w+) +(\d+)$", printed, re.MULTILINE))
    return {rule: count for rule, count in found.items() if rule not in ("all", "everything", "mine", "total")}


def test_both_entries_and_a_module_plan_the_same_jobs(project):
    root = jobs(project.snakemake("-n").stdout)
    assert len(root) > 30
    assert jobs(project.snakemake("-n", "--snakefile", "workflow/Snakefile").stdout) == root
    (project.folder / "other.smk").write_text(MODULE)
    through_module = jobs(project.snakemake("-n", "--snakefile", "other.smk").stdout)
    assert through_module["train_shared"] == root["train_shared"]
    assert set(through_module) < set(root)
