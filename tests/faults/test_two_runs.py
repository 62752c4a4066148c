"""Two runs at once in one folder: one goes on, the other is refused in one line; a plan may be looked at beside it."""

import pytest

from tests.faults.conftest import ended, jobs_of, remove, start, wait_for
from tests.shortest import ARGUMENTS, contents, jobs_begun

pytestmark = pytest.mark.slow(15)

NAME = "short/clients/embeddings/asce_a.parquet"


def test_one_of_two_is_refused(finished, project) -> None:
    remove(project, [NAME])
    runs = [start(project, f"results/{NAME}", warm=True) for _ in range(2)]
    outputs = [ended(run) for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1]
    refused = outputs[[run.returncode for run in runs].index(1)]
    (line,) = [line for line in refused.splitlines() if line.startswith("error: ")]
    assert line.startswith("error: results folder 'results': another run is at work there (")
    assert not jobs_begun(refused)
    assert contents(project) == contents(finished)


def test_a_plan_beside_a_run_disturbs_nothing(finished, project) -> None:
    remove(project, [NAME])
    run = start(project, f"results/{NAME}")
    job = wait_for(lambda: jobs_of(run))[0]
    # The job must not end while the plan is made, which takes longer on a busy machine.
    job.suspend()
    assert "embed_sources" in project.snakemake("-n", *ARGUMENTS, f"results/{NAME}").stdout
    assert run.poll() is None
    job.resume()
    ended(run)
    assert run.returncode == 0
    assert contents(project) == contents(finished)
