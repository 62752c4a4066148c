"""How much of a post is somebody else's words: quoted lines, quotations, songs, quizzes, news, passages of others.

Each kind marks spans of the text by a pattern that needs no language model, so each has misses and false alarms: an
author's own long dialogue in quotation marks is a quotation, and a short verse without a label is nobody's. The share
of a post is that of its characters, white space aside, that lie in any span. The paper looks for none of this.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from favor.corpora.copies import SHARED_WORDS, runs_in_order, word_digests
from favor.corpora.documents import stream_documents
from favor.foundation.words import compared_spans

KINDS = ("quoted_lines", "quotation", "song", "quiz", "news", "others_passage")
MOSTLY = 0.5  # share from which a check says that a post is somebody else's words, where no filter is set
QUOTED_WORDS = 10  # a shorter quotation is speech in a story
REPEATED_WORDS = 5  # a run of so many words that a post repeats is a refrain
DISTINCT_WORDS = 3  # of a refrain: "ha ha ha ha ha" is none
QUIZ_ITEMS = 6
BETWEEN_LINES, BETWEEN_CHARACTERS = 4, 400  # at most between two items of one run
# Of the runs of ten words, the least in each window of so many is kept: a shared passage of 17 words is never missed.
WINDOW = 8

Span = tuple[int, int]

_MARKED_LINES = re.compile(r"^>.*$", re.MULTILINE)
# The same where line breaks were lost: from the first of three marks to the end.
_MARKED_RUN = re.compile(r"(?:^|(?<=\s))>\s?(?=[^\W\d_])")
_FORWARDED = re.compile(r"-{2,} ?(?:original|forwarded) message ?-{2,}", re.IGNORECASE)
_QUOTATIONS = (
    re.compile(r"“[^“”]+”"),
    re.compile(r"«[^«»]+»"),
    re.compile(r"„[^„“”]+[“”]"),
    # What precedes the mark stands behind it in the pattern, so that the search goes from mark to mark.
    re.compile(r'"(?<![^\s(\[]")(?=\S)[^"]+(?<=\S)"(?!\w)'),
)
_SONG_WORDS = ("chorus", "verse", "refrain", "bridge")
_SONG_LABEL = re.compile(
    r"[(\[]\s*(?:repeat\s+)?(?:chorus|verse|refrain|bridge)\b[^)\]\n]{0,12}[)\]]|\b(?:chorus|verse|refrain)\s*\d*\s*:",
    re.IGNORECASE,
)
# Signs of which every item has one: to count them takes a hundredth of a search. So with the words below.
_QUIZ = (
    ("?", re.compile(r"(?:^|\s)\d{1,3}\s?[.):]\s[^?\n]{3,120}\?")),  # 1. Have you ever ...?
    ("])", re.compile(r"(?:^|\s)[\[(]\s?[xX ]?\s?[\])]\s\w")),  # [x] or ( ) before an item
    (":", re.compile(r"^[^\n:]{2,40}:[ \t]*\S[^\n]{0,60}$", re.MULTILINE)),  # a form: one label and answer a line
)
_QUIZ_WORDS = ("quiz", " are you?")
_QUIZ_RESULT = re.compile(r"\bquizilla\b|\btake (?:the|this) quiz\b|\bwhich [^.?\n]{3,60} are you\?", re.IGNORECASE)
_NEWS_TAG = re.compile(r"\((?:AP|Reuters|AFP|UPI|CNN|Xinhua|BBC)\)\s*[-–—]", re.IGNORECASE)
_PLACE = re.compile(r"[^.!?\n]{0,60}\Z")  # of the news, before its agency
_NEWS_WORDS = ("associated press writer", "copyright")
_NEWS = re.compile(
    r"\bAssociated Press Writer\b|\bcopyright \d{4}[^.\n]{0,30}(?:Associated Press|Reuters|AFP)\b", re.IGNORECASE
)


def marked_spans(text: str, digests: np.ndarray) -> dict[str, list[Span]]:
    """Return the spans of ``text`` by kind, all kinds but "others_passage", which needs the other authors.

    ``digests``: those of its words (:func:`favor.corpora.copies.word_digests`); none where no run of
    ``REPEATED_WORDS`` words occurs twice.
    """
    plain = text.casefold()
    found: dict[str, list[Span]] = {
        "quoted_lines": [match.span() for match in _MARKED_LINES.finditer(text)],
        "quotation": [
            match.span()
            for pattern in _QUOTATIONS
            for match in pattern.finditer(text)
            if len(match[0].split()) >= QUOTED_WORDS
        ],
        "song": list(_refrains(text, digests)) if len(digests) else [],
        "quiz": [],
        "news": list(_news(text, plain)),
    }
    if "\n" not in text and text.count(">") >= 3:
        marks = [match.start() for match in _MARKED_RUN.finditer(text)]
        if len(marks) >= 3:
            found["quoted_lines"].append((marks[0], len(text)))
    if forwarded := _FORWARDED.search(text):
        found["quoted_lines"].append((forwarded.start(), len(text)))
    if _holds(plain, _SONG_WORDS) and _SONG_LABEL.search(text):
        found["song"] = [(0, len(text))]
    for signs, pattern in _QUIZ:
        if sum(map(text.count, signs)) < QUIZ_ITEMS:
            continue
        items = [match.span() for match in pattern.finditer(text)]
        if len(items) >= QUIZ_ITEMS:
            found["quiz"].extend(_quiz_runs(text, items))
    if _holds(plain, _QUIZ_WORDS) and (result := _QUIZ_RESULT.search(text)):
        found["quiz"].append(result.span())
    return found


def _holds(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def _news(text: str, plain: str) -> Iterator[Span]:
    """Yield from the first sign of an agency, with the place before it, to the end."""
    searched = [_NEWS.search(text)] if _holds(plain, _NEWS_WORDS) else []
    starts = [match.start() for match in searched if match]
    if tag := _NEWS_TAG.search(text):
        starts += [match.start() for match in [_PLACE.search(text, max(0, tag.start() - 60), tag.start())] if match]
    if starts:
        yield min(starts), len(text)


def _quiz_runs(text: str, items: Sequence[Span]) -> Iterator[Span]:
    """Yield runs of a quiz's items with what is between them: an answer, not the story between a head and a foot."""
    start, end = items[0]
    for following in items[1:]:
        between = text[end : following[0]]
        if between.count("\n") > BETWEEN_LINES or len(between) > BETWEEN_CHARACTERS:
            yield start, end
            start = following[0]
        end = following[1]
    yield start, end


