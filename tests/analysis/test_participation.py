"""Counts by last round, in a space of two dimensions scored by hand."""

from tests.scores.conftest import make_inputs

from favor.analysis.participation import by_last_round


def test_counts_by_last_round_by_hand() -> None:
    # a lies at 0 degrees, b at 90, c at 180. a's outputs: right, right; b's: wrong (a), lost; c's: right, wrong (b).
    human = {"a": [0, 0], "b": [90, 90], "c": [180, 180]}
    inputs = make_inputs(train=human, gold=human, generated={"a": [10, -10], "b": [20, None], "c": [170, 100]})
    table = by_last_round(inputs, "e", {"m": {1: {"a": 2, "c": 0}}})
    rows = {row.client: (row.last_round, row.outputs, row.correct) for row in table.itertuples()}
    assert rows == {"a": (2, 2, 2), "b": (-1, 1, 0), "c": (0, 2, 1)}
    assert set(table["method"]) == {"m"}  # controls do not federate
    assert by_last_round(inputs, "e", {}).empty
