"""What holds of every rule, as Snakemake reads it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.rules import read_rules

pytestmark = pytest.mark.slow(15)

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
        assert {"local_files", "handed_over", "libraries", "code"} <= set(rule["params"]), rule["name"]
        assert {"mem_mb", "runtime", "gpu", "compute_threads"} <= set(rule["resources"]), rule["name"]


def test_what_a_rule_does_not_say_follows_from_its_script_and_what_it_says_stays(rules) -> None:
    named = {rule["name"]: rule for rule in rules}
    assert named["check"]["log"] == ["results/logs/check.log"]
    assert named["train_personal"]["benchmark"] == (
        "results/benchmarks/train_personal/{experiment}-seed{seed}-{method}-{phase}-batch{batch}.tsv"
    )
    assert named["train_personal_temporary"]["benchmark"] == named["train_personal"]["benchmark"]
    assert named["generate_part"]["log"] == ["results/logs/generate/{experiment}-seed{seed}-{method}-part{part}.log"]
    assert named["pretrain_base"]["log"] == [
        f"results/logs/pretrain_base/{{model}}.{end}" for end in ("log", "parquet")
    ]
    assert named["score"]["resources"]["mem_mb"] == "77"  # --set-resources


MODULE = """
import yaml

rule mine:
    output: "mine.txt"
    script: "mine.py"

module favor:
    snakefile: "{repository}/workflow/Snakefile"
    config: yaml.safe_load(open("{repository}/config/config.yaml"))
    prefix: "before"

use rule * from favor exclude all as *

use rule score from favor as score with:
    log: "own/{{experiment}}-{{family}}.log"

use rule judge as judge_again with:
    output: judgements="again/{{experiment}}.parquet"
"""


def test_a_workflow_around_this_one_moves_and_replaces_what_is_filled_in(repository, tmp_path) -> None:
    outer = tmp_path / "Snakefile"
    outer.write_text(MODULE.format(repository=repository))
    named = {rule["name"]: rule for rule in read_rules(repository, outer)}
    assert named["check"]["log"] == ["before/results/logs/check.log"]
    assert named["check"]["benchmark"] == "before/results/benchmarks/check.tsv"
    assert named["score"]["log"] == ["own/{experiment}-{family}.log"]
    assert named["score"]["benchmark"] == "before/results/benchmarks/score/{experiment}-{family}.tsv"
    assert named["judge_again"]["log"] == named["judge"]["log"] == ["before/results/logs/judge/{experiment}.log"]
    assert named["judge_again"]["params"] == ["cfg", "local_files", "handed_over", "libraries", "code"]
    assert not named["mine"]["log"]  # a rule that is not ours stays as it is


def test_every_script_is_run_by_a_rule_of_its_name(repository, rules) -> None:
    scripts = {path.stem for path in (repository / "workflow" / "scripts").glob("*.py")}
    assert {Path(rule["script"]).stem for rule in rules} == scripts
    assert scripts <= {rule["name"] for rule in rules}


def captions(repository, programs) -> set[str]:
    """The captions of the rules that are planned where these programs are the only ones."""
    rules = read_rules(repository, PATH=str(programs))
    return {Path(caption).name for rule in rules for caption in rule["captions"]}


def test_every_caption_belongs_to_an_output_that_is_shown(repository, tmp_path) -> None:
    written = {path.name for path in (repository / "workflow" / "report").glob("*.rst")}
    written.remove("workflow.rst")  # the page above all of them
    (tmp_path / "which").symlink_to(str(shutil.which("which")))  # Snakemake's Slurm plugin asks it for tools
    assert captions(repository, tmp_path) == written - {"pdf.rst", "card.rst"}
    latex = tmp_path / "pdflatex"
    latex.touch(0o755)
    assert captions(repository, tmp_path) == written
