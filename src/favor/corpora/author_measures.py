"""What a careful reader asks of an author before taking the posts for one person's prose in one language.

Measured of every author who is large enough for a role, and reported; an author is left out only for a measure that the
configuration bounds (the paper names no such filter).
"""

import operator
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from favor.corpora.documents import stream_documents
from favor.corpora.schemas import AUTHOR_MEASURES
from favor.corpora.settings import AuthorFilters
from favor.corpora.style_features import style_features
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.running.jobs.progress import Progress

# Posts per author whose language is identified, and characters of each: a share is right to about a tenth.
IDENTIFIED_POSTS = 30
IDENTIFIED_CHARACTERS = 500
# Shorter posts are mostly identified wrongly.
IDENTIFIED_WORDS = 30

# Style is compared between pieces of so many words, of authors with that many pieces, up to the second number.
PIECE_WORDS = 1500
PIECES = (6, 20)
SMALLEST_CLUSTER = 3
# Over it are nine in ten mixtures of two authors' text, and one in twenty single authors (docs/corpora.md).
STYLE_CHANGE = 0.14
# By the key of its filter: a measure, and what is beyond its limit.
LIMITS = {
    "minimum_characters_per_token": ("characters_per_token", operator.lt),
    "maximum_quoted_mail": ("quoted_mail", operator.gt),
    "maximum_near_duplicates": ("near_duplicates", operator.gt),
}

_ORIGINAL_MESSAGE = re.compile(r"-{2,} ?(?:original|forwarded) message ?-{2,}", re.IGNORECASE)
_QUOTED_LINES = re.compile(r"(?:^|\n)> ?\S[^\n]*\n> ?\S")
_HEADERS = ("From", "To", "Sent", "Date", "Subject", "Cc")
_HEADER = re.compile(rf"(?<!\w)({'|'.join(_HEADERS)}): ?\S")


def quotes_mail(text: str) -> bool:
    """Whether ``text`` holds quoted or forwarded mail: its separator, three kinds of header, or two marked lines."""
    # The plain searches take a hundredth of the patterns' time, and few texts pass them.
    if ("--" in text and _ORIGINAL_MESSAGE.search(text)) or ("\n>" in text and _QUOTED_LINES.search(text)):
        return True
    return sum(f"{name}:" in text for name in _HEADERS) >= 3 and len(set(_HEADER.findall(text))) >= 3


def measure_authors(
    documents: Path,
    splits: pd.DataFrame,
    authors: pd.DataFrame,
    near_duplicates: pd.DataFrame,
    minimum_tokens: int,
    seed: int,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return the ``author_measures`` table of the authors in ``splits`` with at least ``minimum_tokens``.

    ``authors``, ``near_duplicates``, ``splits``: tables of those names, the second empty where none were looked for.
    ``seed`` draws the posts whose language is identified.
    """
    large = authors[(authors["tokens"] >= minimum_tokens) & authors["author"].isin(splits["author"].unique())]
    copies = Counter(near_duplicates["author"])
    of_large = stream_documents(documents, ("author", "document_id", "words"), authors=large["author"])
    chosen = _posts_to_identify(pd.concat(of_large), seed)
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    characters: Counter[str] = Counter()
    mail: Counter[str] = Counter()
    pieces = {author: _Pieces() for author in large["author"]}
    languages: dict[str, Counter[str]] = {author: Counter() for author in large["author"]}
    columns = ("author", "document_id", "text", "words")
    for batch in stream_documents(documents, columns, 1024, large["author"]):
        for author, document, text, words in batch.itertuples(index=False, name=None):
            characters[author] += len(text)
            mail[author] += quotes_mail(text)
            pieces[author].add(text, words)
            if document in chosen:
                languages[author][identifier.classify(text[:IDENTIFIED_CHARACTERS])[0]] += 1
        if progress is not None:
            progress.update(len(batch))
    changes = _style_changes({author: own.features for author, own in pieces.items()}, seed)
    rows = []
    for author, posts, tokens in large[["author", "documents", "tokens"]].itertuples(index=False, name=None):
        counts = languages[author]
        language = max(sorted(counts), key=counts.__getitem__, default="")
        share = counts[language] / max(counts.total(), 1)
        rates = (characters[author] / max(tokens, 1), mail[author] / posts, copies[author] / posts)
        rows.append((author, language, share, *rates, changes[author]))
    return pd.DataFrame(rows, columns=AUTHOR_MEASURES.names).astype(AUTHOR_MEASURES.empty().dtypes.to_dict())


class _Pieces:
    """The style features of an author's first pieces, as the posts come in."""

    def __init__(self) -> None:
        self.features: list[np.ndarray] = []
        self._texts: list[str] = []
        self._words = 0

    def add(self, text: str, words: int) -> None:
        if len(self.features) == PIECES[1]:
            return
        self._texts.append(text)
        self._words += words
        if self._words >= PIECE_WORDS:
            self.features.append(style_features("\n".join(self._texts)))
            self._texts, self._words = [], 0


def _style_changes(features: Mapping[str, list[np.ndarray]], seed: int) -> dict[str, float]:
    """Return how far each author's pieces fall into two styles: the silhouette of two clusters of them.

    Features are measured in standard deviations within an author, over all of them. NaN for too few pieces, -1 where
    a cluster would be smaller than three pieces.
    """
    changes = dict.fromkeys(features, float("nan"))
    long = {author: np.stack(own) for author, own in features.items() if len(own) >= PIECES[0]}
    if not long:
        return changes
    deviation = np.sqrt(np.mean([own.var(axis=0) for own in long.values()], axis=0))
    for author, own in long.items():
        scaled = np.clip((own - own.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), -4, 4)
        kmeans = KMeans(n_clusters=2, n_init=5, random_state=derive_seed(seed, "style change", author) % 2**32)
        with threadpool_limits(1):
            labels = kmeans.fit_predict(scaled)
        whole = np.bincount(labels, minlength=2).min() >= SMALLEST_CLUSTER
        changes[author] = float(silhouette_score(scaled, labels)) if whole else -1.0
    return changes


def _posts_to_identify(posts: pd.DataFrame, seed: int) -> set[str]:
    chosen: set[str] = set()
    for author, own in posts.groupby("author"):
        long = own[own["words"] >= IDENTIFIED_WORDS]
        candidates = (long if len(long) else own)["document_id"].to_numpy()
        order = numpy_generator(seed, "identified posts", str(author)).permutation(len(candidates))
        chosen.update(candidates[order[:IDENTIFIED_POSTS]])
    return chosen


def failing(measures: pd.DataFrame, filters: AuthorFilters) -> dict[str, pd.Series]:
    """Return, by the filters of the configuration that are set, which rows of ``measures`` fail it.

    Raises ``UserError`` for a language that the identifier does not know.
    """
    found: dict[str, pd.Series] = {}
    if filters.languages:
        known = LanguageIdentifier.from_model_file(MODEL_FILE).labels
        unknown = [code for code in filters.languages if code not in known]
        if unknown:
            raise UserError(
                f"corpus key 'filters.languages': '{unknown[0]}' is not a language that can be identified; use ISO 639 "
                "codes such as en, de, zh"
            )
        other = ~measures["language"].isin(filters.languages)
        found["languages"] = other | (measures["language_share"] < filters.language_share)
    for name, (column, beyond) in LIMITS.items():
        if (limit := getattr(filters, name)) is not None:
            found[name] = beyond(measures[column], limit)
    return found
