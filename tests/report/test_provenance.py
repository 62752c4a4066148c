"""The provenance beside the report: runs are added, files of others stay, no release takes it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from favor.foundation.files import read_json
from favor.publish.scan import Private, scan
from favor.report.provenance import lasting, provenance_page, record_run
from favor.running.folder.output_record import read_record, write_record
from favor.running.folder.run_record import NAMES


def run_of(*rules) -> SimpleNamespace:
    """A Snakemake workflow that has finished jobs of these rules."""
    jobs = [SimpleNamespace(rule=SimpleNamespace(name=name, norun=name == "all")) for name in rules]
    return SimpleNamespace(dag=SimpleNamespace(finished_jobs=jobs))


@pytest.fixture
def results(tmp_path) -> Path:
    folder = tmp_path / "results"
    (folder / "benchmarks" / "train").mkdir(parents=True)
    (folder / "benchmarks" / "train" / "a.tsv").write_text("s\tmax_rss\n125.0\t1234.5\n")
    write_record(folder, ["demo/a.parquet"])
    return folder


def test_runs_are_added_and_put_on_record(results, repository) -> None:
    record_run(run_of("train", "all"), results, repository, "failed")
    record_run(run_of("score", "report"), results, repository, "finished")
    record_run(run_of("all"), results, repository, "finished")  # nothing was made
    found = read_json(results / NAMES[0])
    ended = [("failed", {"train": 1}), ("finished", {"report": 1, "score": 1})]
    assert [(run["ended"], run["jobs"]) for run in found["runs"]] == ended
    assert read_record(results) == {"demo/a.parquet", *NAMES}
    page = (results / NAMES[1]).read_text()
    assert "2 min 5 s" in page
    assert "1,234" in page
    assert page.index("Run 2: 2 jobs") < page.index("Run 1: 1 jobs")
    assert found["runs"][0]["machine"]["processor"] in page


def test_a_file_of_yours_stays(results, repository, capsys) -> None:
    (results / NAMES[0]).write_text("mine")
    record_run(run_of("train"), results, repository, "finished")
    assert (results / NAMES[0]).read_text() == "mine"
    assert not (results / NAMES[1]).exists()
    assert "is not the workflow's" in capsys.readouterr().err


def test_a_disk_that_refuses_is_said_in_a_line(results, repository, capsys, monkeypatch) -> None:
    def refuse(*arguments) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("favor.report.provenance.write_record", refuse)
    record_run(run_of("train"), results, repository, "failed")
    assert "cannot be written (No space left on device)" in capsys.readouterr().err


def test_a_release_refuses_the_places_in_it(results, repository, monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["snakemake", "--configfile", "/srv/projects/favor/own.yaml"])
    record_run(run_of("train"), results, repository, "finished")
    pages = {f"results/{name}": (results / name).read_bytes() for name in NAMES}
    assert {finding.file for finding in scan(pages, Private([], (), ["/srv/projects/favor"]))} == set(pages)


@pytest.mark.parametrize(("seconds", "words"), [(41.2, "41 s"), (200, "3 min 20 s"), (7_500, "2 h 5 min")])
def test_durations(seconds, words) -> None:
    assert lasting(seconds) == words


def test_the_page_names_the_file_that_a_base_was_dequantised_from() -> None:
    file = {"file": "a<b.gguf", "bytes": 98362432, "sha256": "b179"}
    shown = provenance_page({"runs": [], "stages": [], "gguf": {"small": file}})
    assert "<dt>small</dt><dd>a&lt;b.gguf, 98,362,432 bytes, SHA-256 b179</dd>" in shown
    assert "GGUF" not in provenance_page({"runs": [], "stages": []})
