"""What holds of every rule, as Snakemake reads it; "python -m tests.workflow.test_rules" prints that as JSON."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow(15)

Rules = list[dict[str, Any]]


def read_rules(repository, snakefile="Snakefile") -> Rules:
    """Return the name and directives of every rule, read in a process of its own, which Snakemake changes."""
    command = [sys.executable, "-m", "tests.workflow.test_rules", str(snakefile)]
    done = subprocess.run(command, cwd=repository, check=True, stdout=subprocess.PIPE, text=True)
    found: Rules = json.loads(done.stdout)
    return found


def _print() -> None:
    from snakemake.api import SnakemakeApi
    from snakemake.io import strip_wildcard_constraints
    from snakemake.settings.types import ResourceSettings

    with SnakemakeApi() as api:
        given = ResourceSettings(cores=1, overwrite_resources={"score": {"mem_mb": 77}})
        workflow = api.workflow(given, snakefile=Path(sys.argv[1]))._workflow
        rules = [
            {
                "name": rule.name,
                "conda": str(rule.conda_env or ""),
                "script": str(rule.script or ""),
                "shell": str(rule.shellcmd or ""),
                "log": [strip_wildcard_constraints(log) for log in rule.log],
                "benchmark": strip_wildcard_constraints(rule.benchmark or ""),
                "resources": {name: str(value.raw) for name, value in rule.resources.items()},
                "params": [name for name, _ in rule.params._get_names()],
            }
            for rule in workflow.rules
        ]
    print(json.dumps(rules))


@pytest.fixture(scope="module")
def rules(repository) -> Rules:
    found = read_rules(repository)
    assert len(found) > 50
    assert not [rule["name"] for rule in found if rule["shell"]]  # what a rule says to a shell is in no fingerprint
    return [rule for rule in found if rule["script"]]


def test_every_script_has_a_rule_with_environment_log_benchmark_and_what_it_depends_on(repository, rules) -> None:
    scripts = {path.stem for path in (repository / "workflow" / "scripts").glob("*.py")}
    assert {Path(rule["script"]).stem for rule in rules} == scripts
    assert scripts <= {rule["name"] for rule in rules}
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


# What the package imports and Snakemake does not need.
LINT = """
import sys
from snakemake.cli import main
sys.modules.update(dict.fromkeys(["numpy", "pandas", "pyarrow", "safetensors", "scipy", "sklearn", "torch"]))
main(["--lint"])
"""


def test_rules_are_linted_where_the_workflows_own_packages_are_not_installed(repository) -> None:
    """By the linter of the Snakemake workflow catalogue, where nothing but Snakemake is installed."""
    linted = subprocess.run([sys.executable, "-c", LINT], cwd=repository, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stderr
    assert "in a good condition" in linted.stdout + linted.stderr


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


if __name__ == "__main__":
    _print()
