"""The conda environments and the lock file pin the same versions, torch first."""

from __future__ import annotations

import re

import pytest
import yaml

LOCK = "requirements.lock"


def pins(lines):
    return dict(line.strip().split("==") for line in lines if "==" in line)


@pytest.fixture
def lock(repository):
    return pins((repository / LOCK).read_text().splitlines())


def test_every_environment_pins_what_the_lock_pins(repository, lock):
    environments = sorted((repository / "envs").glob("*.yaml"))
    assert environments
    for path in environments:
        (packages,) = [
            item["pip"] for item in yaml.safe_load(path.read_text())["dependencies"] if isinstance(item, dict)
        ]
        for name, version in pins(packages).items():
            assert lock[name] == version, f"{path.name}: {name}"
        assert len(pins(packages)) == len(packages), f"{path.name}: every package is pinned"


def test_every_rule_names_an_environment_a_log_and_a_benchmark(repository):
    for path in sorted((repository / "workflow" / "rules").glob("*.smk")):
        for rule in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            name = rule.split(":")[0]
            for directive in ("conda", "log", "benchmark", "params", "script"):
                assert f"    {directive}:" in rule, f"{path.name}: rule {name} has no {directive}"
            assert f"../scripts/{name}.py" in rule, f"rule {name} and its script share one name"
            assert (repository / "workflow" / "scripts" / f"{name}.py").is_file()


def test_the_lock_pins_torch_first_and_every_package(repository):
    lines = [line for line in (repository / LOCK).read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "torch==2.13.0"
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==\S+", line) for line in lines)
