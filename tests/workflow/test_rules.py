"""What holds of every rule, as Snakemake reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.workflow.rules import read_rules

Rules = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rules(repository) -> Rules:
    found = read_rules(repository)
    assert len(found) > 50
    return [rule for rule in found if rule["script"]]


def test_every_rule_names_an_environment_a_log_a_benchmark_and_what_it_depends_on(rules) -> None:
    for rule in rules:
        assert rule["conda"].startswith("../../envs/"), rule["name"]
        assert rule["log"], rule["name"]
        assert rule["benchmark"], rule["name"]
        assert "code" in rule["params"], rule["name"]


def test_every_script_is_run_by_a_rule_of_its_name(repository, rules) -> None:
    scripts = {path.stem for path in (repository / "workflow" / "scripts").glob("*.py")}
    assert {Path(rule["script"]).stem for rule in rules} == scripts
    assert scripts <= {rule["name"] for rule in rules}


def test_every_caption_belongs_to_an_output_that_is_shown(repository, rules) -> None:
    used = {Path(caption).name for rule in rules for caption in rule["captions"]}
    used.add("workflow.rst")  # the page above all of them
    assert used == {path.name for path in (repository / "workflow" / "report").glob("*.rst")}
