"""Dates as sources write them."""

from datetime import date

import pytest

from favor.corpora.dates import NONE, date_of, day_of, epoch_unit, names_days

DAYS = ["14,May,2004", " 2004-05-14 ", "2004-05-14T23:59:00", "2004-05-14 10:00:01", "2004-05-14T12:00:00Z"]
DAYS += ["2004-05-14T23:00:00-04:00", "2004-05-14T01:00:00+02:00"]  # in UTC the first is of the next day
DAYS += ["14 May 2004", "May 14, 2004", "2004/05/14", "20040514"]
NO_DAYS = ["040512", "991231", "2004111", "108328", "1684051200000", "16840512000", "", "  ", "03/04/2004"]
NO_DAYS += ["31,June,2004", "yesterday", "14,mei,2004"]


@pytest.mark.parametrize(("text", "day"), [*((text, "2004-05-14") for text in DAYS), *((text, "") for text in NO_DAYS)])
def test_one_day_in_many_forms_and_what_is_none(text, day) -> None:
    assert date_of(day_of(text)) == day
    assert (day_of(text) == NONE) == (not day)


def test_days_count_from_1970_and_go_below() -> None:
    assert [day_of("1970-01-01"), day_of("1970-01-02"), day_of("1969-12-31")] == [0, 1, -1]
    assert day_of("2004-05-14") == (date(2004, 5, 14) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("text", "form", "found"),
    [
        ("14.05.2004", "%d.%m.%Y", "2004-05-14"),
        (" 4.5.2004 ", "%d.%m.%Y", "2004-05-04"),
        ("05/14/04", "%m/%d/%y", "2004-05-14"),
        ("2004-05-14", "%d.%m.%Y", ""),  # no other form is read
        ("31.02.2004", "%d.%m.%Y", ""),
        ("14.05.2004 10:00", "%d.%m.%Y", ""),
        ("14.05.2004 10:00", "%d.%m.%Y %H:%M", "2004-05-14"),
    ],
)
def test_a_form_that_is_named_is_the_only_one(text, form, found) -> None:
    assert date_of(day_of(text, form)) == found


@pytest.mark.parametrize(
    ("form", "names"),
    [
        *((form, True) for form in ("%d.%m.%Y", "%j %Y", "%d %b %y", "%m/%d/%Y %H:%M")),
        *((form, False) for form in ("%m.%Y", "%d.%m.", "", "dd.mm.yyyy", "%", "%Q", "%d%d%m%Y", "%H:%M", "[")),
    ],
)
def test_forms_that_name_a_day(form, names) -> None:
    assert names_days(form) is names


@pytest.mark.parametrize(
    ("values", "unit", "day"),
    [
        (["1084492800", "1084579199"], "seconds", "2004-05-14"),
        (["1084492800000", ""], "milliseconds", "2004-05-14"),
        (["1084492800.0"], "seconds", "2004-05-14"),
        (["1084492800", "2004-05-14"], None, ""),
        (["2004", "2005"], None, ""),  # years
        (["20040514"], None, ""),
        (["nan"], None, ""),
        ([""], None, ""),
    ],
)
def test_times_since_1970_are_dates_where_all_are_recent(values, unit, day) -> None:
    assert epoch_unit(values) == unit
    if unit:
        assert names_days(unit)
        assert {date_of(day_of(value, unit)) for value in values if value} == {day}
    assert day_of("9" * 400, "seconds") == day_of("yesterday", "milliseconds") == day_of("nan", "seconds") == NONE
