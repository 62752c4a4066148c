"""Dates as sources write them."""

from __future__ import annotations

from datetime import date

import pytest

from favor.corpora.dates import NONE, date_of, day_of


@pytest.mark.parametrize(
    "text",
    [
        "14,May,2004",
        " 2004-05-14 ",
        "2004-05-14T23:59:00",
        "2004-05-14 10:00:01",
        "2004-05-14T12:00:00Z",
        "2004-05-15T01:00:00+02:00",
        "14 May 2004",
        "May 14, 2004",
        "2004/05/14",
        "20040514",
    ],
)
def test_one_day_in_many_forms(text) -> None:
    assert date_of(day_of(text)) == "2004-05-14"


@pytest.mark.parametrize(
    "text",
    ["040512", "991231", "2004111", "108328", "", "  ", "03/04/2004", "31,June,2004", "yesterday", "14,mei,2004"],
)
def test_what_is_no_date(text) -> None:
    assert day_of(text) == NONE
    assert date_of(NONE) == ""


def test_days_count_from_1970_and_go_below() -> None:
    assert [day_of("1970-01-01"), day_of("1970-01-02"), day_of("1969-12-31")] == [0, 1, -1]
    assert day_of("2004-05-14") == (date(2004, 5, 14) - date(1970, 1, 1)).days
