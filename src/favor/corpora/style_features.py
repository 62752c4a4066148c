"""A light stylometric description of a text, by which the roster is made style-diverse.

Rates per word or per character, none of which names a topic. (The stylometric *verifier* of the scores is another
thing: :mod:`favor.encoders`.)
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

FUNCTION_WORDS = re.findall(
    r"\w+",
    "a about after all also always am an and any are as at be because been but by can could did do even "
    "for from get go had has have he her his how i if in into is it its just know like little maybe me "
    "more much my never no not now of on one only or other our out over quite rather really she should so "
    "some such than that the their them then there these they thing think this those though thus to too "
    "up us very was we well were what when which while who will with would yet you your",
)
MARKS = (".", ",", "!", "?", ";", ":", "'", '"', "(", "-", "*", "/", "&", "...", "!!", ":)", "\n")
SHAPES = ("capitals", "capital_words", "small_i", "digits", "non_ascii", "contractions")
LENGTHS = ("word_length", "long_words", "sentence_words", "distinct_words")
FEATURES = (*FUNCTION_WORDS, *MARKS, *SHAPES, *LENGTHS)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?\n]+")


def style_features(text: str) -> np.ndarray:
    """Return the features of ``text``, float64 [len(FEATURES)], in the order of ``FEATURES``; zeros for no words.

    Function words, contractions and shapes of words are rates per word, marks and shapes of characters rates per
    character, lengths means in characters or words; distinct words are counted over the first 1,000.
    """
    words = _WORD.findall(text)
    if not words:
        return np.zeros(len(FEATURES))
    lowered = [word.lower().replace("’", "'") for word in words]
    counts = Counter(lowered)
    opening = lowered[:1000]
    sentences = [part for part in _SENTENCE_END.split(text) if part.strip()]
    shapes = (
        sum(character.isupper() for character in text) / len(text),
        sum(len(word) > 1 and word.isupper() for word in words) / len(words),
        words.count("i") / len(words),
        sum(character.isdigit() for character in text) / len(text),
        sum(ord(character) > 127 for character in text) / len(text),
        sum("'" in word for word in lowered) / len(words),
    )
    lengths = (
        sum(map(len, words)) / len(words),
        sum(len(word) > 6 for word in words) / len(words),
        len(words) / max(len(sentences), 1),
        len(set(opening)) / len(opening),
    )
    return np.array(
        [
            *(counts[word] / len(words) for word in FUNCTION_WORDS),
            *(text.count(mark) / len(text) for mark in MARKS),
            *shapes,
            *lengths,
        ]
    )


def standardise(features: np.ndarray) -> np.ndarray:
    """Return ``features`` [n, d] with mean 0 and standard deviation 1 a column; constant columns become 0."""
    deviation = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
