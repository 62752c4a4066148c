"""One run of a configuration of seconds: what edits rerun, that a killed run goes on, and one of its jobs alone."""

import signal

import pytest

from tests.faults.conftest import completes, ended, project, start, wait_for  # noqa: F401 - a fixture
from tests.shortest import ARGUMENTS, TABLES, contents, finished_run, jobs_begun  # noqa: F401 - a fixture


def test_an_edit_reruns_what_it_can_change(project) -> None:  # noqa: F811
    """Nothing by a comment; of a metric its scores and its table; of a private hyper-parameter the private stage."""
    tables = (*ARGUMENTS, *TABLES)
    path = project.folder / "src/favor/lm/training.py"
    path.write_text(path.read_text() + "\n# A comment changes nothing.\n")
    assert project.planned(*tables) == {}
    project.edit("src/favor/scores/utility.py", "def score(", "def score(*new, ")
    assert project.planned(*tables) == {"score": 1, "make_table": 1}
    project.edit("shortest.yaml", "favor: {}", "favor: { private_epochs: 3 }")
    planned = project.planned(*tables)
    assert (planned["train_personal"], planned["generate"]) == (1, 1)
    assert not {"train_shared", "train_asce"} & set(planned)


def test_a_killed_run_goes_on_and_gives_the_same_bytes(finished, project) -> None:  # noqa: F811
    made = [f"results/short/seed1/favor/{name}" for name in ("clients/last/batch0.safetensors", "generations.parquet")]
    for name in made:
        (project.folder / name).unlink()
    process = start(project, *made)
    wait_for(lambda: process.poll() is not None or "train_personal" in jobs_begun("".join(process.printed)))
    process.send_signal(signal.SIGKILL)
    ended(process)
    assert process.returncode == -signal.SIGKILL
    completes(project, *made)
    assert contents(project) == contents(finished)


@pytest.mark.slow(20)
def test_a_job_runs_alone_and_writes_nothing_into_the_results(finished, project) -> None:  # noqa: F811
    score = "results/short/scores/utility.parquet"
    done = project.favor("debug", score, "shortest.yaml")
    assert done.stdout.endswith(f": the same bytes as {score}\n"), done.stderr
    pack = "results/short/seed1/favor/clients/last/batch0.safetensors"
    (project.folder / pack).write_bytes((project.folder / pack).read_bytes())  # newer than what was made of it
    assert f": the same tensors as {pack}\n" in project.favor("debug", pack, "shortest.yaml").stdout
    project.edit(
        "src/favor/scores/utility.py", "def score(", 'def score(*new):\n    raise ValueError("seen")\n\n\ndef old('
    )
    stopped = project.favor("debug", score, "shortest.yaml", "--pdb", answers="p new\nq\n")
    assert "ValueError: seen" in stopped.stderr
    assert "(Pdb) (ScoreInputs" in stopped.stdout
    assert contents(project) == contents(finished)
    assert project.favor("debug", "all", "shortest.yaml").stderr.endswith("name a file that the workflow makes\n")


@pytest.mark.slow(20)
def test_why_a_job_would_run_again(project) -> None:  # noqa: F811
    pack = "results/short/seed1/favor/clients/last/batch0.safetensors"
    script = project.folder / "workflow" / "scripts" / "train_personal.py"
    script.write_text(script.read_text() + "# A comment changes nothing.\n")
    for name in (pack, str(project.folder / pack)):
        assert project.favor("why", name, "shortest.yaml").stdout == f"{pack}: train_personal would not run again\n"
    assert "makes it; name the configuration that made it, behind the file" in project.favor("why", pack).stderr
    project.edit("shortest.yaml", "favor: {}", "favor: { private_epochs: 3 }")
    project.edit("src/favor/lm/training.py", "import math\n", "import math\n\nmath.tau\n")
    changed = project.favor("why", pack, "shortest.yaml").stdout
    assert changed.startswith(f"{pack}: train_personal would run again, because\n")
    assert "  configuration `stage.epochs` changed\n" in changed
    assert "  `favor.lm.training" in changed
