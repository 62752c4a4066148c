"""Which folders may hold results, and what a start does there: a stranger's files stay as they are."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.optional import needs
from tests.strangers import leave_files, photograph

from favor.foundation.errors import UserError
from favor.foundation.files import PARTIAL
from favor.running.folder.occupancy import RUN_LOCK
from favor.running.folder.output_record import RECORD, read_record, write_record
from favor.running.folder.results_folder import CHECKOUT_FOLDERS, check_results_folder, open_results, require_writable


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """A home with a checkout in it, where the user starts."""
    folder = tmp_path / "home" / "checkout"
    for name in ("src/favor", "config", ".snakemake"):
        (folder / name).mkdir(parents=True)
    (folder / "Snakefile").touch()
    (folder / "notes.txt").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ("/", "is or contains your home"),
        ("../..", "is or contains your home"),
        ("..", "is or contains your home"),
        (".", "is or contains the workflow"),
        ("src", "is in '.*/checkout/src', which is not for results"),
        ("src/favor/results", "is in '.*/checkout/src'"),
        ("docs", "is in '.*/checkout/docs'"),
        (".git/x", "is in"),
        (".snakemake/x", "is in"),
        ("config/../src", "is in '.*/checkout/src'"),
        ("to_src", "is in '.*/checkout/src'"),
        ("notes.txt", "'notes.txt' is a file, not a folder; choose another folder with the key 'results'."),
        ("notes.txt/results", "'notes.txt' is a file, not a folder"),
        ("dangling", "'dangling' is a link to nothing. Remove it"),
        ("dangling/results", "'dangling' is a link to nothing"),
        ("circle", "link"),
        ("a\0b", "cannot be used"),
    ],
)
def test_a_folder_that_holds_more_than_results_is_refused(checkout, results, message) -> None:
    (checkout / "to_src").symlink_to("src")
    (checkout / "dangling").symlink_to("nowhere")
    (checkout / "circle").symlink_to("circle")
    before = sorted(checkout.rglob("*"))
    with pytest.raises(UserError, match=message) as refusal:
        open_results(Path(results), checkout, [], planning=False)
    assert "\n" not in str(refusal.value)
    assert sorted(checkout.rglob("*")) == before


def test_the_home_itself_and_the_working_folder_are_refused(checkout, tmp_path, monkeypatch) -> None:
    with pytest.raises(UserError, match="is or contains your home"):
        check_results_folder(tmp_path / "home", checkout, [])
    elsewhere = tmp_path / "work" / "here"
    (elsewhere / ".snakemake").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    with pytest.raises(UserError, match="is or contains the working folder"):
        check_results_folder(Path(".."), checkout, [])
    with pytest.raises(UserError, match=r"is in '.*/here/\.snakemake'"):
        check_results_folder(Path(".snakemake/results"), checkout, [])
    check_results_folder(Path("src"), checkout, [])


@pytest.mark.parametrize("results", ["results", "deep/er/results", "../results", "../../elsewhere", "link"])
def test_folders_of_their_own_are_accepted(checkout, results, tmp_path) -> None:
    (tmp_path / "disk").mkdir()
    (checkout / "link").symlink_to(tmp_path / "disk")
    check_results_folder(Path(results), checkout, [("corpora.blogs.path", Path("data/blogs.csv"))])


@pytest.mark.parametrize("corpus", ["results/mine.csv", "results", "results/linked.csv", "to_results/mine.csv"])
def test_inputs_in_the_results_folder_are_refused(checkout, corpus) -> None:
    results = checkout / "results"
    results.mkdir()
    (checkout / "to_results").symlink_to("results")
    (results / "linked.csv").symlink_to("../outside.csv")
    with pytest.raises(
        UserError, match=r"config key 'corpora.blogs.path': '.*' lies in the results folder 'results'\."
    ):
        check_results_folder(Path("results"), checkout, [("corpora.blogs.path", Path(corpus))])


@needs("git")
def test_every_folder_of_the_repository_is_known(repository) -> None:
    """All but the one whose run of seconds has its results in it."""
    listed = subprocess.run(["git", "ls-files"], cwd=repository, text=True, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("without a git checkout")
    assert {name.split("/")[0] for name in listed.stdout.split("\n") if "/" in name} - {".test"} <= CHECKOUT_FOLDERS


@pytest.fixture
def strangers(checkout) -> Path:
    results = checkout / "results"
    leave_files(results, checkout.parent / "outside")
    return results


def test_a_strangers_files_stay_as_they_are(checkout, strangers, capsys, monkeypatch) -> None:
    monkeypatch.setenv("FAVOR_RUN", "")
    before, outside = photograph(strangers), photograph(checkout.parent / "outside")
    open_results(strangers, checkout, [], planning=True)
    assert photograph(strangers) == before
    for own in ({RUN_LOCK}, {RUN_LOCK, RECORD}):
        open_results(strangers, checkout, [], planning=False)
        after = photograph(strangers)
        assert {name: after[name] for name in before} == before
        assert set(after) - set(before) == own
        # What the run makes then is on record; links among it are not followed.
        write_record(strangers, ["demo/report.html", "drafts/cut.json", "page2.html", "gone.json", "new.json"])
    assert photograph(checkout.parent / "outside") == outside
    assert capsys.readouterr().err == ""


def test_outputs_on_record_are_cleared_beside_them(checkout, strangers, capsys, monkeypatch) -> None:
    monkeypatch.setenv("FAVOR_RUN", "")
    (strangers / "demo" / "scores.parquet").write_text("PAR1")
    (strangers / "demo" / f".scores.parquet.x{PARTIAL}").touch()
    (strangers / "encoder.json").write_text("{}")
    os.utime(strangers / "encoder.json", (4e9, 4e9))
    before = photograph(strangers)
    write_record(strangers, ["demo/scores.parquet", "encoder.json"])
    open_results(strangers, checkout, [], planning=False)
    after = photograph(strangers)
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed == {"demo/scores.parquet", f"demo/.scores.parquet.x{PARTIAL}", "encoder.json"}
    # A name that is taken is left to whoever took it.
    assert (strangers / "demo" / "scores.parquet.truncated2").read_text() == "PAR1"
    assert (strangers / "encoder.json").stat().st_mtime < 4e9
    assert "set aside as scores.parquet.truncated2" in capsys.readouterr().err


@pytest.mark.parametrize("name", [RUN_LOCK, RECORD])
def test_files_of_the_workflows_names_that_are_not_its_own_are_refused(checkout, strangers, name) -> None:
    (strangers / name).write_text("mine")
    before = photograph(strangers)
    with pytest.raises(UserError, match="Move it away"):
        open_results(strangers, checkout, [], planning=False)
    after = photograph(strangers)
    assert {key: after[key] for key in before} == before


def test_only_folders_of_outputs_need_be_writable(tmp_path, monkeypatch) -> None:
    results = tmp_path / "results"
    for name in ("made/a.csv", "mine/b.csv"):
        (results / name).parent.mkdir(parents=True)
        (results / name).touch()
    monkeypatch.setattr(os, "access", lambda folder, mode: Path(folder).name not in ("made", "mine"))
    require_writable(results)
    write_record(results, ["made/a.csv", "demo/b.csv"])
    with pytest.raises(UserError, match=r"Cannot write to results folder '.*/made'\. Fix its permissions"):
        require_writable(results)


def test_a_record_is_read_as_written(tmp_path) -> None:
    assert read_record(tmp_path) == set()
    write_record(tmp_path, ["b/c d.csv", "a.json"])
    assert read_record(tmp_path) == {"a.json", "b/c d.csv"}
    for stranger in ("/etc/passwd", "../other/a.json"):
        write_record(tmp_path, ["a.json", stranger])
        with pytest.raises(UserError, match="is not a record of this workflow"):
            read_record(tmp_path)
