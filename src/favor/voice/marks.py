"""Where habits stand in a text."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from favor.voice.habits import HABITS, Matches


class Stretch(NamedTuple):
    """A part of a text, and the places in ``HABITS`` of the habits that stand there, which may be none."""

    text: str
    habits: tuple[int, ...]


def stretches(text: str) -> Iterator[Stretch]:
    """Yield ``text`` in parts: each lies inside or outside every occurrence of a habit that one can point at."""
    spans = [
        (start, end, number)
        for number, habit in enumerate(HABITS)
        if isinstance(habit.events, Matches)
        for start, end in habit.events.spans(text)
        if start < end
    ]
    cuts = sorted({0, len(text), *(place for start, end, _ in spans for place in (start, end))})
    places = {cut: place for place, cut in enumerate(cuts)}
    inside: list[list[int]] = [[] for _ in cuts]
    for start, end, number in spans:
        for place in range(places[start], places[end]):
            inside[place].append(number)
    for place, (start, end) in enumerate(pairwise(cuts)):
        yield Stretch(text[start:end], tuple(inside[place]))
