"""Which habits of writing differ between texts and an author, with limits, and what other authors do."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest
from scipy.stats import t as student_t

from favor.corpora.style_features import VERIFIER_WORDS
from favor.scores.readable_habits import DISCOURSE_MARKERS
from favor.statistics.bootstrap import student_limit
from favor.statistics.paired import holm
from favor.voice.texts import WORDS

FUNCTION_WORDS = frozenset(VERIFIER_WORDS)
FEWEST = 5  # occurrences that must be expected of the author, or of the texts, before a rate is spoken of
FEW_TEXTS = 8  # below which what texts differ by is taken from the author's too
LEVEL = 0.05


class Matches:
    """Counts the places of a text that a pattern matches."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def __call__(self, text: str) -> float:
        """Return how many there are."""
        return float(len(self._pattern.findall(text)))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield beginning and end of each."""
        return (found.span() for found in self._pattern.finditer(text))


def _words(text: str) -> float:
    return float(WORDS.count(text))


def _function_words(text: str) -> float:
    return float(sum(word.lower().replace("’", "'") in FUNCTION_WORDS for word in WORDS.split(text)))


@dataclass(frozen=True)
class Habit:
    """A rate: ``events`` of a text per ``per`` of it, times ``scale``. ``counted``: events that can be rare."""

    name: str
    unit: str
    events: Callable[[str], float]
    per: Callable[[str], float]
    scale: float = 1.0
    counted: bool = True


_sentences = Matches(r"[^.!?…\n]*[^\W\d_][^.!?…\n]*")
_MARKERS = rf"(?i)\b(?:{'|'.join(DISCOURSE_MARKERS)})\b"
HABITS = (
    Habit("sentence length", "words per sentence", _words, _sentences, counted=False),
    Habit("word length", "letters per word", lambda text: float(sum(map(len, WORDS.split(text)))), _words, 1, False),
    Habit("function words", "per 100 words", _function_words, _words, 100, counted=False),
    Habit("commas", "per sentence", Matches(","), _sentences),
    Habit("exclamation marks", "per 100 sentences", Matches("!"), _sentences, 100),
    Habit("question marks", "per 100 sentences", Matches(r"\?"), _sentences, 100),
    Habit("semicolons", "per 100 sentences", Matches(";"), _sentences, 100),
    Habit("colons", "per 100 sentences", Matches(":"), _sentences, 100),
    Habit("dashes", "per 100 sentences", Matches(r"--+|[–—]|(?<= )-(?= )"), _sentences, 100),
    Habit("ellipses", "per 100 sentences", Matches(r"\.{2,}|…"), _sentences, 100),
    Habit("brackets", "per 100 sentences", Matches(r"\("), _sentences, 100),
    Habit("lower-case starts", "per 100 sentences", Matches(r"(?:^|[.!?…]\s+|\n)[a-z]"), _sentences, 100),
    Habit("lower-case i", "per 100 words", Matches(r"\bi\b"), _words, 100),
    Habit("words in capitals", "per 100 words", Matches(r"\b[A-Z]{2,}\b"), _words, 100),
    Habit("contractions", "per 100 words", Matches(r"[A-Za-z]['’](?:[a-z]|ll|re|ve)\b"), _words, 100),
    Habit("emoticons", "per 100 words", Matches(r"[:;=]['-]?[)(DPpO/\\|]|<3"), _words, 100),
    Habit("first person", "per 100 words", Matches(r"(?i)\b(?:i|me|my|mine|myself)\b"), _words, 100),
    Habit("discourse markers", "per 100 words", Matches(_MARKERS), _words, 100),
)  # fmt: skip


@dataclass(frozen=True)
class HabitRate:
    """A habit in the texts, the author's own texts and the contrast. ``low``, ``high``: 95 % limits of a rate.

    ``others_low`` and ``others_high``: the middle 80 % of the contrast authors' rates. ``p``: two-sided, after Holm
    over all habits; NaN where the habit is too rare for the amount of text to say anything.
    """

    name: str
    unit: str
    texts: float
    own: float
    own_low: float
    own_high: float
    others_low: float
    others_high: float
    p: float

    @property
    def differs(self) -> bool:
        """Whether the texts and the author differ."""
        return self.p < LEVEL


def compare_habits(texts: Sequence[str], own: Sequence[str], others: Sequence[Sequence[str]]) -> list[HabitRate]:
    """Return every habit of ``texts`` beside the author's ``own`` texts and each contrast author's.

    A rate is a ratio of sums, and its variance that of the ratio over texts (Cochran 1977, 6.3). A difference is tested
    by Welch's t. Fewer than ``FEW_TEXTS`` texts hardly show what texts of one hand differ by: they are taken to differ
    by what the author's do, if that is more, with the author's degrees of freedom. Of a habit that is counted, p is not
    below that of the exact test of two Poisson rates (Przyborowski and Wilenski 1940): texts without a single
    occurrence have no spread, which does not make a rare thing a habit.
    """
    rates: list[tuple[Any, ...]] = []
    p_values = []
    for habit in HABITS:
        mine, theirs = (_counts(habit, group) for group in (texts, own))
        contrast = [habit.scale * _rate(_counts(habit, group)) for group in others]
        middle = np.nanquantile(contrast, (0.1, 0.9)).tolist() if contrast else (math.nan, math.nan)
        p_values.append(_p(habit, mine, theirs))
        values = (habit.scale * _rate(counts) for counts in (mine, theirs))
        rates.append((habit.name, habit.unit, *values, *_limits(habit, theirs), *middle))
    return [HabitRate(*[*rate, p]) for rate, p in zip(rates, holm(p_values).tolist(), strict=True)]


def _counts(habit: Habit, texts: Sequence[str]) -> np.ndarray:
    """Events and exposure of every text that has any exposure, [2, n]."""
    found = np.array([(habit.events(text), habit.per(text)) for text in texts], dtype=np.float64).reshape(-1, 2).T
    return found[:, found[1] > 0]


def _rate(counts: np.ndarray) -> float:
    return float(counts[0].sum() / counts[1].sum()) if counts[1].sum() else math.nan


def _error(counts: np.ndarray) -> float:
    number = counts.shape[1]
    if number < 2:
        return math.nan
    residuals = counts[0] - _rate(counts) * counts[1]
    return math.sqrt(number / (number - 1) * float((residuals**2).sum())) / float(counts[1].sum())


def _expected_error(own: np.ndarray, exposure: np.ndarray) -> float:
    """Return the variance of the rate of texts of ``exposure`` [m] if they are the author's, as ``own`` are.

    The larger of two: texts differ by as much however long they are, or are made of independent parts.
    """
    number, squares = own.shape[1], (own[0] - _rate(own) * own[1]) ** 2
    by_text = float((squares / own[1]).sum() / own[1].sum()) * float(((exposure / exposure.sum()) ** 2).sum())
    by_part = float(squares.sum() / own[1].sum() / exposure.sum())
    return number / (number - 1) * max(by_text, by_part)


def _limits(habit: Habit, counts: np.ndarray) -> tuple[float, float]:
    number = counts.shape[1]
    if number < 2:
        return math.nan, math.nan
    half = student_limit(number - 1) * _error(counts)
    low, high = _rate(counts) - half, _rate(counts) + half
    if habit.counted and counts[0].sum() == 0:
        high = 3.689 / float(counts[1].sum())  # the 97.5 % limit of a Poisson mean of which nothing was seen
    return habit.scale * max(0.0, low), habit.scale * high


def _p(habit: Habit, texts: np.ndarray, own: np.ndarray) -> float:
    sizes = [counts.shape[1] for counts in (texts, own)]
    if sizes[0] < 1 or sizes[1] < 2:
        return math.nan
    exact = 0.0
    if habit.counted:
        together = texts[0].sum() + own[0].sum()
        share = texts[1].sum() / (texts[1].sum() + own[1].sum())
        if together * min(share, 1 - share) < 1 or together < FEWEST:
            return math.nan
        exact = float(binomtest(round(texts[0].sum()), round(together), share).pvalue)
    errors = [_error(texts) ** 2 if sizes[0] > 1 else 0.0, _error(own) ** 2]
    if sizes[0] < FEW_TEXTS:
        errors[0] = max(errors[0], _expected_error(own, texts[1]))
    if not sum(errors):
        return max(exact, 0.0 if _rate(texts) != _rate(own) else 1.0)
    freedom = float(sizes[1] - 1)
    if sizes[0] >= FEW_TEXTS:
        freedom = sum(errors) ** 2 / sum(error**2 / (size - 1) for error, size in zip(errors, sizes, strict=True))
    t = abs(_rate(texts) - _rate(own)) / math.sqrt(sum(errors))
    return max(exact, float(2 * student_t.sf(t, freedom)))


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
