"""All methods in one order, and one verdict each against FAVoR."""

from __future__ import annotations

import pandas as pd
import pytest

from favor.report.leaderboard import HEADLINE, differences, leaderboard

METHODS = ("ditto", "favor", "favor_without_asce", "local_only", "fedavg")
VALUES = {
    **{"favor": 0.40, "favor_without_asce": 0.39, "ditto": 0.30, "fedavg": 0.10, "local_only": 0.50},
    **{"gold": 0.45, "shuffled": 0.05},
}


def evidence(p) -> pd.DataFrame:
    """Every pair once, in the order of VALUES; an interval of ± 0.05 around the difference, p = 0.9 unless given."""
    names = list(VALUES)
    rows = [
        (
            "asce_a",
            "author_accuracy_failures_wrong",
            left,
            right,
            VALUES[left],
            VALUES[right],
            VALUES[left] - VALUES[right],
        )
        for place, left in enumerate(names)
        for right in names[place + 1 :]
    ]
    columns = ["encoder", "metric", "left_method", "right_method", "left", "right", "delta"]
    made = pd.DataFrame(rows, columns=columns)
    pairs = [frozenset(pair) for pair in zip(made["left_method"], made["right_method"], strict=True)]
    return made.assign(
        low=made["delta"] - 0.05,
        high=made["delta"] + 0.05,
        p=[p.get(pair, 0.9) for pair in pairs],
        draws=100,
        error=0.024,
    )


def test_differences_favour_the_left_row_and_are_corrected() -> None:
    table = evidence({frozenset(("favor", "fedavg")): 0.01, frozenset(("local_only", "favor")): 0.004})
    found = differences(table, "asce_a", "author_accuracy_failures_wrong", "favor").set_index("rival")
    assert set(found.index) == {"ditto", "fedavg", "local_only", "favor_without_asce"}
    assert found["delta"]["fedavg"] == pytest.approx(0.3)
    assert (found["low"]["local_only"], found["high"]["local_only"]) == pytest.approx((-0.15, -0.05))
    # Holm over four rivals: 4 x 0.004, 3 x 0.01
    assert found["p_holm"].to_dict() == pytest.approx(
        {"local_only": 0.016, "fedavg": 0.03, "ditto": 1.0, "favor_without_asce": 1.0}
    )


def test_methods_stand_in_one_order_with_the_references_and_chance() -> None:
    table = evidence({frozenset(("favor", "fedavg")): 0.001})
    board = leaderboard(table, None, "asce_a", METHODS, 12, {"favor": (80, 96)})
    assert list(board["Method"]) == [
        *("Local-only", "Reference: own continuations", "FAVoR", "FAVoR w/o ASCE", "Ditto", "FedAvg"),
        *("Reference: chance", "Reference: shuffled authors"),
    ]
    against = dict(zip(board["Method"], board["Against FAVoR"], strict=True))
    assert against["FAVoR"] == "–"
    # Holm over four tests: 4 x .001
    assert against["FedAvg"] == "−0.30, p = .004: below"
    assert against["Local-only"] == "+0.10, p = 1.000: n. s."
    passed = dict(zip(board["Method"], board["Passed the filter"], strict=True))
    assert (passed["FAVoR"], passed["FedAvg"]) == ("80 of 96", "–")
    assert board.loc[board["Method"] == "Reference: chance", "Attributed to the author"].item() == "0.083"
    assert "By the methods' own encoder" not in board  # it is the judge


def test_unseen_encoders_judge_and_the_own_one_stands_beside_them() -> None:
    own = evidence({})
    both = pd.concat([own, own.assign(encoder="unseen", left=own["left"] / 2, right=own["right"] / 2)])
    board = leaderboard(both, None, "asce_a", METHODS, 0, {}).set_index("Method")
    assert board["Attributed to the author"]["FAVoR"] == "0.200"
    assert board["By the methods' own encoder"]["FAVoR"] == "0.400"


def test_no_rows_are_a_board_with_chance_alone() -> None:
    nothing = evidence({}).iloc[:0]
    assert list(leaderboard(nothing, None, "asce_a", METHODS, 12, {})["Method"]) == ["Reference: chance"]


def test_what_is_so_by_definition_has_no_interval() -> None:
    ends = {"": (0.11, 1.0), "low": (-0.05, 1.0), "high": (0.39, 1.0)}
    kept = pd.DataFrame(
        [
            (method, "asce_a", f"kept_{HEADLINE}", variant, value, "")
            for variant, values in ends.items()
            for method, value in zip(("favor", "gold"), values, strict=True)
        ],
        columns=["method", "encoder", "metric", "variant", "value", "note"],
    )
    board = leaderboard(evidence({}), kept, "asce_a", METHODS, 12, {}).set_index("Method")["Voice kept"]
    assert board["FAVoR"] == "0.11 [−0.05, 0.39]"
    assert board["Reference: own continuations"] == "1.00"
