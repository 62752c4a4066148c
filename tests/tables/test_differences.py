"""Cells of paired differences, on numbers by hand."""

import pandas as pd
import pytest

from favor.tables.cells import SAME
from favor.tables.declarations.style_measures import AUTHOR_PROFILES
from favor.tables.differences import difference
from favor.tables.specs import Derived, Row


def frame(encoder="asce_a", prefix="common_") -> pd.DataFrame:
    """FAVoR is .2 above Ditto (p .03) and .1 below FedAvg (p .02); both were written once, by name order."""
    found = [
        ("ditto", "minus:favor", (-0.2, -0.3, -0.1, 0.03)),
        ("favor", "minus:fedavg", (-0.1, -0.15, -0.05, 0.02)),
        ("ditto", "minus:fedavg", (-0.3, -0.4, -0.2, 0.0001)),
    ]
    rows = [
        (0, method, encoder, "profile_auc", f"{prefix}{name}{end}", value, 12, "")
        for method, name, values in found
        for end, value in zip(("", "_low", "_high", "_p"), values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["seed", "method", "encoder", "metric", "variant", "value", "n", "note"])


def cell(method, scores, variant="common") -> Derived:
    return difference("profile_auc", "favor", "style", variant)(Row((method,), method), scores, {"style": "asce_a"})


def test_the_sign_is_the_rows_and_p_is_holms_over_the_two_tests_against_the_rival() -> None:
    # Holm: .02 x 2 = .04, then max(.04, .03) = .04; the test of Ditto against FedAvg is not of the column.
    assert cell("ditto", frame()).text == "−0.200 [−0.300, −0.100], p = .040"
    assert cell("fedavg", frame()).text == "0.100 [0.050, 0.150], p = .040"


def test_rows_that_are_equal_by_every_resampling_have_neither_interval_nor_p() -> None:
    equal = frame().assign(value=lambda rows: rows["value"].where(rows["variant"].str.endswith("_p"), 0.0))
    found = cell("ditto", equal)
    assert (found.text, found.value, found.reason) == ("0.000", 0.0, SAME)


@pytest.mark.parametrize(
    ("method", "scores", "variant", "reason"),
    [
        ("favor", frame(), "common", "the method that the others are compared with"),
        ("base_only", frame(), "common", "profile_auc was not compared"),
        ("ditto", frame(), "", "profile_auc was not compared"),
        ("ditto", frame(encoder="minilm"), "common", "profile_auc was not compared"),
        ("ditto", frame().assign(note="no outputs in both rows"), "common", "no outputs in both rows"),
    ],
)
def test_what_was_not_compared_is_a_dash_with_its_reason(method, scores, variant, reason) -> None:
    found = cell(method, scores, variant)
    assert (found.text, found.reason) == ("–", reason)


@pytest.mark.parametrize(("panel", "prefix"), [("AUC minus FAVoR", ""), ("AUC minus FAVoR, common prompts", "common_")])
def test_the_table_of_author_profiles_prints_them(panel, prefix) -> None:
    columns = next(each.columns for each in AUTHOR_PROFILES.panels if each.title == panel)
    found = columns[1].derive(Row(("ditto",), "ditto"), frame(prefix=prefix), {"style": "asce_a"})
    assert found.value == pytest.approx(-0.2)
