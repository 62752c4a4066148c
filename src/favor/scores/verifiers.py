"""Verifiers: how well texts fit the profile of every author, by grammar (LambdaG) or in an encoder's space."""

from collections.abc import Sequence

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.vectors import unit_rows
from favor.scores.author_profiles import Excerpt, Profiles
from favor.scores.content_masking import function_word_share, masked_sentences
from favor.scores.inputs import ScoreInputs
from favor.statistics.kneser_ney import GrammarModel, Sentences

LAMBDAG = "lambdag"
SMALLEST_SHARE = 0.25  # of function words; English prose has 0.4 to 0.6, other languages under 0.1


class LambdaG:
    """Nini, Halvani, Graner, Gherardi and Ishihara 2025, "Grammar as a behavioral biometric".

    The score of a text for an author is the sum over its tokens of log10 P(token | author's grammar model) minus the
    same by a model of other authors' sentences, its mean over ``references`` such models. Content words are masked.
    The models of others are shared: a draw parts the authors in halves, and the sentences of one half, drawn up to the
    size of a profile, are the reference for the authors of the other.
    """

    def __init__(self, profiles: Profiles, order: int, references: int, seed: int) -> None:
        posts = [[masked_sentences(text) for text in own] for own in profiles.texts]
        own = [[[token.form for token in sentence] for post in author for sentence in post] for author in posts]
        sentences = [sentence for author in own for sentence in author]
        self.function_words = function_word_share(sentences)
        self._collection = Sentences(sentences, order)
        ends = np.cumsum([len(author) for author in own])
        places = [np.arange(end - len(author), end) for end, author in zip(ends, own, strict=True)]
        self._models = [self._collection.fit(chosen) for chosen in places]
        sizes = np.array([len(sentence) for sentence in sentences])
        wanted = int(np.median([sizes[chosen].sum() for chosen in places]))
        self._references: list[tuple[GrammarModel, np.ndarray]] = []
        for draw in range(references):
            generator = numpy_generator(seed, "LambdaG references", draw)
            authors = generator.permutation(len(own))
            halves = authors[: len(own) // 2], authors[len(own) // 2 :]
            for half, others in (halves, halves[::-1]):
                pool = generator.permutation(np.concatenate([places[author] for author in sorted(half)]))
                enough = int(np.searchsorted(np.cumsum(sizes[pool]), wanted)) + 1
                self._references.append((self._collection.fit(pool[:enough]), np.sort(others)))

    def scores(self, excerpts: Sequence[Excerpt], writer: int | None = None) -> np.ndarray:
        """Return the scores [texts, authors]. Copied tokens count nothing; NaN where no token is left.

        The end of a sentence counts with its last token. ``writer``: an author whose sentences are in no reference, as
        if nobody knew the author of these texts; NaN for authors of whom each reference has them.
        """
        parts = [(number, sentence) for number, each in enumerate(excerpts) for sentence in masked_sentences(each.text)]
        if not parts:
            return np.full((len(excerpts), len(self._models)), np.nan)
        counted = [[not excerpts[number].is_copied(token.start) for token in sentence] for number, sentence in parts]
        weights = np.array([count for own in counted for count in (*own, own[-1])], dtype=np.float64)
        reading = self._collection.read([[token.form for token in sentence] for _, sentence in parts])
        text = np.array([number for number, _ in parts])[reading.sentence]

        def total(model: GrammarModel) -> np.ndarray:
            logarithms = self._collection.log_probabilities(model, reading)
            return np.bincount(text, weights=weights * logarithms, minlength=len(excerpts))

        found = np.stack([total(model) for model in self._models], axis=1)
        references = [each for each in self._references if writer is None or writer in each[1]]
        draws = np.bincount(np.concatenate([authors for _, authors in references]), minlength=len(self._models))
        for model, authors in references:
            found[:, authors] -= total(model)[:, None] / draws[authors]
        found[:, draws == 0] = np.nan
        found[np.bincount(text, weights=weights, minlength=len(excerpts)) == 0] = np.nan
        return found


def centroids(inputs: ScoreInputs, encoder: str, profiles: Profiles) -> np.ndarray:
    """Return the unit mean of the unit vectors of every author's profile, [authors, d]."""
    table = inputs.source_embeddings[encoder]
    table = table[table["kind"] != "gold"]
    vectors = dict(zip(table["item"], table["embedding"], strict=True))
    for documents in profiles.documents:
        for document in documents:
            if document not in vectors:
                raise UserError(
                    f"embeddings of encoder '{encoder}': post {document} has none; delete their file and run again"
                )
    means = [
        unit_rows(np.stack([np.asarray(vectors[document], dtype=np.float64) for document in documents])).mean(axis=0)
        for documents in profiles.documents
    ]
    return unit_rows(np.stack(means))
