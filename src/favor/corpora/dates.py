"""Dates of posts, as sources write them, as days."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

NONE = -(2**31)  # stands for no date where days are kept as 32-bit integers
_EPOCH = date(1970, 1, 1)
# The Blog Authorship Corpus writes 12,May,2004.
EPOCH_UNITS = {"seconds": 1, "milliseconds": 1000}  # forms of dates that count from 1970 on
_COUNT = re.compile(r"\d{9,}")  # seconds or milliseconds, of which ISO 8601 would make a day of long ago
_RECENT = (datetime(1990, 1, 1, tzinfo=UTC).timestamp(), datetime(2100, 1, 1, tzinfo=UTC).timestamp())
_FORMATS = ("%d,%B,%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d")


@lru_cache(maxsize=100_000)
def day_of(text: str, form: str | None = None) -> int:
    """Return the day that ``text`` names, counted from 1970-01-01; ``NONE`` where it names none.

    ``form``: of the dates, as ``strptime`` has it, or "seconds" or "milliseconds" since 1970 in UTC; no other is read
    then. Without it, ISO 8601 dates and times, and dates with an English month's name. A time with a zone names the
    day of that zone, which is the writer's own. Dates whose day and month could be exchanged, such as 03/04/2004, are
    not read.
    """
    plain = text.strip()
    if not plain:
        return NONE
    if form is not None:
        try:
            if form in EPOCH_UNITS:
                return _days(datetime.fromtimestamp(float(plain) / EPOCH_UNITS[form], UTC).date())
            return _days(datetime.strptime(plain, form).date())
        except (ValueError, OverflowError, OSError):
            return NONE
    try:
        if not _COUNT.fullmatch(plain):
            return _days(datetime.fromisoformat(plain).date())
    except ValueError:
        pass
    for form in _FORMATS:
        try:
            return _days(datetime.strptime(plain, form).date())
        except ValueError:
            continue
    return NONE


def names_days(form: str) -> bool:
    """Return whether dates of ``form`` name one day: day, month and year are in it, or it counts from 1970 on."""
    if form in EPOCH_UNITS:
        return True
    try:
        days = (datetime(2004, 5, 13, tzinfo=UTC), datetime(1999, 12, 3, tzinfo=UTC))
        return all(day_of(day.strftime(form), form) == _days(day.date()) for day in days)
    except (ValueError, re.error):
        return False


def epoch_unit(values: Iterable[str]) -> str | None:
    """Return the form of :func:`day_of` in which all of ``values`` are times of 1990 to 2099; None where none fits."""
    try:
        times = [float(value) for value in values if value.strip()]
    except ValueError:
        return None
    for unit, per_second in EPOCH_UNITS.items():
        if times and all(_RECENT[0] <= time / per_second < _RECENT[1] for time in times):
            return unit
    return None


def date_of(day: int) -> str:
    """Return the date of a day as text, "" for ``NONE``."""
    return "" if day == NONE else (_EPOCH + timedelta(days=day)).isoformat()


def _days(found: date) -> int:
    return (found - _EPOCH).days