def _refrains(text: str, digests: np.ndarray) -> Iterator[Span]:
    """Yield the spans of runs of ``REPEATED_WORDS`` words that occur again without overlap."""
    runs, at = runs_in_order(digests, np.zeros(len(digests)), REPEATED_WORDS)
    _, first, which = np.unique(runs, return_index=True, return_inverse=True)
    before = first[which]
    again = [
        place
        for place in np.flatnonzero(at >= before + REPEATED_WORDS).tolist()
        if len(set(digests[place : place + REPEATED_WORDS].tolist())) >= DISTINCT_WORDS
    ]
    starts = [*before[again].tolist(), *again] if again else []
    words = compared_spans(text, max(starts) + REPEATED_WORDS) if starts else []
    for start in starts:
        yield words[start][1], words[start + REPEATED_WORDS - 1][2]


def covered_share(text: str, spans: list[Span]) -> float:
    """Return the share of the characters of ``text``, white space aside, that lie in any of ``spans``."""
    inside, end = 0, 0
    for start, stop in sorted(spans):
        inside += _solid(text[max(start, end) : stop])
        end = max(end, stop)
    return inside / max(_solid(text), 1)


def _solid(text: str) -> int:
    return sum(map(len, text.split()))


def measure_others_words(documents: Path, authors: Collection[str] | None = None) -> pd.DataFrame:
    """Return author, document_id, the share of every kind and ``share``, that of their union, of every document.

    ``authors``: whose documents are read, and compared with one another; None reads all. "others_passage" are runs of
    ten words that a post of another author has too; passages of 17 words are all found, shorter ones mostly.
    """
    shared = _shared_runs(documents, authors)
    rows = []
    for batch in _of_authors(documents, authors):
        digests, owner = word_digests(batch["text"])
        bounds = np.searchsorted(owner, np.arange(len(batch) + 1))
        hits, repeats = _shared_places(digests, owner, shared), _repeating(digests, owner)
        for number, row in enumerate(batch.itertuples(index=False)):
            text, start, end = str(row.text), *bounds[number : number + 2]
            own = hits[slice(*np.searchsorted(hits, (start, end)))] - start
            spans = marked_spans(text, digests[start:end] if number in repeats else digests[:0])
            spans["others_passage"] = _passages(text, own)
            parts = [covered_share(text, spans[kind]) if spans[kind] else 0.0 for kind in KINDS]
            union = [span for kind in KINDS for span in spans[kind]]
            rows.append((row.author, row.document_id, *parts, covered_share(text, union) if union else 0.0))
    return pd.DataFrame(rows, columns=["author", "document_id", *KINDS, "share"])


