"""The examples of docs/extending.md are real: each is put where the page says, and the workflow takes it up."""

from __future__ import annotations

import re

import pytest

from tests.workflow.conftest import copy_project, use_planned_configuration

PLACES = {
    "A method": "src/favor/federation/methods/fedavg_finetuned.py",
    "A metric": "src/favor/scores/length.py",
    "A table": "src/favor/report/tables/output_length.py",
}


@pytest.fixture(scope="module")
def extended(repository, tmp_path_factory):
    """A copy of the project with the page's method, metric and table in place."""
    project = copy_project(repository, tmp_path_factory.mktemp("extended") / "project")
    use_planned_configuration(repository, project)
    page = (repository / "docs" / "extending.md").read_text()
    for title, place in PLACES.items():
        section = page.split(f"## {title}\n")[1].split("\n## ")[0]
        (project.folder / place).write_text(re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1])
    rows = re.search(r"```yaml\nmethods:\n(.*?)```", page, flags=re.DOTALL)[1]
    added = "".join(
        f"      {line.split('#')[0].strip()}\n" for line in rows.splitlines() if not line.strip().startswith("favor:")
    )
    project.edit("config/config.yaml", "      favor: {}\n", f"      favor: {{}}\n{added}")
    project.edit(
        "config/config.yaml", "tables: [main_federated_results,", "tables: [output-length, main_federated_results,"
    )
    return project


def test_the_method_runs_on_the_track_it_shares(extended):
    planned = extended.planned()
    # Two seeds; the new rows' personal stages (fine-tuned FedAvg, and the strong FAVoR) beside Ditto's and FAVoR's.
    assert planned["train_shared"] == 12
    assert planned["train_personal"] == 12
    assert planned["generate"] == 12


def test_the_metric_and_the_table_are_planned(extended):
    output = extended.snakemake("-n").stdout
    assert "results/demo/scores/length.parquet" in output
    assert "results/demo/tables/output-length.tex" in output


def test_the_metric_scores(extended, monkeypatch):
    import importlib.util
    from types import SimpleNamespace

    import pandas as pd

    location = extended.folder / PLACES["A metric"]
    spec = importlib.util.spec_from_file_location("length", location)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generations = pd.DataFrame(
        {"seed": [1, 1, 1], "method": ["favor"] * 3, "words": [10, 20, 99], "passed": [True, True, False]}
    )
    scores = module.score(SimpleNamespace(generations=generations), {})
    assert scores["value"].tolist() == [15.0]
    assert scores["n"].tolist() == [2]
