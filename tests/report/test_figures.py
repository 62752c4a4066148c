"""Figures: the same data give the same bytes, nothing names a date, and missing data are named."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.report.build import Context
from favor.report.figures.allocation import draw_allocation
from favor.report.figures.curves import draw_training_curves
from favor.report.figures.pipeline import draw_pipeline
from favor.report.figures.retention_utility import draw_retention_utility
from favor.report.figures.workflow import draw_workflow
from favor.report.preparation import gini


def training_log(rounds: int = 2) -> pd.DataFrame:
    rows = []
    for stage in ("shared", "personal"):
        for number in range(rounds):
            for client in ("client_001", "client_002"):
                for step in range(3):
                    keys = {"stage": stage, "round": number, "client": client, "step": step}
                    cosine = 0.1 * step if stage == "personal" else float("nan")
                    rows.append({**keys, "task_loss": 4.0 - 0.1 * step - 0.2 * number, "cosine": cosine})
    return pd.DataFrame(rows)


Draw = Callable[..., None]


@pytest.fixture(params=["workflow", "pipeline", "allocation", "curves", "retention"])
def draw(request: pytest.FixtureRequest, scores: pd.DataFrame, context: Context, allocation: pd.DataFrame) -> Draw:
    """Each figure as a function of its output paths."""
    drawings: dict[str, Draw] = {
        "workflow": draw_workflow,
        "pipeline": draw_pipeline,
        "allocation": lambda *paths: draw_allocation(allocation, *paths),
        "curves": lambda *paths: draw_training_curves({"favor": training_log(), "fedavg": training_log(1)}, *paths),
        "retention": lambda *paths: draw_retention_utility(scores, "asce_a", context.methods, *paths),
    }
    return drawings[request.param]


def test_same_data_same_bytes(tmp_path: Path, draw: Draw) -> None:
    for name in ("one", "two"):
        draw(tmp_path / f"{name}.svg", tmp_path / f"{name}.pdf")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()
    drawing = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(drawing).tag.endswith("svg")
    assert not re.search(r"20\d\d-\d\d-\d\d", drawing)
    assert b"CreationDate" not in (tmp_path / "one.pdf").read_bytes()


def test_empty_logs_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="every training log is empty"):
        draw_training_curves({"favor": training_log().iloc[:0]}, tmp_path / "curves.svg")


def test_a_figure_without_points_says_so(tmp_path: Path, scores: pd.DataFrame) -> None:
    draw_retention_utility(scores, "no_such_encoder", ["favor"], tmp_path / "retention.svg")
    assert "no output passed the filter" in (tmp_path / "retention.svg").read_text(encoding="utf-8")


def test_gini_by_hand() -> None:
    # 1, 2, 3, 4: (-3*1 - 1*2 + 1*3 + 3*4) / (4 * 10) = 10/40
    assert gini(np.array([4, 2, 1, 3])) == pytest.approx(0.25)
    assert gini(np.array([5, 5, 5])) == 0
