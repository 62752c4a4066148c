"""What changed since results were made is named, what the user accepts kept; code that changes under way ends jobs."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from tests.running.invalidation.test_fingerprint import FILES, Files

from favor.foundation.errors import UserError
from favor.running.ending import STARTED_BY_FAVOR
from favor.running.invalidation import changes as invalidation_changes
from favor.running.invalidation import parts
from favor.running.invalidation.changes import Changes, Difference, kept_notes
from favor.running.invalidation.fingerprint import CODE, check_planned, source_code
from favor.running.invalidation.job_inputs import FOLDER
from favor.running.invalidation.parts import Module

NEW = {"rank": 8, "lora": {"alpha": 16}}


@pytest.fixture
def project(tmp_path) -> Files:
    return Files(tmp_path)


def started(project, *accept, planning=False) -> tuple[Changes, Any]:
    """A start of the workflow with the code as it is: (the changes, the fingerprint of the script)."""
    source = source_code(project.folder / "src")
    fingerprint = source.fingerprint("script")
    return Changes(project.folder / "results", source, accept, planning=planning), fingerprint


def difference(old_code, new_code, old=NEW, new=NEW, stage="train") -> Difference:
    before, now = {repr(old_code), repr(old)}, {repr(new_code), repr(new)}
    return of(stage, before - now, now - before)


def of(stage, before, now) -> Difference:
    return Difference.of(stage, SimpleNamespace(only_old=before, only_new=now))


def test_definitions_that_changed_came_or_went_are_named(project) -> None:
    changes, before = started(project)
    changes.write({("out",): before})
    project.write("ground.py", "def add(a, b):\n    return minus(a, -b)\n\ndef minus(a, b):\n    return a - b\n")
    changes, after = started(project)
    assert changes.named(difference(before, after)) == [
        "`favor.ground.add` changed",
        "`favor.ground.minus` was added",
    ]


def test_what_is_not_on_record_is_said_to_be_so_and_keys_are_named_with_their_path(project) -> None:
    changes, same = started(project)
    assert changes.named(difference("0" * 16, same)) == ["its code changed (which part is not on record)"]
    old = {"rank": 8, "lora": {"alpha": 32}, "gone": 1}
    expected = ["configuration `gone` changed", "configuration `lora.alpha` changed"]
    assert changes.named(difference(same, same, old)) == expected


def test_lines_count_the_jobs_of_every_stage(project) -> None:
    changes, same = started(project)
    changed = difference(same, same, {"rank": 4, "lora": {"alpha": 16}})
    lines = changes.lines([("train", changed), ("train", changed), ("score", None)])
    assert lines[1:3] == [
        "  train: configuration `rank` changed: 2 jobs",
        "  and 1 job that follow or were still to be done",
    ]
    assert lines[3] == "To keep results as they are: --config 'accept=[train]', or some of these stages."
    assert changes.lines([("score", None)]) == []


def test_keeping_is_offered_in_the_words_of_the_command_and_not_of_what_other_data_made(project, monkeypatch) -> None:
    changes, same = started(project)
    changed = difference(same, same, {"rank": 4, "lora": {"alpha": 16}})
    other = [
        of(stage, [repr((kind, before))], [repr((kind, after))])
        for stage, kind, before, after in (
            ("split", "local_files", {"posts.csv": "sha256 1"}, {"posts.csv": "sha256 2"}),
            ("score", "handed_over", "0123456789abcdef", "fedcba9876543210"),
        )
    ]
    assert not any("To keep" in line for line in changes.lines((each.stage, each) for each in other))
    monkeypatch.setenv(STARTED_BY_FAVOR, "1")
    *_, line = changes.lines([("train", changed), *((each.stage, each) for each in other)])
    assert line == "To keep results as they are: --accept train, or some of these stages."
    # A version that recorded no such parameter made them: nothing says that the data are others.
    before = of("score", ["'0123456789abcdef'"], [repr(("handed_over", "1")), "'f'"])
    assert not before.other_data


def test_what_is_accepted_once_stays_accepted_and_is_noted(project) -> None:
    changes, before = started(project)
    changes.write({("out",): before})
    project.write("ground.py", "def add(a, b):\n    return b + a\n")
    changes, after = started(project, "train", planning=True)
    changed, other = difference(before, after), difference(before, after, stage="score")
    assert changes.keeps(("out",), changed)
    assert not changes.keeps(("out",), other)
    assert changes.lines([]) == [
        "Changed since the results were made:",
        "  train: `favor.ground.add` changed: kept as they are (accept)",
    ]
    results = project.folder / "results"
    assert kept_notes(results, ["train"]) == []  # a dry run writes nothing
    changes, _ = started(project, "train")
    assert changes.keeps(("out",), changed)
    assert kept_notes(results, ["train", "score"]) == [
        "Results of train were kept on the user's word (accept), though `favor.ground.add` changed."
    ]
    changes, _ = started(project)
    assert changes.accepted == ["train"]
    assert changes.keeps(("out",), changed)
    project.write("ground.py", "def add(a, b):\n    return b + a + 1\n")
    changes, later = started(project)
    assert not changes.keeps(("out",), difference(before, later))


HERE = ("libraries", "numpy 2.4.0, torch 2.14.0, transformers 5.23.0")
BEFORE = repr(("libraries", "numpy 2.4.0, torch 2.13.0, transformers 5.23.0"))


@pytest.fixture
def updated(project, monkeypatch) -> Changes:
    """A start with another version of torch than that which made the results."""
    monkeypatch.setattr(invalidation_changes, "installed", lambda: HERE)
    changes, _ = started(project)
    for number in (1, 2, 2):
        assert changes.keeps((f"{number}.safetensors",), of("train_shared", [BEFORE], [repr(HERE)]))
    return changes


def test_results_of_other_versions_are_kept_and_counted_by_version(updated) -> None:
    (line,) = updated.lines([])
    assert line == (
        "Made by torch 2.13.0: 2 jobs; you have torch 2.14.0: they are kept (favor run --rerun-other-versions)."
    )


def test_the_report_names_what_stays_of_other_versions(updated, project) -> None:
    results = project.folder / "results"
    assert kept_notes(results, []) == []
    updated.write({("2.safetensors",): None})  # is made again
    (note,) = kept_notes(results, [])
    assert note.startswith("Results of train_shared (1 jobs) were made with numpy 2.4.0, torch 2.13.0")
    assert json.loads((results / ".code/libraries.json").read_text()) == {BEFORE[15:-2]: {"train_shared": 1}}


def test_a_difference_of_versions_changes_no_key_of_what_was_accepted() -> None:
    plain = of("score", ["'0123456789abcdef'"], ["'fedcba9876543210'"])
    mixed = of("score", ["'0123456789abcdef'", BEFORE], ["'fedcba9876543210'", repr(HERE)])
    assert mixed.key == plain.key


GROUND = FILES["ground.py"]
ENDED = "its code changed after the run had started"


@pytest.fixture
def run(project, monkeypatch) -> Callable[[], SimpleNamespace]:
    """A function that starts a run and returns its job. The code of the job reads the file ``page.html``."""
    results = project.folder / "results"
    monkeypatch.setenv(CODE, str(results / FOLDER))
    project.write("scores/page.html", "<p>")
    auc = "from pathlib import Path\nPAGE = Path(__file__).with_name('page.html')\n"
    project.write("scores/auc.py", f"{auc}{FILES['scores/auc.py'].replace('(x, 1)', '(PAGE, 1)')}")

    def start() -> SimpleNamespace:
        changes, planned = started(project)
        changes.write({("made",): planned})
        return SimpleNamespace(params={"code": planned})

    return start


@pytest.mark.parametrize(
    ("file", "text", "ends"),
    [
        ("ground.py", GROUND.replace("a + b", "a - b"), True),
        ("scores/page.html", "<p class='new'>", True),  # a file beside the code
        ("scores/other.py", "VALUE = 22\n", False),
        ("ground.py", f"# a comment\n{GROUND}", False),
    ],
)
def test_an_edit_that_reaches_the_job_ends_it_and_no_other_does(project, run, file, text, ends) -> None:
    job = run()
    check_planned(job)
    project.write(file, text)
    with pytest.raises(UserError, match=ENDED) if ends else nullcontext():
        check_planned(job)


def test_a_job_of_no_run_is_not_checked(project, run, monkeypatch) -> None:
    job = run()
    project.write("ground.py", "def add(a, b):\n    return 7\n")
    monkeypatch.delenv(CODE)
    check_planned(job)
    monkeypatch.setenv(CODE, str(project.folder / "nowhere"))
    check_planned(job)


def test_an_edit_while_the_code_is_read_is_noticed(run, monkeypatch) -> None:
    read = parts.read_module

    def read_and_edited(name, path) -> Module:
        found = read(name, path)
        if name == "favor.ground":
            path.write_text(GROUND.replace("a + b", "a - b"))
        return found

    monkeypatch.setattr(parts, "read_module", read_and_edited)
    job = run()
    with pytest.raises(UserError, match=ENDED):
        check_planned(job)
