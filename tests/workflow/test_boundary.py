"""The data-locality boundary, proved from the planned jobs: no server rule reads what belongs to a client."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.workflow.conftest import copy_project, use_planned_configuration

pytestmark = pytest.mark.slow(15)

SERVER_RULES = {"aggregate", "aggregate_with_memory", "draw_random_adapter", "initialise_server"}


@pytest.fixture(scope="module")
def jobs(repository, tmp_path_factory) -> list[Any]:
    """(rule, inputs, outputs) of every job of a whole run."""
    project = copy_project(repository, tmp_path_factory.mktemp("boundary") / "project")
    use_planned_configuration(repository, project)
    output, found = project.snakemake("-n").stdout, []
    for block in re.split(r"\n\[.*\]\n", output):
        rule = re.match(r"(?:local)?rule (\w+):", block)
        if rule:
            fields = dict(re.findall(r"^    (\w+): (.*)$", block, flags=re.MULTILINE))
            found.append((rule[1], fields.get("input", "").split(", "), fields.get("output", "").split(", ")))
    return found


def is_private(path) -> bool:
    return "/clients/" in path


def test_no_server_rule_reads_a_file_of_a_client(jobs) -> None:
    seen = {}
    for rule, inputs, outputs in jobs:
        if rule in SERVER_RULES:
            seen[rule] = seen.get(rule, 0) + 1
            assert not [path for path in inputs + outputs if is_private(path)]
        # Whatever writes to the server's folder is a server rule; the record of the boundary only reads what crossed.
        if any("/server/" in path for path in outputs):
            assert rule in SERVER_RULES
    assert seen == {"aggregate": 12, "initialise_server": 2}


def test_what_the_server_reads_of_clients_is_uploads_only(jobs) -> None:
    for rule, inputs, _ in jobs:
        if rule == "aggregate":
            assert all("/uploads/" in path or "/server/" in path for path in inputs)


def test_personal_adapters_and_residuals_are_private_files(jobs) -> None:
    for rule, _, outputs in jobs:
        if rule == "train_personal":
            assert all(is_private(path) for path in outputs)
        if rule == "train_shared":
            public = [path for path in outputs if not is_private(path)]
            assert len(public) == 1
            assert "/uploads/" in public[0]