def _of_authors(documents: Path, authors: Collection[str] | None) -> Iterator[pd.DataFrame]:
    batches = stream_documents(documents, ("author", "document_id", "text"), 1024, authors)
    return (batch for batch in batches if len(batch))


def _shared_runs(documents: Path, authors: Collection[str] | None) -> np.ndarray:
    """Return the digests of kept runs of ten words that posts of two authors or more have, sorted."""
    found, owners, names = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], Counter[str]()
    for batch in _of_authors(documents, authors):
        numbers = np.array([names.setdefault(author, len(names)) for author in batch["author"]])
        digests, owner = word_digests(batch["text"])
        runs, at = runs_in_order(digests, owner)
        kept, owner = _winnowed(runs, owner[at])
        found.append(kept)
        owners.append(numbers[owner])
    runs, owner = np.concatenate(found), np.concatenate(owners)
    order = np.lexsort((owner, runs))
    runs, owner = runs[order], owner[order]
    return np.unique(runs[1:][(runs[1:] == runs[:-1]) & (owner[1:] != owner[:-1])])


def _winnowed(runs: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least run of every ``WINDOW`` neighbours of one text, or of fewer where it has no more, and its text.

    (Winnowing: Schleimer, Wilkerson and Aiken 2003.) ``owner``: the text of each run. Neighbours with the same least
    run give it once.
    """
    texts, starts, counts = np.unique(owner, return_index=True, return_counts=True)
    few = counts < WINDOW
    shortest = np.minimum.reduceat(runs, starts)[few] if len(runs) else runs
    windows = max(0, len(runs) - WINDOW + 1)
    least = np.lib.stride_tricks.sliding_window_view(runs, WINDOW).min(axis=1) if windows else runs[:0]
    within = owner[:windows] == owner[len(runs) - windows :]
    least, owner = least[within], owner[:windows][within]
    new = np.append(True, (least[1:] != least[:-1]) | (owner[1:] != owner[:-1]))[: len(least)]
    return np.concatenate([shortest, least[new]]), np.concatenate([texts[few], owner[new]])


def _repeating(digests: np.ndarray, owner: np.ndarray) -> set[int]:
    """Return the texts in which a run of ``REPEATED_WORDS`` words occurs twice."""
    runs, at = runs_in_order(digests, owner, REPEATED_WORDS)
    texts = owner[at]
    order = np.argsort(runs, kind="stable")  # neighbours of equal runs are in the order of texts
    runs, texts = runs[order], texts[order]
    return set(texts[1:][(runs[1:] == runs[:-1]) & (texts[1:] == texts[:-1])].tolist())


def _shared_places(digests: np.ndarray, owner: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """Return the places of the words at which a run in ``shared`` begins."""
    runs, at = runs_in_order(digests, owner)
    if not len(shared):
        return at[:0]
    return at[shared[np.minimum(np.searchsorted(shared, runs), len(shared) - 1)] == runs]


def _passages(text: str, hits: np.ndarray) -> list[Span]:
    """Return the spans of passages; ``hits``: the words at which shared runs begin, of which near ones join."""
    if not len(hits):
        return []
    words = compared_spans(text, hits[-1] + SHARED_WORDS)
    groups = np.split(hits, np.flatnonzero(np.diff(hits) > SHARED_WORDS) + 1)
    return [(words[group[0]][1], words[group[-1] + SHARED_WORDS - 1][2]) for group in groups]
