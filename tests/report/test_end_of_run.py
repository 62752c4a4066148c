"""The last lines of a run: headline with its uncertainty, what is missing and why, what to open."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.report.test_leaderboard import METHODS, evidence

from favor.analysis.schemas import EVIDENCE
from favor.foundation.parquet import write_parquet
from favor.report.end_of_run import closing, end_run
from favor.report.settings import PrintedExperiment

VALUES = PrintedExperiment.model_construct(
    tables=["one", "two"],
    demo=False,
    style_encoder="asce_a",
    rows=METHODS,
    clients=12,
    prompts_per_client=4,
    display={},
    seeds=[1],
    margin=0.5,
    unseen=[],
    families=[],
)


def test_a_finished_run(tmp_path) -> None:
    table = evidence({}).sort_values(["encoder", "metric", "left_method", "right_method"])
    write_parquet(table, tmp_path / "main" / "evidence.parquet", EVIDENCE)
    lines = closing(tmp_path, {"main": VALUES}, False)
    assert len(lines) == 7
    assert lines[0].startswith("Made: 2 tables of main")
    assert lines[1] == "main:"
    assert lines[2].startswith("- The style encoder that methods are aligned to attributes 40% of FAVoR's texts")
    assert lines[3].startswith("- FAVoR's strongest rival, Local-only, reaches 50%: which of them is better is open")
    assert "report.card.pdf, because LaTeX" in lines[4]
    assert lines[5] == f"Open: {tmp_path / 'report.html'}"
    assert "release" in lines[6]
    demo = closing(tmp_path, {"main": VALUES.model_copy(update={"demo": True})}, True)
    assert len(demo) == 6
    assert "says nothing about the methods" in demo[1]


@pytest.mark.parametrize(("targets", "printed"), [(set(), True), ({"report.html"}, True), ({"check"}, False)])
def test_only_a_run_of_the_report_says_what_it_made(tmp_path, capsys, monkeypatch, targets, printed) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("favor.report.end_of_run.record_run", lambda *arguments: None)
    run = SimpleNamespace(dag_settings=SimpleNamespace(targets=targets))
    end_run(run, Path(), tmp_path, {"main": VALUES})
    assert capsys.readouterr().out == ""  # there is no report
    Path("report.html").write_text("", encoding="utf-8")
    end_run(run, Path(), tmp_path, {"main": VALUES})
    assert ("Made: 2 tables of main" in capsys.readouterr().out) is printed
