"""A job whose code changes while a run is on says so, unless the change cannot reach its result."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from tests.running.invalidation.test_fingerprint import FILES, Files

from favor.foundation.errors import UserError
from favor.running.invalidation import parts
from favor.running.invalidation.changes import Changes
from favor.running.invalidation.fingerprint import CODE, check_planned, source_code
from favor.running.invalidation.job_inputs import FOLDER
from favor.running.invalidation.parts import Module

GROUND = FILES["ground.py"]
ENDED = "its code changed after the run had started"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Files:
    monkeypatch.setenv(CODE, str(tmp_path / "results" / FOLDER))
    found = Files(tmp_path)
    found.write("scores/page.html", "<p>")
    auc = "from pathlib import Path\nPAGE = Path(__file__).with_name('page.html')\n"
    found.write("scores/auc.py", f"{auc}{FILES['scores/auc.py'].replace('(x, 1)', '(PAGE, 1)')}")
    return found


def started(project) -> SimpleNamespace:
    source = source_code(project.folder / "src")
    planned = source.fingerprint("script")
    Changes(project.folder / "results", source, []).write({("made",): planned})
    return SimpleNamespace(params={"code": planned})


@pytest.mark.parametrize(
    ("file", "text", "ends"),
    [
        ("ground.py", GROUND.replace("a + b", "a - b"), True),
        ("scores/page.html", "<p class='new'>", True),  # a file beside the code
        ("scores/other.py", "VALUE = 22\n", False),
        ("ground.py", f"# a comment\n{GROUND}", False),
    ],
)
def test_an_edit_that_reaches_the_job_ends_it_and_no_other_does(project, file, text, ends) -> None:
    job = started(project)
    check_planned(job)
    project.write(file, text)
    with pytest.raises(UserError, match=ENDED) if ends else nullcontext():
        check_planned(job)


def test_a_job_of_no_run_is_not_checked(project, monkeypatch) -> None:
    job = started(project)
    project.write("ground.py", "def add(a, b):\n    return 7\n")
    monkeypatch.delenv(CODE)
    check_planned(job)
    monkeypatch.setenv(CODE, str(project.folder / "nowhere"))
    check_planned(job)


def test_an_edit_while_the_code_is_read_is_noticed(project, monkeypatch) -> None:
    read = parts.read_module

    def read_and_edited(name, path) -> Module:
        found = read(name, path)
        if name == "favor.ground":
            path.write_text(GROUND.replace("a + b", "a - b"))
        return found

    monkeypatch.setattr(parts, "read_module", read_and_edited)
    job = started(project)
    with pytest.raises(UserError, match=ENDED):
        check_planned(job)
