"""Dates of posts, as sources write them, as days."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

NONE = -(2**31)  # stands for no date where days are kept as 32-bit integers
_EPOCH = date(1970, 1, 1)
# The Blog Authorship Corpus writes 12,May,2004.
_FORMATS = ("%d,%B,%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d")


@lru_cache(maxsize=100_000)
def day_of(text: str, form: str | None = None) -> int:
    """Return the day that ``text`` names, counted from 1970-01-01; ``NONE`` where it names none.

    ``form``: of the dates, as ``strptime`` has it; no other is read then. Without it,
    ISO 8601 dates and times (those with a time zone in UTC), and dates with an English month's name. Dates whose day
    and month could be exchanged, such as 03/04/2004, are not read.
    """
    plain = text.strip()
    if not plain:
        return NONE
    if form is not None:
        try:
            return _days(datetime.strptime(plain, form).date())
        except (ValueError, OverflowError):
            return NONE
    try:
        found = datetime.fromisoformat(plain)
        return _days(found.astimezone(UTC).date() if found.tzinfo is not None else found.date())
    except (ValueError, OverflowError):
        pass
    for form in _FORMATS:
        try:
            return _days(datetime.strptime(plain, form).date())
        except ValueError:
            continue
    return NONE


def names_days(form: str) -> bool:
    """Return whether dates of ``form`` name one day: day, month and year are in it."""
    try:
        return all(day_of(day.strftime(form), form) == _days(day) for day in (date(2004, 5, 13), date(1999, 12, 3)))
    except (ValueError, re.error):
        return False


def date_of(day: int) -> str:
    """Return the date of a day as text, "" for ``NONE``."""
    return "" if day == NONE else (_EPOCH + timedelta(days=day)).isoformat()


def _days(found: date) -> int:
    return (found - _EPOCH).days
