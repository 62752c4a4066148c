"""Means and deviations over seeds."""

import numpy as np
import pandas as pd
import pytest

from favor.tables.build import seed_summary


def test_by_hand() -> None:
    nan = float("nan")
    rows = [
        (1, "favor", "asce", "author_accuracy", "", 0.40, 10, ""),
        (2, "favor", "asce", "author_accuracy", "", 0.46, 10, ""),
        (3, "favor", "asce", "author_accuracy", "", nan, 0, "no output passed the filter"),
        (1, "base", "asce", "author_accuracy", "", 0.10, 10, ""),
        (1, "empty", "asce", "author_accuracy", "", nan, 0, "no pairs"),
    ]
    names = ["seed", "method", "encoder", "metric", "variant", "value", "n", "note"]
    summary = seed_summary(pd.DataFrame(rows, columns=names)).set_index("method")
    # mean 0.43; deviation with ddof 1: sqrt((0.03^2 + 0.03^2) / 1) = 0.0424264
    assert summary.loc["favor", "mean"] == pytest.approx(0.43)
    assert summary.loc["favor", "deviation"] == pytest.approx(0.0424264, abs=1e-7)
    assert summary.loc["favor", "seeds"] == 2
    assert summary.loc["favor", "note"] == ""
    assert np.isnan(summary.loc["base", "deviation"])
    assert summary.loc["base", "mean"] == 0.10
    assert (summary.loc["empty", "seeds"], summary.loc["empty", "note"]) == (0, "no pairs")
