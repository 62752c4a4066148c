"""Hints for names that a user may have misspelt."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any


def nearest(name: str, valid: Iterable[str], otherwise: str = "") -> str:
    """Return a hint naming the nearest of the ``valid`` names; where none is near, ``otherwise``, or all of them."""
    names = sorted(valid)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{near[0]}'?"
    return otherwise or f"valid: {', '.join(names) if names else 'none are configured'}"


def printable(text: str) -> str:
    """Return ``text`` for a message, cut where it is long.

    It is in quotes and with escapes where it holds a NUL or another character that cannot be printed: of a binary file
    these are many, so less of it is shown.
    """
    shown = text[:300] if text.isprintable() else repr(text[:40])
    return shown if len(text) <= (300 if text.isprintable() else 40) else f"{shown}..."


def number_hint(value: Any) -> str:
    """Return what to say of a text that would be a number: quoted, or 2e-4, which YAML reads as text."""
    try:
        float(value)
    except (TypeError, ValueError):
        return ""
    return "; YAML reads it as text: write 2.0e-4 for 2e-4, and no quotes" if isinstance(value, str) else ""


def shared_value(names: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first two keys of ``names`` that have one value, or None."""
    first: dict[str, str] = {}
    for key, value in names.items():
        if value in first:
            return first[value], key
        first[value] = key
    return None


def counted(number: int, one: str, width: int = 0) -> str:
    """Return a number and what it counts: "1 author", "2 authors"; ``width``: of the number, in characters."""
    return f"{number:>{width},} {one if number == 1 else f'{one}s'}"
