"""Agreement with the paper on hand-computed ranks."""

import math

import pandas as pd
import pytest

from favor.paper.values import load_paper_values
from favor.report.paper_agreement import agreement, agreement_rows
from favor.tables.build import build_table
from favor.tables.completion import printed_spec


def cells(values, paper, column="X") -> pd.DataFrame:
    known = {"row": [f"row {number}" for number in range(len(values))], "value": values, "paper_value": paper}
    return pd.DataFrame({"panel": "", "section": "", "column": column, **known})


SPEC = printed_spec("phase1-main-results")


def test_rank_correlations_by_hand() -> None:
    # ranks 1 2 3 4 against 1 3 2 4: sum d^2 = 2, rho = 1 - 6*2/(4*15) = 0.8; one of six pairs discordant, tau = 4/6
    found = agreement(SPEC, cells([0.1, 0.2, 0.3, 0.4], [0.1, 0.3, 0.2, 0.4])).iloc[0]
    assert found["n"] == 4
    assert found["spearman"] == pytest.approx(0.8)
    assert found["kendall"] == pytest.approx(4 / 6)


def test_missing_values_and_controls_are_left_out() -> None:
    frame = cells([0.1, float("nan"), 0.3, 0.4, 0.9], [0.1, 0.2, 0.3, float("nan"), 0.1])
    frame.loc[4, "row"] = "Reference: own continuations"
    found = agreement(SPEC, frame).iloc[0]
    assert (found["n"], found["note"]) == (2, "fewer than three methods in common")
    assert math.isnan(found["spearman"])


def test_columns_the_paper_lacks_and_constant_columns() -> None:
    nothing = cells([1.0, 2.0, 3.0], [float("nan")] * 3)
    assert agreement(SPEC, nothing).empty
    assert agreement_rows(agreement(SPEC, nothing)).empty
    constant = agreement(SPEC, cells([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))
    assert list(constant["note"]) == ["all values are equal"]
    assert agreement_rows(constant).iloc[0].tolist() == ["X", "3", "–", "–", "all values are equal"]


def test_rows_of_several_encoders_are_compared_apart(scores, context) -> None:
    spec = printed_spec("phase1-external-evaluator-details")
    found = agreement(spec, build_table(spec, scores, context, load_paper_values(spec.label)))
    auc = found[(found["column"] == "Gen→Src AUC") & (found["group"] == "MiniLM")]
    assert auc["n"].tolist() == [6]
