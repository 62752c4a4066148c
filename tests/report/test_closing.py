"""The last lines of a run: headline with its uncertainty, what is missing and why, what to open."""

from __future__ import annotations

from tests.tables.test_leaderboard import METHODS, evidence

from favor.analysis.tables import EVIDENCE
from favor.foundation.parquet import write_parquet
from favor.report.closing import closing
from favor.report.settings import PrintedExperiment

VALUES = PrintedExperiment.model_construct(
    tables=["one", "two"], demo=False, style_encoder="asce_a", rows=METHODS, references=["local_only"], display={}
)


def test_a_finished_run(tmp_path) -> None:
    assert closing(tmp_path, {"main": VALUES}, True) == []
    (tmp_path / "report.html").write_text("", encoding="utf-8")
    (tmp_path / "main").mkdir()
    write_parquet(
        evidence({}).sort_values(["encoder", "metric", "left_method", "right_method"]),
        tmp_path / "main" / "evidence.parquet",
        EVIDENCE,
    )
    lines = closing(tmp_path, {"main": VALUES}, False)
    assert len(lines) == 5
    assert lines[0].startswith("Made: 2 tables of main")
    assert lines[1].startswith("main: FAVoR reaches an author accuracy of 0.400; the best other federated row, Ditto")
    assert "report.pdf, because LaTeX" in lines[2]
    assert lines[3] == f"Open: {tmp_path / 'report.html'}"
    assert "release" in lines[4]
    demo = closing(tmp_path, {"main": VALUES.model_copy(update={"demo": True})}, True)
    assert len(demo) == 4
    assert "says nothing about the methods" in demo[1]
