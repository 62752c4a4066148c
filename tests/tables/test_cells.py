"""What a cell prints: deviations in the scale of their mean, differences only where they mean something."""

import math
from typing import Any

import pytest

from favor.report.paper_agreement import number_macros
from favor.tables.cells import printed_deviation, printed_paper
from favor.tables.completion import printed_spec
from favor.tables.specs import Column


def cell(value, deviation=math.nan, paper=math.nan, text="") -> dict[str, Any]:
    return {"value": value, "deviation": deviation, "paper_value": paper, "paper_text": text}


@pytest.mark.parametrize(
    ("value", "deviation", "unit", "printed"),
    [
        (204.0, 90.6, "seconds", "1.5"),  # 3.4 minutes, and 90.6 s are 1.51 minutes
        (7200.0, 360.0, "seconds", "0.10"),  # 2.00 hours
        (3 * 2.0**20, 2.0**19, "bytes", "0.5"),  # 3.0 MiB
        (33680.0, 1460.0, "count", "1.46k"),  # 33.68k
        (204.0, 3.0, "count", "3"),
        (29.93e6, 0.0, "count", ""),  # the same for every seed
        (0.4, 0.01, "", "0.010"),
        (0.4, 0.0, "", "0.000"),
        (0.4, math.nan, "", ""),
        (math.nan, 0.01, "", ""),
    ],
)
def test_deviation_has_the_scale_of_its_mean(value, deviation, unit, printed) -> None:
    assert printed_deviation(value, deviation, 3, unit) == printed


def test_only_differences_with_a_meaning() -> None:
    assert printed_paper(cell(0.4, paper=0.403), Column("Acc.")) == ("0.403", "-0.003")
    assert printed_paper(cell(0.4, paper=0.037), Column("p", compared=False)) == ("0.037", "")
    assert printed_paper(cell(12.0, paper=20.0), Column("Items", decimals=0)) == ("20", "")
    assert printed_paper(cell(240.0, paper=15840.0), Column("Runtime", unit="seconds")) == ("4.40 hours", "")
    assert printed_paper(cell(0.4, text="[0.1, 0.2]"), Column("CI")) == ("[0.1, 0.2]", "")


def test_p_values_and_counts_are_not_compared() -> None:
    columns = {column.label: column for column in printed_spec("phase1-paired-significance").panels[0].columns}
    assert [name for name, column in columns.items() if not column.compared] == ["p", "Author-cluster p", "Holm p"]
    audit = {column.label: column.decimals for column in printed_spec("human_2afc_audit").panels[0].columns}
    assert (audit["Items"], audit["Votes"], audit["Mean conf."]) == (0, 0, 2)


def test_numbers_are_macros() -> None:
    entries = [
        {"key": "k100_auc_gain", "value": -0.0123, "decimals": 3},
        {"key": "updates", "value": 72.0, "decimals": 0},
        {"key": "absent", "value": None, "decimals": 3},
    ]
    assert number_macros({"main-run": entries}).splitlines()[1:] == [
        r"\newcommand{\FavorMainRunKOneZeroZeroAucGain}{$-$0.012}",
        r"\newcommand{\FavorMainRunUpdates}{72}",
    ]
