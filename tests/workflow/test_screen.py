"""What ``favor check``, ``plan`` and ``run`` print: their own lines, and one error in one line, the last."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.workflow.conftest import Project, copy_project, fork_server

pytestmark = pytest.mark.slow(15)

# What Snakemake says of itself and of its rules.
BANNER = ("Building DAG", "Job stats", "Provided cores", "Select jobs", "rule ", "reason:", "steps (", "Shutting down")


@pytest.fixture(scope="module")
def project(repository, tmp_path_factory) -> Project:
    return copy_project(repository, tmp_path_factory.mktemp("screen") / "project", "micro.yaml")


def screen(project, *arguments, status=0) -> str:
    done = project.favor(*arguments, merged=True)
    assert done.returncode == status, done.stdout[-3000:]
    assert "Traceback" not in done.stdout
    return done.stdout


def test_a_check_prints_jobs_and_its_page_and_a_plan_its_own(project) -> None:
    output = screen(project, "check", "micro.yaml")
    page = (project.folder / "results" / "check.txt").read_text()
    assert output.endswith(page)
    assert "Its experiments can be run." in page
    assert re.search(r"^\d\d:\d\d:\d\d  1/\d+ make_demo_corpus: micro$", output, re.MULTILINE)
    assert not [word for word in BANNER if word in output]
    plan = screen(project, "plan", "micro.yaml", "--no-probe")
    assert plan.startswith("jobs of ")
    assert not [word for word in BANNER if word in plan]


def test_a_check_of_too_few_authors_ends_in_one_line_and_a_run_trains_nothing(project) -> None:
    text = (project.folder / "micro.yaml").read_text()
    for old, new in (
        ("minimum_tokens: 500", "minimum_tokens: 500\n    minimum_posts: 30"),  # of no author
        ("clients: 4, asce_a: 4, asce_b: 0, background: 12", "clients: 200, asce_a: 4, asce_b: 0, background: 30"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (project.folder / "short.yaml").write_text(text)
    output = screen(project, "check", "short.yaml", "--results", "short", status=1)
    assert (project.folder / "short" / "check.txt").read_text() in output
    last = output.splitlines()[-1]
    assert last == "error: it cannot be run, for 3 reasons; short/check.txt says which keys help"
    # One of the two jobs that need authors stops it.
    output = screen(project, "run", "short.yaml", "--results", "short", status=1)
    found = [line for line in output.splitlines() if line.startswith("error")]
    assert found == output.splitlines()[-len(found) :]
    assert set(found) <= {
        f"error in {rule}: short/corpora/micro/background.parquet: no background authors, since too few have enough "
        "words; 'favor check' says how many"
        for rule in ("assign_roles", "pretrain_base")
    }
    assert not list((project.folder / "short").rglob("model.safetensors"))


def test_a_wrong_input_is_one_error_in_the_last_line(project) -> None:
    (project.folder / "raw.csv").write_text("id,date,text\n1,x,hello\n")
    text = (project.folder / "micro.yaml").read_text()
    (project.folder / "raw.yaml").write_text(text.replace("demo: { authors:", "path: raw.csv\n    demo: null # "))
    output = screen(project, "run", "raw.yaml", "--results", "raw", status=1)
    last = output.splitlines()[-1]
    assert last.startswith("error in build_documents: raw.csv: ")
    assert "topic" in last
    assert output.count("error") == 1
    assert not [word for word in BANNER if word in output]


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(project) -> None:
    process = subprocess.Popen(  # in a group of its own, which gets signals as from a terminal
        [sys.executable, "-m", "favor.cli", "run", "micro.yaml", "--results", "stopped"],
        cwd=project.folder,
        env=os.environ | fork_server() | {"PYTHONPATH": str(project.folder / "src"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    said = []
    for line in process.stdout:
        said.append(line)
        if " pretrain_base: " in line:
            time.sleep(1)
            os.killpg(process.pid, signal.SIGINT)
            break
    said += process.stdout.readlines()
    assert process.wait(timeout=60) == 130
    assert said[-1] == "favor: interrupted; the same command goes on\n"
    assert not [line for line in said if "error" in line or "Traceback" in line]
    # The folder is free again, and nothing that was made is made again. Pretraining may have ended before the signal.
    output = screen(project, "run", "micro.yaml", "--results", "stopped", "--dry-run")
    assert "train_asce" in output
    assert "build_documents" not in output
