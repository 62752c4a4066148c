"""The verifiers of a voice: margins of passages for one author, by an encoder, by stylometry and by grammar."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from favor.encoders.base import TextEncoder
from favor.encoders.kinds.stylometry import fit_stylometry
from favor.encoders.settings import Stylometry
from favor.foundation.vectors import unit_rows
from favor.running.jobs.progress import Progress
from favor.scores.author_profiles import Excerpt, Profiles
from favor.scores.prototypes import margins
from favor.scores.verifiers import SMALLEST_SHARE, LambdaG
from favor.voice.texts import WORDS

ORDER, REFERENCES = 10, 10  # of LambdaG, as in the workflow's author profiles
AUTHOR = 0  # place of the author whose voice is measured


class Remembered(TextEncoder):
    """An encoder that reads each text once."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder, self.dimension = encoder, encoder.dimension
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :class:`favor.encoders.base.TextEncoder`."""
        new = sorted(set(texts) - self._known.keys())
        if new:
            self._known |= dict(zip(new, self._encoder.encode(new, progress), strict=True))
            self.unread = self._encoder.unread
        return np.stack([self._known[text] for text in texts])


class ByEncoder:
    """Cosine to the author's prototype minus the mean cosine to the others', as the workflow's ``author_margin``.

    A prototype is the unit mean of the unit vectors of an author's texts.
    """

    def __init__(self, encoder: TextEncoder, profiles: Sequence[Sequence[str]]) -> None:
        self._encoder = Remembered(encoder)
        self._prototypes = unit_rows(np.stack([self._vectors(own).mean(axis=0) for own in profiles]))

    def similarity(self, passages: Sequence[str]) -> np.ndarray:
        """Return the cosine of every passage to every prototype, [n, authors]."""
        found: np.ndarray = self._vectors(passages) @ self._prototypes.T
        return found

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        return unit_rows(self._encoder.encode(texts).astype(np.float64))

    def margins(self, passages: Sequence[str], writer: int = AUTHOR) -> np.ndarray:
        """A contrast author's own prototype is left out of the others, so that the floor is that of a stranger."""
        similarity = self.similarity(passages)
        others = np.delete(similarity, writer, axis=1) if writer != AUTHOR else similarity
        return margins(others, np.full(len(passages), AUTHOR))


class ByGrammar:
    """LambdaG's score per word, log10 (:class:`favor.scores.verifiers.LambdaG`)."""

    def __init__(self, profiles: Sequence[Sequence[str]], seed: int) -> None:
        words = np.array([sum(map(WORDS.count, own)) for own in profiles])
        texts = [list(own) for own in profiles]
        self._lambdag = LambdaG(Profiles([], texts, words, np.zeros_like(words)), ORDER, REFERENCES, seed)

    @property
    def reads(self) -> bool:
        """Whether enough of the authors' words are on the English list of function words."""
        return self._lambdag.function_words >= SMALLEST_SHARE

    def margins(self, passages: Sequence[str], writer: int = AUTHOR) -> np.ndarray:
        """A contrast author's own sentences are in no reference, so that the floor is that of a stranger."""
        texts = [Excerpt(text, [], 0.0) for text in passages]
        scores = self._lambdag.scores(texts, None if writer == AUTHOR else writer)[:, AUTHOR]
        if np.isnan(scores).all():  # no draw has both in one half, which is 1 in 1,000
            scores = self._lambdag.scores(texts)[:, AUTHOR]
        found: np.ndarray = scores / np.array([WORDS.count(text) for text in passages])
        return found


# Each has ``margins``: of every passage [n], by ``writer``, the place of who wrote them, if a known author did.
Verifier = ByEncoder | ByGrammar


def make_verifiers(encoder: TextEncoder, profiles: Sequence[Sequence[str]], seed: int) -> Mapping[str, Verifier]:
    """Return the verifiers that read these profiles, the author's first: ``encoder``, stylometry and grammar."""
    with TemporaryDirectory() as folder:
        stylometry = fit_stylometry([text for own in profiles for text in own], Stylometry(), Path(folder))
    found = {"encoder": ByEncoder(encoder, profiles), "stylometry": ByEncoder(stylometry, profiles)}
    grammar = ByGrammar(profiles, seed)
    return {**found, "grammar": grammar} if grammar.reads else found
