"""The profile for other batch systems, with a script in the place of their submit command."""

import shutil

import pytest

from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.slow(58)

PROFILE = "workflow/profiles/cluster-generic"
# A batch system of one line: it notes what was asked for, starts the job apart from Snakemake and prints an id.
SUBMIT = """#!/bin/sh
echo "$@" >> submitted.txt
for script; do :; done
setsid sh "$script" > "$script.log" 2>&1 < /dev/null &
echo "job-$!"
"""


@pytest.fixture
def project(repository, tmp_path) -> Project:
    """A copy with the micro configuration and a submit command; its jobs start by themselves, as on another machine."""
    made = copy_project(repository, tmp_path / "project", "micro.yaml")
    (made.folder / "submit.sh").write_text(SUBMIT)
    (made.folder / "submit.sh").chmod(0o755)
    made.edit(f"{PROFILE}/config.yaml", "  qsub -terse", "  ./submit.sh -terse")
    return made


def submitted(project, target, check=True) -> tuple[str, list[str]]:
    """What a run under the profile prints, and the words of its one submission."""
    profile = ("--workflow-profile", PROFILE, "--latency-wait", "5", "--retries", "0")
    done = project.snakemake("--configfile", "micro.yaml", *profile, "--", target, check=check)
    (line,) = (project.folder / "submitted.txt").read_text().splitlines()
    return done.stdout, line.split()


def test_jobs_are_submitted_with_what_they_ask_for_and_make_the_same(project) -> None:
    target = "results/corpora/micro/raw.csv"
    _, words = submitted(project, target)
    assert words[words.index("-N") + 1] == "favor.make_demo_corpus"
    memory, time = words[words.index("-l") :][1:4:2]
    assert float(memory.removeprefix("h_vmem=").removesuffix("M")) >= 1500
    assert time == "h_rt=0:30:0"
    made = (project.folder / target).read_bytes()
    shutil.rmtree(project.folder / "results")
    project.snakemake("--configfile", "micro.yaml", "--", target)
    assert (project.folder / target).read_bytes() == made


def test_a_job_that_fails_there_ends_the_run_with_its_error(project) -> None:
    (project.folder / "raw.csv").write_text("id,date,text\n1,x,hello\n")
    project.edit("micro.yaml", "demo: { authors:", "path: raw.csv\n    demo: null # ")
    output, _ = submitted(project, "results/corpora/micro/documents.parquet", check=False)
    log = (project.folder / "results" / "logs" / "build_documents" / "micro.log").read_text()
    assert log.startswith("error in build_documents: raw.csv: ")
    assert "Error in rule build_documents" in output
