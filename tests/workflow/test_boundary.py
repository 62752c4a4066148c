"""The data-locality boundary, proved from the planned jobs: no server rule reads what belongs to a client."""

import re
from collections import Counter

import pytest

from tests.workflow.conftest import copy_project, use_planned_configuration

pytestmark = pytest.mark.slow(15)

SERVER_RULES = {"aggregate", "aggregate_with_memory", "draw_random_adapter", "initialise_server"}


def is_private(path) -> bool:
    return "/clients/" in path


def test_no_server_rule_reads_or_writes_a_file_of_a_client(repository, tmp_path) -> None:
    """Among the jobs of a whole run; what a client makes and the server reads is an upload."""
    project = copy_project(repository, tmp_path / "project")
    use_planned_configuration(repository, project)
    seen = Counter()
    for block in re.split(r"\n\[.*\]\n", project.snakemake("-n").stdout):
        rule = re.match(r"(?:local)?rule (\w+):", block)
        if not rule:
            continue
        fields = dict(re.findall(r"^    (\w+): (.*)$", block, flags=re.MULTILINE))
        inputs, outputs = (fields.get(name, "").split(", ") for name in ("input", "output"))
        seen[rule[1]] += 1
        if rule[1] in SERVER_RULES:
            assert not [path for path in inputs + outputs if is_private(path)]
        # Whatever writes to the server's folder is a server rule; the record of the boundary only reads what crossed.
        if any("/server/" in path for path in outputs):
            assert rule[1] in SERVER_RULES
        if rule[1] == "aggregate":
            assert all("/uploads/" in path or "/server/" in path for path in inputs)
        # Personal adapters and residuals are private files.
        if rule[1] == "train_personal":
            assert all(is_private(path) for path in outputs)
        if rule[1] == "train_shared":
            (public,) = [path for path in outputs if not is_private(path)]
            assert "/uploads/" in public
    assert {rule: seen[rule] for rule in SERVER_RULES if seen[rule]} == {"aggregate": 12, "initialise_server": 2}
