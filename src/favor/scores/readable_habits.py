"""Habits of writing that a reader can name: case, punctuation, sentence length, function words and the like.

Each is one rate of a text, made of the features of :mod:`favor.corpora.style_features` where it has them.
"""

import re
from collections.abc import Sequence

import numpy as np

from favor.corpora.style_features import PUNCTUATION, STRUCTURE, WORD, function_word_rates, structure_rates

# Words and phrases by which a writer steers through a text.
DISCOURSE_MARKERS = (
    "well", "so", "anyway", "anyways", "also", "however", "actually", "basically", "honestly", "besides", "plus",
    "apparently", "obviously", "maybe", "oh", "okay", "ok", "now", "then", "though", "therefore", "thus", "moreover",
    "meanwhile", "still", "of course", "in fact", "by the way", "i mean", "you know", "for some reason",
)  # fmt: skip
_MARKER = re.compile(rf"\b(?:{'|'.join(DISCOURSE_MARKERS)})\b")

# Per character: lower-case starts and "i" apart, which are per word.
_NAMES = (
    "lower case, capitals, punctuation, exclamations, ellipses, sentence length, word length, function words, "
    "contractions, emoticons, discourse markers, digits, line breaks"
)
HABITS = tuple(_NAMES.split(", "))


def readable_habits(text: str) -> np.ndarray:
    """Return the rate of every habit in ``text``: float64 [len(HABITS)], in their order.

    Rates of marks, digits and breaks are per character; those of words per word. Lengths are words per sentence and
    characters per word.
    """
    found = dict(zip(STRUCTURE, structure_rates(text).tolist(), strict=True))
    words = max(len(WORD.findall(text.replace("’", "'"))), 1)
    return np.array(
        [
            found["lower-case sentence starts"] + found["lone lower-case i"],
            found["all-capital words"],
            sum(found[f"rate of {mark}"] for mark in PUNCTUATION),
            found["rate of !"],
            found["ellipses"],
            found["sentence length"],
            found["word length"],
            float(function_word_rates(text).sum()),
            found["contractions"],
            found["emoticons"],
            len(_MARKER.findall(text.lower())) / words,
            found["digits"],
            found["line breaks"],
        ]
    )


def habits_of(texts: Sequence[str]) -> np.ndarray:
    """Return the habits of several texts: float64 [n, len(HABITS)]."""
    return np.array([readable_habits(text) for text in texts]).reshape(len(texts), len(HABITS))
