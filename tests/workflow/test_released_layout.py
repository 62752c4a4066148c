"""A run of the lengths that the paper's release prescribes, exported in its layout and to PAN's evaluator."""

import json
from pathlib import Path

import pandas as pd
import pytest

from favor.corpora.settings import DemoCorpus
from favor.demo.writer import write_demo
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet
from tests.publish.test_release_export import lines, validate
from tests.workflow.conftest import copy_project

pytestmark = pytest.mark.slow(28)

METHODS = ("fedavg", "favor")
FILES = ("generations.jsonl", "per_example_metrics.jsonl", "summary_metrics.csv", "training_budget.csv")


@pytest.fixture(scope="module")
def results(repository, tmp_path_factory) -> Path:
    project = copy_project(
        repository, tmp_path_factory.mktemp("lengths") / "project", "micro.yaml", "released_lengths.yaml"
    )
    sizes = {"authors": 24, "minimum_posts": 40, "maximum_posts": 44, "minimum_words": 160, "maximum_words": 240}
    write_demo(project.folder / "raw.csv", DemoCorpus(**sizes, tiny_authors=1, shared_pairs=1))
    targets = [f"results/lengths/exports/release/{method}-seed1/{FILES[0]}" for method in METHODS]
    targets.append("results/lengths/exports/pan/asce_a/favor-seed1/measures.json")  # a file of the right form
    project.snakemake("--configfile", "micro.yaml", "released_lengths.yaml", "--", *targets)
    return project.folder / "results" / "lengths"


@pytest.mark.parametrize("method", METHODS)
def test_a_real_run_validates_against_the_releases_schemas(results, method) -> None:
    folder = results / "exports" / "release" / f"{method}-seed1"
    for name in FILES:
        path = folder / name
        records = lines(path) if path.suffix == ".jsonl" else pd.read_csv(path).to_dict("records")
        assert records
        for record in records:
            validate(record, path.stem)
    report = json.loads((folder / "quality_filter_report.json").read_text())
    validate(report, "quality_filter_report")
    made = read_parquet(results / f"seed1/{method}/generations.parquet", GENERATIONS)
    assert report["passed_samples"] == made["passed"].sum() == len(lines(folder / FILES[0]))
