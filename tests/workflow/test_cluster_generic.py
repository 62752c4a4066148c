"""The profile for other batch systems, with a script in the place of their submit command."""

import shutil

import pytest

from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.slow(29)

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


def test_jobs_are_submitted_with_what_they_ask_for_and_make_the_same(project) -> None:
    target = "results/corpora/micro/raw.csv"
    profile = ("--workflow-profile", PROFILE, "--latency-wait", "5", "--retries", "0")
    project.snakemake("--configfile", "micro.yaml", *profile, "--", target)
    (line,) = (project.folder / "submitted.txt").read_text().splitlines()
    words = line.split()
    assert words[words.index("-N") + 1] == "favor.make_demo_corpus"
    memory, time = words[words.index("-l") :][1:4:2]
    assert float(memory.removeprefix("h_vmem=").removesuffix("M")) >= 1500
    assert time == "h_rt=0:30:0"
    made = (project.folder / target).read_bytes()
    shutil.rmtree(project.folder / "results")
    project.snakemake("--configfile", "micro.yaml", "--", target)
    assert (project.folder / target).read_bytes() == made
