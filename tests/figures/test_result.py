"""The figure of the first screen: the ladder's order, differences with Holm's p, and what it says without data."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from tests.reports import make_score
from tests.tables.test_leaderboard import METHODS, evidence

from favor.analysis.tables import EVIDENCE
from favor.figures.declarations.result import draw_result
from favor.figures.identity import Methods
from favor.scores.tables import SCORES


@pytest.fixture
def written(monkeypatch) -> list[str]:
    """The texts that figures write into their axes."""
    texts: list[str] = []
    write = Axes.text

    def remember(self, x, y, text, *others, **style) -> Any:
        texts.append(text)
        return write(self, x, y, text, *others, **style)

    monkeypatch.setattr(Axes, "text", remember)
    return texts


def test_rows_stand_in_the_ladders_order(tmp_path, written) -> None:
    spread = {"fedavg": 0.1, "ditto": 0.4, "favor": 0.6, "favor_without_asce": 0.7, "local_only": 0.9}
    scores = pd.DataFrame(
        [
            make_score(name, "spread_left", value + shift, "asce_a", 0, variant=variant)
            for name, value in spread.items()
            for variant, shift in (("", 0.0), ("low", -0.1), ("high", 0.1))
        ]
    )
    # Holm over four rivals: 4 x 0.001 for FedAvg, 3 x 0.2 for Ditto
    table = evidence({frozenset(("favor", "fedavg")): 0.001, frozenset(("favor", "ditto")): 0.2})
    draw_result(scores, table, "asce_a", Methods(METHODS), tmp_path / "a.svg")
    assert written == ["p < .01", "p = 0.60", "p = 1.00", "p = 1.00"]  # FedAvg, Ditto, w/o ASCE, Local-only: upwards


def test_without_data_it_says_so(tmp_path, written) -> None:
    draw_result(SCORES.empty(), EVIDENCE.empty(), "asce_a", Methods(["mine"]), tmp_path / "a.svg", tmp_path / "a.pdf")
    assert len(written) == 1
    assert "no spread to lose" in written[0]
    draw_result(SCORES.empty(), evidence({}), "asce_a", Methods(METHODS), tmp_path / "b.svg")
    assert written[1] == "Authors' own continuations do not\ndiffer measurably: no spread to lose."
