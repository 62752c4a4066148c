"""A job whose code changes while a run is on says so, unless the change cannot reach its result."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from favor.foundation.errors import UserError
from favor.running.invalidation import parts
from favor.running.invalidation.changes import Changes
from favor.running.invalidation.fingerprint import CODE, check_planned, source_code
from favor.running.invalidation.job_inputs import FOLDER
from favor.running.invalidation.parts import Module

FILES = {
    "src/favor/__init__.py": "",
    "src/favor/ground.py": (
        "from pathlib import Path\ndef add(a, b):\n    return a + b + len((Path(__file__).parent / 'templates').name)\n"
    ),
    "src/favor/templates/page.html": "<p>",
    "src/favor/other.py": "VALUE = 1\n",
    "workflow/scripts/make.py": "from favor.ground import add\nprint(add(1, 2))\n",
}


@pytest.fixture
def begin(tmp_path, monkeypatch) -> Callable[[], SimpleNamespace]:
    """A function that starts a run, and returns what its job is given and the folder of its code."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv(CODE, str(tmp_path / "results" / FOLDER))

    def start() -> SimpleNamespace:
        source = source_code(tmp_path / "src")
        planned = source.fingerprint("make")
        Changes(tmp_path / "results", source, []).write({("made",): planned})
        return SimpleNamespace(params={"code": planned}, folder=tmp_path)

    return start


@pytest.fixture
def started(begin) -> SimpleNamespace:
    return begin()


def test_code_as_it_was_planned_is_fine(started) -> None:
    check_planned(started)


@pytest.mark.parametrize(
    ("file", "old", "new"), [("ground.py", "a + b", "a - b"), ("templates/page.html", "<p>", "<p class='new'>")]
)
def test_an_edit_that_reaches_the_job_or_of_a_file_beside_its_code_ends_it(started, file, old, new) -> None:
    path = started.folder / "src/favor" / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UserError, match="its code changed after the run had started"):
        check_planned(started)


def test_an_edit_that_cannot_reach_it_does_not(started) -> None:
    (started.folder / "src/favor/other.py").write_text("VALUE = 22\n")
    (started.folder / "src/favor/ground.py").write_text("# a comment\n" + FILES["src/favor/ground.py"])
    check_planned(started)


def test_a_job_of_no_run_is_not_checked(started, monkeypatch) -> None:
    (started.folder / "src/favor/ground.py").write_text("def add(a, b):\n    return 7\n")
    monkeypatch.delenv(CODE)
    check_planned(started)
    monkeypatch.setenv(CODE, str(started.folder / "nowhere"))
    check_planned(started)


def test_an_edit_while_the_code_is_read_is_noticed(begin, tmp_path, monkeypatch) -> None:
    read = parts.read_module

    def read_and_edited(name, path) -> Module:
        found = read(name, path)
        if name == "favor.ground":
            path.write_text(FILES["src/favor/ground.py"].replace("a + b", "a - b"))
        return found

    monkeypatch.setattr(parts, "read_module", read_and_edited)
    with pytest.raises(UserError, match="its code changed after the run had started"):
        check_planned(begin())
