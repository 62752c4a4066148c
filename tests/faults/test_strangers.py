"""A results folder that holds a stranger's files: no start, plan, kill or resumed run touches one of them."""

import os
import signal

import pytest

from tests.faults.conftest import completes, ended, jobs_of, remove, start, wait_for
from tests.shortest import ARGUMENTS, contents, jobs_begun
from tests.strangers import leave_files, photograph

pytestmark = pytest.mark.slow(15)

GENERATED = "short/seed1/favor/generations.parquet"
EMBEDDED = "short/clients/embeddings/asce_a.parquet"


def test_every_start_leaves_them_alone(finished, project, tmp_path) -> None:
    results, outside = project.folder / "results", tmp_path / "outside"
    leave_files(results, outside)
    before = {
        name: seen for name, seen in photograph(results).items() if not (finished.folder / "results" / name).exists()
    }
    assert len(before) > 10
    linked = photograph(outside)

    def untouched() -> bool:
        after = photograph(results)
        return {name: after.get(name) for name in before} == before and photograph(outside) == linked

    remove(project, [GENERATED, EMBEDDED])
    target = f"results/{GENERATED}"
    project.snakemake("-n", *ARGUMENTS, target)
    assert untouched()
    process = start(project, target)
    wait_for(lambda: jobs_of(process))
    os.killpg(process.pid, signal.SIGKILL)
    ended(process)
    assert untouched()
    completes(project, target, f"results/{EMBEDDED}")
    assert untouched()
    assert "Nothing to be done" in completes(project, target)
    assert untouched()
    made = contents(project)
    assert {name: made.get(name) for name in contents(finished)} == contents(finished)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("dropped.parquet", (), "would be replaced, but this workflow did not make it. Move it away"),
        ("raw.csv", ("--forceall",), "would be replaced, but this workflow did not make it. Move it away"),
        ("documents.parquet", (), "has no Snakemake record, so its settings cannot be checked"),
    ],
)
def test_a_strangers_file_under_the_name_of_a_result_stops_the_run(project, name, arguments, message) -> None:
    path = project.folder / "mine" / "corpora" / "short" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    done = project.snakemake(
        *("--config", "results=mine", *arguments, *ARGUMENTS, "mine/corpora/short/documents.parquet"),
        check=False,
    )
    assert done.returncode == 1
    assert f"error: mine/corpora/short/{name} {message}" in done.stdout
    assert not list(project.folder.glob(".snakemake/locks/*"))
    assert "Traceback" not in done.stdout
    assert not jobs_begun(done.stdout)
    assert path.read_text() == "mine"
