"""Whether training has seen a text: runs of words that it shares with texts trained on."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from favor.foundation.words import compared_words

SHARED_WORDS = 10  # a text with a run of so many words of a training text is partly a copy of it
_FACTOR = 0x9E3779B97F4A7C15  # odd, so that the order of words counts


def word_runs(texts: Iterable[str]) -> np.ndarray:
    """Return 64-bit digests of every run of ``SHARED_WORDS`` words within a text, sorted, each once."""
    words = [compared_words(text) for text in texts]
    digests = pd.util.hash_array(np.array([word for own in words for word in own], dtype=object))
    if len(digests) < SHARED_WORDS:
        return np.zeros(0, dtype=np.uint64)
    powers = np.cumprod(np.full(SHARED_WORDS, _FACTOR, dtype=np.uint64))
    runs = sum(digests[at : len(digests) - SHARED_WORDS + 1 + at] * powers[at] for at in range(SHARED_WORDS))
    owner = np.repeat(np.arange(len(words)), [len(own) for own in words])
    return np.unique(np.asarray(runs)[owner[: len(runs)] == owner[SHARED_WORDS - 1 :]])


def word_digests(texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Return the digests of the words of every text: uint64 [words] each.

    ``texts``: their words, as :func:`favor.foundation.words.compared_words` returns them.
    """
    digests = pd.util.hash_array(np.array([word for words in texts for word in words], dtype=object))
    return np.split(digests, np.cumsum([len(words) for words in texts])[:-1])


def runs_in_order(digests: np.ndarray, length: int = SHARED_WORDS) -> np.ndarray:
    """Return the digests of the runs of ``length`` words of one text in their order: uint64 [runs].

    ``digests``: those of its words (:func:`word_digests`). Digests of runs are those of :func:`word_runs`.
    """
    runs = max(0, len(digests) - length + 1)
    powers = np.cumprod(np.full(length, _FACTOR, dtype=np.uint64))
    return sum((digests[at : at + runs] * powers[at] for at in range(length)), np.zeros(runs, dtype=np.uint64))


def shares_a_run(text: str, known: np.ndarray) -> bool:
    """Return whether ``text`` has a run of words that is in ``known`` (:func:`word_runs`)."""
    runs = word_runs([text])
    places = np.minimum(np.searchsorted(known, runs), max(0, len(known) - 1))
    return bool(len(known)) and bool((known[places] == runs).any())
