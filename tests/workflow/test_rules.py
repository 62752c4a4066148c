"""What holds of every rule, as Snakemake reads it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.rules import read_rules

Rules = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rules(repository) -> Rules:
    found = read_rules(repository)
    assert len(found) > 50
    assert not [rule["name"] for rule in found if rule["shell"]]  # what a rule says to a shell is in no fingerprint
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


def test_a_rule_takes_the_fingerprint_of_the_script_that_it_runs(repository) -> None:
    text = "".join(path.read_text() for path in sorted((repository / "workflow" / "rules").glob("*.smk")))
    blocks = re.split(r"^(?=rule |use rule )", text, flags=re.MULTILINE)[1:]
    scripts = {}
    for block in blocks:
        used = re.match(r"use rule (\w+) as (\w+)|rule (\w+):", block)
        name, script = used[2] or used[3], re.search(r'"\.\./scripts/(\w+)\.py"', block)
        scripts[name] = script[1] if script else scripts.get(used[1], "")
        for taken in re.findall(r'\bcode\("(\w+)"', block):
            assert taken == scripts[name], name
    assert len(scripts) > 60


def test_every_caption_belongs_to_an_output_that_is_shown(repository, rules) -> None:
    used = {Path(caption).name for rule in rules for caption in rule["captions"]}
    used.add("workflow.rst")  # the page above all of them
    assert used == {path.name for path in (repository / "workflow" / "report").glob("*.rst")}
