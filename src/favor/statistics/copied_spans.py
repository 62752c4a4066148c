"""Which word sequences of a text stand in the texts of several authors, and how long the longest of them is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that powers of it lose nothing modulo 2^64
UNKNOWN = -1  # a word of no author; also stands between two texts, and equals nothing


@dataclass(frozen=True)
class Overlap:
    """What one text shares with an author's own texts, and with the other authors'.

    ``grams`` counts its n-grams, ``own`` those in the own texts and ``others`` those in another author's and not in
    the own ones. ``longest_own`` and ``longest_others`` are the words of the longest shared sequence, 0 where it is
    shorter than an n-gram; a sequence that both have counts for both.
    """

    grams: int
    own: int
    others: int
    longest_own: int
    longest_others: int


class KnownTexts:
    """The texts of several authors, to look word sequences up in. Texts are sequences of words."""

    def __init__(self, texts: Mapping[str, Sequence[Sequence[str]]], length: int) -> None:
        """Index ``texts`` (author -> texts) by their n-grams of ``length`` words, which do not run across texts."""
        self.length = length
        self.authors = {author: place for place, author in enumerate(sorted(texts))}
        self._words: dict[str, int] = {}
        tokens, owners = [], []
        for author, place in self.authors.items():
            for text in texts[author]:
                tokens += [self._words.setdefault(word, len(self._words)) for word in text] + [UNKNOWN]
                owners += [place] * (len(text) + 1)
        self._tokens = np.array(tokens, dtype=np.int64)
        codes, whole = self._codes(self._tokens)
        order = np.argsort(codes[whole], kind="stable")
        self._starts = whole[order]  # where n-grams start, by their code
        self._sorted = codes[self._starts]
        self._owner = np.array(owners, dtype=np.int64)

    def overlap(self, author: str, text: Sequence[str]) -> Overlap:
        """Return what ``text`` shares with the texts of ``author`` and with those of the others."""
        first, place = self._matches(text)
        own = self._owner[place] == self.authors[author]
        held = np.unique(first[own])
        return Overlap(
            grams=max(len(text) - self.length + 1, 0),
            own=len(held),
            others=len(np.setdiff1d(first[~own], held)),
            longest_own=self._longest(first[own], place[own]),
            longest_others=self._longest(first[~own], place[~own]),
        )

    def copied(self, author: str, text: Sequence[str]) -> np.ndarray:
        """Return which words of ``text`` stand in an n-gram that the texts of ``author`` hold: bool [words]."""
        first, place = self._matches(text)
        held = np.zeros(len(text), dtype=bool)
        held[np.unique(first[self._owner[place] == self.authors[author]])[:, None] + np.arange(self.length)] = True
        return held

    def _matches(self, text: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return where n-grams of ``text`` start in it, and in the known texts: every pair of equal ones."""
        tokens = np.array([self._words.get(word, UNKNOWN) for word in text], dtype=np.int64)
        codes, whole = self._codes(tokens)
        low, high = (np.searchsorted(self._sorted, codes[whole], side) for side in ("left", "right"))
        repeats = high - low
        first = np.repeat(whole, repeats)  # start in the text
        within = np.arange(len(first)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        place = self._starts[np.repeat(low, repeats) + within]  # start in the known texts
        step = np.arange(self.length)
        same = (tokens[first[:, None] + step] == self._tokens[place[:, None] + step]).all(axis=1)  # codes can collide
        return first[same], place[same]

    def _codes(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a code per n-gram of ``tokens``, and the starts of those without an unknown word."""
        number = max(len(tokens) - self.length + 1, 0)
        codes, whole = np.zeros(number, dtype=np.uint64), np.ones(number, dtype=bool)
        for offset in range(self.length):
            part = tokens[offset : offset + number]
            codes = codes * _FACTOR + (part + 2).astype(np.uint64)
            whole &= part != UNKNOWN
        return codes, np.flatnonzero(whole)

    def _longest(self, first: np.ndarray, place: np.ndarray) -> int:
        """Return the words of the longest sequence: n-grams that follow one another in both places are one."""
        if not len(first):
            return 0
        diagonal = place - first
        order = np.lexsort((first, diagonal))
        follows = (np.diff(diagonal[order]) == 0) & (np.diff(first[order]) == 1)
        breaks = np.flatnonzero(~follows)
        runs = np.diff(np.concatenate([[-1], breaks, [len(first) - 1]]))
        return int(runs.max()) + self.length - 1
