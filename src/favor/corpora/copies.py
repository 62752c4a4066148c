"""Whether training has seen a text: runs of words that it shares with texts trained on."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from favor.foundation.words import compared_text

SHARED_WORDS = 10  # a text with a run of so many words of a training text is partly a copy of it
_FACTOR = 0x9E3779B97F4A7C15  # odd, so that the order of words counts


def word_runs(texts: Iterable[str]) -> np.ndarray:
    """Return 64-bit digests of every run of ``SHARED_WORDS`` words within a text, sorted, each once."""
    return np.unique(runs_in_order(*word_digests(texts))[0])


def word_digests(texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the digests of the words of all texts, uint64 [words], and the text of each, int64 [words].

    Words are those of :func:`favor.foundation.words.compared_words`.
    """
    found = pc.ascii_split_whitespace(pa.array(map(compared_text, texts), pa.large_string()))
    words, owner = pc.list_flatten(found), pc.list_parent_indices(found)
    solid = pc.not_equal(words, "")  # text may begin or end with a space, or be empty
    coded = words.filter(solid).dictionary_encode()
    digests = pd.util.hash_array(coded.dictionary.to_numpy(zero_copy_only=False), categorize=False)
    return digests[coded.indices], owner.filter(solid).to_numpy()


def runs_in_order(digests: np.ndarray, owner: np.ndarray, length: int = SHARED_WORDS) -> tuple[np.ndarray, np.ndarray]:
    """Return the digests of the runs of ``length`` words within a text, in their order, and where each begins.

    ``digests``, ``owner``: of :func:`word_digests`. Digests of runs are those of :func:`word_runs`.
    """
    runs = max(0, len(digests) - length + 1)
    powers = np.cumprod(np.full(length, _FACTOR, dtype=np.uint64))
    found = sum((digests[at : at + runs] * powers[at] for at in range(length)), np.zeros(runs, dtype=np.uint64))
    within = np.flatnonzero(owner[:runs] == owner[len(digests) - runs :])
    return found[within], within


def shares_a_run(text: str, known: np.ndarray) -> bool:
    """Return whether ``text`` has a run of words that is in ``known`` (:func:`word_runs`)."""
    runs = word_runs([text])
    places = np.minimum(np.searchsorted(known, runs), max(0, len(known) - 1))
    return bool(len(known)) and bool((known[places] == runs).any())
