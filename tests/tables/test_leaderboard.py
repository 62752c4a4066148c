"""The first screen: all rows in one order, and a headline that claims no more than the tests show."""

from __future__ import annotations

import pandas as pd
import pytest

from favor.paper.names import method_name
from favor.tables.leaderboard import differences, finding, leaderboard

METHODS = ("ditto", "favor", "favor_without_asce", "local_only", "fedavg")
VALUES = {
    **{"favor": 0.40, "favor_without_asce": 0.39, "ditto": 0.30, "fedavg": 0.10, "local_only": 0.50},
    **{"gold": 0.45, "shuffled": 0.05},
}


def evidence(p) -> pd.DataFrame:
    """Every pair once, in the order of VALUES; an interval of ± 0.05 around the difference, p = 0.9 unless given."""
    names = list(VALUES)
    rows = [
        ("asce_a", "author_accuracy", left, right, VALUES[left], VALUES[right], VALUES[left] - VALUES[right])
        for place, left in enumerate(names)
        for right in names[place + 1 :]
    ]
    columns = ["encoder", "metric", "left_method", "right_method", "left", "right", "delta"]
    made = pd.DataFrame(rows, columns=columns)
    pairs = [frozenset(pair) for pair in zip(made["left_method"], made["right_method"], strict=True)]
    return made.assign(
        low=made["delta"] - 0.05, high=made["delta"] + 0.05, p=[p.get(pair, 0.9) for pair in pairs], draws=100
    )


def test_differences_favour_the_left_row_and_are_corrected() -> None:
    table = evidence({frozenset(("favor", "fedavg")): 0.01, frozenset(("local_only", "favor")): 0.004})
    found = differences(table, "asce_a", "author_accuracy", "favor").set_index("rival")
    assert set(found.index) == {"ditto", "fedavg", "local_only", "favor_without_asce"}
    assert found["delta"]["fedavg"] == pytest.approx(0.3)
    assert (found["low"]["local_only"], found["high"]["local_only"]) == pytest.approx((-0.15, -0.05))
    # Holm over four rivals: 4 x 0.004, 3 x 0.01
    assert found["p_holm"].to_dict() == pytest.approx(
        {"local_only": 0.016, "fedavg": 0.03, "ditto": 1.0, "favor_without_asce": 1.0}
    )


def test_rows_stand_in_one_order_with_the_references_and_chance() -> None:
    board = leaderboard(evidence({frozenset(("local_only", "fedavg")): 0.001}), None, "asce_a", METHODS, 12)
    assert list(board["Row"]) == [
        *("Local-only", "Reference: own continuations", "FAVoR", "FAVoR w/o ASCE", "Ditto", "FedAvg"),
        *("Reference: chance", "Reference: shuffled authors"),
    ]
    against = dict(zip(board["Row"], board["Against the best"], strict=True))
    assert against["Local-only"] == "best"
    assert against["FedAvg"] == "lower, p = .004"
    assert against["FAVoR"] == "open, p = 1.000"
    assert board.loc[board["Row"] == "Reference: chance", "Author accuracy"].item() == "0.083"


def test_the_headline_names_the_best_rival_and_how_sure_it_is() -> None:
    text = finding(evidence({}), "asce_a", METHODS, ["local_only"])
    assert text.startswith("FAVoR reaches an author accuracy of 0.400; the best other federated row, Ditto, 0.300: ")
    assert "+0.100 [0.050, 0.150], Holm p = 1.000, not distinguishable." in text
    assert "of 4 other rows 0 are lower, 0 higher and 4 not distinguishable" in text
    certain = {frozenset(("favor", "ditto")): 0.0002, frozenset(("favor", "local_only")): 0.0002}
    text = finding(evidence(certain), "asce_a", METHODS, ["local_only"])
    assert "a difference." in text
    assert "1 are lower, 1 higher and 2 not distinguishable" in text


def test_nothing_to_compare() -> None:
    nothing = evidence({}).iloc[:0]
    assert (
        finding(nothing, "asce_a", METHODS, []) == "No output of any row passed the filter, so nothing can be compared."
    )


def test_rows_without_an_output_are_named() -> None:
    known = evidence({})
    own = known[(known["left_method"] != "favor") & (known["right_method"] != "favor")]
    assert finding(own, "asce_a", METHODS, []) == (
        "No output of FAVoR passed the filter, so nothing can be compared with it."
    )
    alone = known[(known["left_method"] == "favor") & (known["right_method"] == "gold")]
    others = ", ".join(method_name(name) for name in METHODS if name != "favor")
    assert (
        finding(alone, "asce_a", METHODS, []) == f"No output of {others} passed the filter, so nothing can be compared."
    )
    assert finding(alone, "asce_a", ["favor"], []) == "FAVoR is the only row, so nothing can be compared."


def test_no_rows_are_a_board_with_chance_alone() -> None:
    nothing = evidence({}).iloc[:0]
    assert list(leaderboard(nothing, None, "asce_a", METHODS, 12)["Row"]) == ["Reference: chance"]
