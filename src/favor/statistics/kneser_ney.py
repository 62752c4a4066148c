"""Many Kneser-Ney n-gram models over one collection of sentences, and what they say of other sentences.

The probabilities are those of the package ``lambdag`` (Nini, Halvani, Graner, Gherardi and Ishihara 2025), which keeps
its counts in dictionaries. Here every n-gram of the collection has a number, so that a model is an array of counts and
the models of all authors read a text at once. ``tests/statistics/test_kneser_ney.py`` holds both against each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

START, END, UNSEEN = 0, 1, -1
_FIRST = 2  # number of the first token of the collection


@dataclass(frozen=True)
class Reading:
    """Sentences in the numbers of a collection. ``sentence`` [n]: the sentence that each scored token belongs to.

    ``grams[k]`` [n]: number of the k-gram that ends at each scored token (a sentence's end is one);
    ``contexts[k]`` [n]: that of the k-gram before it. ``UNSEEN`` where the collection has none.
    """

    sentence: np.ndarray
    grams: list[np.ndarray]
    contexts: list[np.ndarray]


@dataclass(frozen=True)
class GrammarModel:
    """Counts of one model by order: of n-grams, and of the distinct words on their left, right and both sides."""

    count: list[np.ndarray]
    left: list[np.ndarray]
    right: list[np.ndarray]
    both: list[np.ndarray]
    types: int


class Sentences:
    """A collection of sentences that models are fitted on; sentences are sequences of tokens."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int) -> None:
        """Number the n-grams of ``sentences`` up to ``order`` (2 or more) words."""
        if order < 2:
            raise ValueError(f"order {order} leaves no context; it is 2 or more")
        self.order = order
        self._tokens: dict[str, int] = {}
        for sentence in sentences:
            for token in sentence:
                self._tokens.setdefault(token, len(self._tokens) + _FIRST)
        self._base = len(self._tokens) + _FIRST
        flat, self._sentence, self._scored = self._padded(sentences)
        self._number = len(sentences)
        ids = flat.astype(np.int64)
        self._grams = [np.zeros(len(flat), dtype=np.int64), ids]  # of length 0: one, everywhere
        self._prefix = [np.zeros(1, dtype=np.int64), np.zeros(self._base, dtype=np.int64)]
        self._suffix = [np.zeros(1, dtype=np.int64), np.zeros(self._base, dtype=np.int64)]
        self._keys: list[np.ndarray] = [np.zeros(0, dtype=np.int64), np.arange(self._base)]
        for length in range(2, order + 1):
            before = np.concatenate([[0], self._grams[length - 1][:-1]])
            keys, first, ids = np.unique(before * self._base + flat, return_index=True, return_inverse=True)
            self._keys.append(keys)
            self._prefix.append(before[first])
            self._suffix.append(self._grams[length - 1][first])
            self._grams.append(ids)

    def fit(self, chosen: Sequence[int] | np.ndarray) -> GrammarModel:
        """Return the model of the sentences numbered ``chosen``, each of them once."""
        wanted = np.zeros(self._number, dtype=bool)
        wanted[np.asarray(chosen, dtype=np.int64)] = True
        places = np.flatnonzero(self._scored & wanted[self._sentence])
        count = [np.zeros(0)] + [
            np.bincount(self._grams[length][places], minlength=len(self._prefix[length]))
            for length in range(1, self.order + 1)
        ]
        # What was seen does not end in the start of a sentence; as contexts such starts are counted below.
        seen = [np.zeros(0, dtype=np.int64)] + [np.flatnonzero(own) for own in count[1:]]
        size = [len(own) for own in self._prefix]
        left: list[np.ndarray] = [np.zeros(1)]
        right, both = [], []
        for length in range(self.order):
            longer = seen[length + 1]
            right.append(np.bincount(self._prefix[length + 1][longer], minlength=size[length]))
            if length:
                left.append(np.bincount(self._suffix[length + 1][longer], minlength=size[length]))
            if length + 2 <= self.order:
                around = self._prefix[length + 1][self._suffix[length + 2][seen[length + 2]]]
                both.append(np.bincount(around, minlength=size[length]))
        for length in range(1, self.order):
            count[length][self._grams[length][self.order - 2]] = int(wanted.sum())
        return GrammarModel(count, left, right, both, int(right[0][0]) + 1)

    def read(self, sentences: Sequence[Sequence[str]]) -> Reading:
        """Return ``sentences`` in the collection's numbers; a token that it does not have is unseen."""
        flat, sentence, scored = self._padded(sentences)
        places = np.flatnonzero(scored)
        grams = [np.zeros(len(flat), dtype=np.int64), flat]
        for length in range(2, self.order + 1):
            before = np.concatenate([[UNSEEN], grams[-1][:-1]])
            found = np.full(len(flat), UNSEEN)
            known = np.flatnonzero((before != UNSEEN) & (flat != UNSEEN))
            keys = before[known] * self._base + flat[known]
            at = np.minimum(np.searchsorted(self._keys[length], keys), len(self._keys[length]) - 1)
            found[known] = np.where(self._keys[length][at] == keys, at, UNSEEN)
            grams.append(found)
        return Reading(sentence[places], [own[places] for own in grams], [own[places - 1] for own in grams])

    def log_probabilities(self, model: GrammarModel, reading: Reading, discount: float = 0.75) -> np.ndarray:
        """Return log10 P(token | the order - 1 tokens before it) of every scored token of ``reading`` [n].

        With D the discount, N1+ the number of distinct words in the place of a dot, and V the vocabulary with one
        unknown word, P(w | h) = [max(0, c(h w) - D) + D N1+(h .) P'(w | h')] / c(h), where h' is h without its first
        word, P'(w | h) = [max(0, N1+(. h w) - D) + D N1+(h .) P'(w | h')] / N1+(. h .), and P'(w | nothing) takes
        1 / V for P'(w | h'). A context that the model never saw gives way to h'.
        """

        def looked_up(table: np.ndarray, numbers: np.ndarray) -> np.ndarray:
            return np.where(numbers == UNSEEN, 0, table[np.maximum(numbers, 0)])

        word = looked_up(model.left[1], reading.grams[1])
        found = np.maximum(0.0, word - discount) + discount * model.right[0][0] / model.types
        found /= model.both[0][0]
        places = np.arange(len(found))
        for length in range(1, self.order):
            numbers = reading.contexts[length][places]
            held = (numbers != UNSEEN) & (looked_up(model.count[length], numbers) > 0)
            places, context = places[held], numbers[held]
            if not len(places):
                break
            last = length == self.order - 1
            above = looked_up((model.count if last else model.left)[length + 1], reading.grams[length + 1][places])
            below = (model.count if last else model.both)[length][context]
            shared = discount * model.right[length][context] * found[places]
            found[places] = (np.maximum(0.0, above - discount) + shared) / below
        return np.log10(found)

    def _padded(self, sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the padded tokens' numbers, the sentence of each, and whether a probability is asked of it."""
        padding = self.order - 1
        lengths = np.array([len(sentence) + padding + 1 for sentence in sentences], dtype=np.int64)
        owner = np.repeat(np.arange(len(sentences)), lengths)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        flat = np.full(len(owner), START, dtype=np.int64)
        scored = place >= padding
        flat[scored] = [
            number
            for sentence in sentences
            for number in (*(self._tokens.get(token, UNSEEN) for token in sentence), END)
        ]
        return flat, owner, scored
