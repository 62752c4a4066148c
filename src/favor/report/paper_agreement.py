"""Our tables beside the paper's: differences, and whether the methods come in the same order."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from favor.tables.build import is_control
from favor.tables.specs import TableSpec

_KEYS = ["panel", "section", "group", "column"]


def differences(cells: pd.DataFrame) -> pd.Series:
    """Return ours minus the paper's for each of ``table_cells``; NaN where either is missing."""
    return cells["value"] - cells["paper_value"]


def agreement(spec: TableSpec, cells: pd.DataFrame) -> pd.DataFrame:
    """Return, for each column of ``spec``'s cells, how far the order of its rows agrees with the paper's.

    Rows are compared where the table ranks them: within what follows a row's first name (the encoder, the point) if
    ``spec.ranked_within`` says so. Of a table of comparisons the differences are compared; a table whose rows are
    metrics has no order to compare. Columns: panel, section, group (the encoder), column, n (rows with both values,
    controls left out), spearman (rho), kendall (tau-b), note (why a coefficient is NaN: fewer than three rows, or no
    variation). Columns the paper does not print are left out.
    """
    within = bool(spec.ranked_within)
    if spec.comparisons is not None:
        cells = cells[cells["column"].isin([c.label for p in spec.panels for c in p.columns if c.statistic == "delta"])]
    elif any(row.metric or row.setting for row in spec.rows):
        cells = cells.iloc[:0]
    grouped = cells.assign(group=[" · ".join(row.split(" · ")[1:]) if within else "" for row in cells["row"]])
    records = []
    for key, rows in grouped.groupby(_KEYS, sort=False):
        both = rows[rows["value"].notna() & rows["paper_value"].notna() & ~rows["row"].map(is_control).astype(bool)]
        if rows["paper_value"].notna().any():
            coefficients = _coefficients(both["value"].to_numpy(), both["paper_value"].to_numpy())
            records.append((*map(str, key), len(both), *coefficients))
    return pd.DataFrame(records, columns=[*_KEYS, "n", "spearman", "kendall", "note"])


def _coefficients(ours: np.ndarray, paper: np.ndarray) -> tuple[float, float, str]:
    if len(ours) < 3:
        return float("nan"), float("nan"), "fewer than three methods in common"
    if np.ptp(ours) == 0 or np.ptp(paper) == 0:
        return float("nan"), float("nan"), "all values are equal"
    return float(stats.spearmanr(ours, paper).statistic), float(stats.kendalltau(ours, paper).statistic), ""


def agreement_rows(agreements: pd.DataFrame) -> pd.DataFrame:
    """Return :func:`agreement` as printable strings."""
    names = [" · ".join(filter(None, key)) for key in zip(*(agreements[key] for key in _KEYS), strict=True)]
    return pd.DataFrame(
        {
            "Column": names,
            "Methods": agreements["n"].astype(str),
            "Spearman": agreements["spearman"].map(_coefficient),
            "Kendall": agreements["kendall"].map(_coefficient),
            "Note": agreements["note"],
        }
    )


def _coefficient(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.2f}".replace("-", "−")
