"""A client withdraws after a whole run: what stands then is what a run that never had it leaves, byte for byte."""

import shutil
from typing import Any

import pyarrow.parquet as pq
import pytest

from favor.federation.client_archive import read_pack
from favor.federation.schedule import client_names, cohorts
from tests.shortest import ARGUMENTS, TABLES, contents, finished_run  # noqa: F401 - a fixture
from tests.workflow.conftest import Project, planned_jobs
from tests.workflow.traced import unforeseen

pytestmark = pytest.mark.slow(36)

ROUNDS = cohorts(1, client_names(4), 2, 3)
(LATE,) = set(ROUNDS[1]) - set(ROUNDS[0])  # its first participation is the second round
KEPT = {f"clients/{name}.parquet" for name in ("texts", "allocation", "embeddings/asce_a", "embeddings/stylometry")}


def withdrawn(finished, folder, traced=False) -> Project:
    project = finished.copy(folder, traced)
    project.edit("shortest.yaml", "    seeds: [1]\n", f"    seeds: [1]\n    withdrawn: [{LATE}]\n")
    return project


def named(folder) -> set[str]:
    """Files of the experiment with rows or adapters of the client."""
    found = [path for path in folder.rglob("*.safetensors") if any(LATE in name for name in _clients(path))]
    for path in folder.rglob("*.parquet"):
        if "client" in pq.read_schema(path).names and LATE in pq.read_table(path)["client"].to_pylist():
            found.append(path)
    return {path.relative_to(folder).as_posix() for path in found}


def _clients(path) -> Any:
    return read_pack(path)[0] if {"uploads", "clients"} & set(path.parts) else ()


def test_what_is_left_is_what_a_run_without_the_client_leaves(finished, tmp_path) -> None:
    project = withdrawn(finished, tmp_path / "continued", traced=True)
    results = project.folder / "results" / "short"
    before, first = named(results), next(results.glob("seed1/shared/*/server/round1/adapter.safetensors"))
    made = first.stat().st_mtime_ns
    assert {path for path in before if "round0" in path} == set()
    assert len(before) > 12

    dry = project.snakemake("-n", *ARGUMENTS, *TABLES).stdout
    jobs = planned_jobs(dry)
    assert named(results) == before
    assert {jobs[rule] for rule in ("train_shared", "train_personal", "aggregate")} == {1}
    assert not {"initialise_server", "make_schedule", "allocate_texts", "embed_sources"} & jobs.keys()
    assert f"withdrawn from 'short' ({LATE}): to be deleted results/short/seed1/favor/generations.parquet" in dry

    output = project.snakemake(*ARGUMENTS, *TABLES).stdout
    schedule = "seed1/schedule/coverage_first.parquet"
    for path in before - {schedule} - KEPT:
        assert f"withdrawn from 'short' ({LATE}): deleted results/short/{path}\n" in output
    for path in KEPT:
        assert f"withdrawn from 'short' ({LATE}): rows removed from results/short/{path}\n" in output
    assert named(results) == {schedule}
    assert first.stat().st_mtime_ns == made
    assert f"Withdrawn, so neither trained on nor measured: {LATE}." in (project.folder / TABLES[2]).read_text()
    assert project.planned(*ARGUMENTS, *TABLES) == {}
    assert unforeseen(project.folder) == set()

    fresh = withdrawn(finished, tmp_path / "fresh")
    shutil.rmtree(fresh.folder / "results" / "short")
    fresh.snakemake(*ARGUMENTS, *TABLES)
    assert contents(project) == contents(fresh)
    assert fresh.planned(*ARGUMENTS, *TABLES) == {}
