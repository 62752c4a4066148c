"""From a source to the ``documents`` table: cleaned, without duplicates or shared authors, every dropped row counted.

Posts pass through once: cleaned text goes to a temporary file beside the output, and memory keeps 44 bytes per post
(author, place, words, digest). What to drop is decided on those, then the rows that stay are fetched in the table's
order. The full Blog Authorship Corpus (681,288 posts, 800 MB) needs 335 MB of memory.
"""

import os
import struct
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from favor.corpora.dates import NONE, date_of, day_of
from favor.corpora.documents import DocumentWriter, stream_documents, text_digest
from favor.corpora.others_words import KINDS, measure_others_words
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, Reader, ReaderSettings, clean_text
from favor.corpora.schemas import DROPPED, SCRIPTS
from favor.corpora.scripts import ScriptCounts, count_letters_and_words
from favor.corpora.settings import Cleaning
from favor.corpora.suspicions import Suspicions
from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.foundation.parquet import write_parquet
from favor.foundation.text import storable
from favor.foundation.words import document_words
from favor.running.jobs.progress import Progress

REASONS = ("kept", "empty", "too_short", "shared_author", "duplicate_same_author", "duplicate_other_author")
# Reasons that most corpora never meet, counted only where they are met, and what the log says of them.
RARE_REASONS = {
    "excluded_author": "their author is one of the corpus key 'excluded_authors'",
    "excluded_text": "their text is one of the corpus key 'excluded_texts'",
    "unreadable": "neither UTF-8 nor plausible text in the corpus key 'encoding'",
}

MINIMUM_WORDS = 1  # shorter posts are dropped
# Authors who share so many identical posts of at least so many words are one author, or none.
SHARED_POSTS, SHARED_POST_WORDS = 5, 50
BATCH_CHARACTERS = 2_000_000  # of posts whose words are counted at once
# What memory keeps of a post: "offset" is its place in the temporary file, "prompt" and "text" their bytes there.
_FIELDS = "author:i4 topic:i4 number:i8 words:i4 day:i4 offset:i8 prompt:i4 text:i4 digest:2u8"
_POST = np.dtype([(name, form) for name, _, form in (field.partition(":") for field in _FIELDS.split())])
_PACKING = struct.Struct("=iiqiiqii16s")


def build_documents(
    path: Path,
    reader: Reader,
    settings: Cleaning,
    out_documents: Path,
    out_dropped: Path,
    progress: Progress | None = None,
    reader_settings: ReaderSettings | None = None,
    out_scripts: Path | None = None,
    others_words: float | None = None,
) -> dict[str, int]:
    """Read ``path`` by ``reader``, write the tables ``documents`` and ``dropped``, return raw rows by reason.

    Reasons, in the order they are tried: an excluded author, a post that the reader cannot read, an excluded text,
    empty after cleaning, too short, an author who is another (dropped or merged), a text the author already has, a
    text another author has (the first in source order stays, so no two documents of the corpus are identical), and last
    a post of which more than the share ``others_words`` is somebody else's words, where that is not None. The first
    three are counted only where they are met; a line on standard error names the first row of each. A document's
    id is its author and its place among the author's raw rows. ``out_scripts``: where the table ``scripts``
    goes, if anywhere. Raises ``UserError`` for a broken source, a corpus whose letters are
    mostly of another kind than its words are made of, and one of which nothing remains.
    """
    source = reader_settings or ReaderSettings()
    with atomic_path(out_documents) as temporary, tempfile.TemporaryFile(dir=temporary.parent) as spill:
        index = _Index(
            _excluded(settings.excluded_authors, reader, "EXCLUDED_AUTHORS"),
            _excluded(settings.excluded_texts, reader, "EXCLUDED_TEXTS"),
            source.date_format,
        )
        for _ in index.fill(reader.read(path, source), settings, spill, path):
            if progress is not None:
                progress.update(1)
        if not sum(index.rows_of_author) + sum(index.dropped.values()):
            raise UserError(f"{path}: holds a header and no posts; give a corpus with posts")
        for reason, label in index.first.items():
            why = f"{index.dropped[reason]:,} posts are dropped, {RARE_REASONS[reason]}"
            print(f"{path}: {why}; the first is {label}", file=sys.stderr)
        if index.undated:
            print(
                f"{path}: {index.undated:,} posts have a date that is not read, so they count as posts without one; "
                f"the first is {index.first_undated}. Write them as 2004-05-14; where all dates have one form, the "
                "corpus key 'date_format' names it",
                file=sys.stderr,
            )
        for line in index.suspicions.lines(index.authors):
            print(f"{path}: {line}", file=sys.stderr)
        index.scripts.check(str(path), settings.words)
        posts = np.frombuffer(index.posts, _POST)
        kept, left = _drop(posts, index.rows_of_author, settings)
        counts = {**index.dropped, **left}
        if not counts["kept"]:
            listed = ", ".join(f"{reason} {rows:,}" for reason, rows in counts.items() if rows)
            raise UserError(f"{path}: no post is left after cleaning ({listed}); check the text column")
        _write(index, posts, kept, spill, temporary)
        if others_words is not None:
            counts = {**counts, **_drop_others_words(path, temporary, others_words)}
    write_parquet(pd.DataFrame({"reason": list(counts), "rows": list(counts.values())}), out_dropped, DROPPED)
    if out_scripts is not None:
        write_parquet(index.scripts.table(), out_scripts, SCRIPTS)
    return counts


def _drop_others_words(source: Path, documents: Path, most: float) -> dict[str, int]:
    """Rewrite ``documents`` without the posts that are others' words; return how many rows go, and how many stay."""
    found = measure_others_words(documents)
    beyond = found[found["share"] > most]
    kinds = ", ".join(f"{kind.replace('_', ' ')} {(beyond[kind] > most).sum():,}" for kind in KINDS)
    print(f"{source}: {len(beyond):,} posts are dropped for others' words; by one kind alone: {kinds}", file=sys.stderr)
    if len(beyond) == len(found):
        raise UserError(f"{source}: every post is others' words; raise the corpus key 'filters.others_words'")
    dropped = set(beyond["document_id"])
    kept = documents.with_name(f"{documents.name}.kept")
    writer = DocumentWriter(kept)
    for batch in stream_documents(documents, ("author", "document_id", "topic", "prompt", "text", "words", "date")):
        for row in batch.itertuples(index=False, name=None):
            if row[1] not in dropped:
                writer.write(row)
    writer.close()
    kept.replace(documents)
    return {"others_words": len(beyond), "kept": len(found) - len(beyond)}


def _excluded(given: Collection[str] | None, reader: Reader, declared: str) -> frozenset[str]:
    own: Collection[str] = getattr(reader, declared, ())
    return frozenset(" ".join(text.split()).casefold() for text in (own if given is None else given))


class _Cleaned(NamedTuple):
    """A post whose words are to be counted."""

    author: int
    number: int
    topic: str
    prompt: str
    text: str
    day: int


class _Index:
    """What memory keeps of every post that is not dropped on sight."""

    def __init__(
        self, excluded_authors: frozenset[str], excluded_texts: frozenset[str], date_format: str | None
    ) -> None:
        self._excluded_authors, self._excluded_texts = excluded_authors, excluded_texts
        self._date_format = date_format
        self.undated, self.first_undated = 0, ""  # posts with a date that is not read, and the first of them
        self._longest_excluded = max(map(len, excluded_texts), default=0)
        self.authors: dict[str, int] = {}
        self.topics: dict[str, int] = {}
        self.rows_of_author = array("q")
        self.posts = bytearray()  # of every post that is kept, the fields of _POST
        self._spilled = 0  # bytes
        self.dropped = {"empty": 0, "too_short": 0}
        self.scripts = ScriptCounts()
        self.suspicions = Suspicions()
        self.first: dict[str, str] = {}  # of every rare reason, the first row dropped for it

    def fill(self, posts: Iterator[RawPost], settings: Cleaning, spill: BinaryIO, path: Path) -> Iterator[None]:
        waiting: list[_Cleaned] = []
        characters = 0
        for post in posts:
            yield
            cleaned = self._clean(post, path)
            if cleaned is None:
                continue
            waiting.append(cleaned)
            characters += len(cleaned.text)
            if characters > BATCH_CHARACTERS:
                self._keep(waiting, settings, spill)
                waiting, characters = [], 0
        self._keep(waiting, settings, spill)
        spill.flush()

    def _clean(self, post: RawPost, path: Path) -> _Cleaned | None:
        """Return the post as far as it can be told without counting its words; None where it is dropped."""
        name = post.author.strip()
        if not name:
            raise UserError(f"{path}: {post.row_label}: the author is empty; fill it in or remove the row")
        if name.casefold() in self._excluded_authors:
            self._drop("excluded_author", post)
            return None
        if name != storable(name):
            raise UserError(
                f"{path}: {post.row_label}: the author {name!r} holds half of a surrogate pair, which is not a "
                "character; correct it or remove the row"
            )
        author = self.authors.setdefault(name, len(self.authors))
        if author == len(self.rows_of_author):
            self.rows_of_author.append(0)
        self.rows_of_author[author] += 1
        if post.unreadable:
            self._drop("unreadable", post)
            return None
        text = clean_text(post.text)
        if not text:
            self.dropped["empty"] += 1
            return None
        if len(text) <= self._longest_excluded and text.casefold() in self._excluded_texts:
            self._drop("excluded_text", post)
            return None
        self.suspicions.look(text, post.row_label, post.text)
        prompt = clean_text(post.prompt) if post.prompt else ""
        day = day_of(post.date, self._date_format)
        if day == NONE and post.date.strip():
            self.undated += 1
            self.first_undated = self.first_undated or post.row_label
        return _Cleaned(author, self.rows_of_author[author], post.topic, prompt, text, day)

    def _keep(self, posts: list[_Cleaned], settings: Cleaning, spill: BinaryIO) -> None:
        """Keep those of the posts that have enough words."""
        contents = [_encode(post.text) for post in posts]
        letters, words = count_letters_and_words(contents)
        if settings.words != "paper":
            words = [document_words(settings.words).count(post.text) for post in posts]
        for post, text, plain, count in zip(posts, contents, letters, words, strict=True):
            short = count < MINIMUM_WORDS
            self.scripts.add(post.text, plain, short)
            if short:
                self.dropped["too_short"] += 1
                continue
            prompt = _encode(post.prompt)
            name = storable(post.topic.strip()) or UNKNOWN_TOPIC
            topic = self.topics.setdefault(name, len(self.topics))
            places = (self._spilled, len(prompt), len(text), text_digest(text))
            self.posts += _PACKING.pack(post.author, topic, post.number, count, post.day, *places)
            self._spilled += spill.write(prompt + text)

    def _drop(self, reason: str, post: RawPost) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1
        self.first.setdefault(reason, post.row_label)


def _encode(text: str) -> bytes:
    # A lone surrogate (an escape of a JSONL file) has no UTF-8 form and would stop the Parquet writer.
    return text.encode("utf-8", "replace")


def _drop(posts: np.ndarray, rows_of_author: Sequence[int], settings: Cleaning) -> tuple[np.ndarray, dict[str, int]]:
    """Drop shared authors, or merge them in ``posts``, then drop duplicates; return which posts stay, and counts."""
    kept = np.ones(len(posts), dtype=bool)
    _settle_shared_authors(posts, kept, rows_of_author, settings)
    shared = int((~kept).sum())
    same = _drop_repeated(np.column_stack([posts["digest"], posts["author"].astype(np.uint64)]), kept)
    other = _drop_repeated(posts["digest"], kept)
    counts = {"shared_author": shared, "duplicate_same_author": same, "duplicate_other_author": other}
    return kept, {**counts, "kept": int(kept.sum())}


def _settle_shared_authors(
    posts: np.ndarray, kept: np.ndarray, rows_of_author: Sequence[int], settings: Cleaning
) -> None:
    author, words = posts["author"], posts["words"]
    long = words >= SHARED_POST_WORDS
    for group in shared_author_groups(author[long], posts["digest"][long], SHARED_POSTS):
        if settings.shared_authors == "merge":
            earlier = rows_of_author[group[0]]
            for other in group[1:]:  # numbered on from the rows of the accounts before it
                rows = author == other
                author[rows] = group[0]
                posts["number"][rows] += earlier
                earlier += rows_of_author[other]
            continue
        if settings.shared_authors == "keep_larger":
            volumes = [int(words[author == each].sum()) for each in group]
            group.pop(volumes.index(max(volumes)))  # the first in source order where two are equal
        kept &= ~np.isin(author, group)


def _drop_repeated(keys: np.ndarray, kept: np.ndarray) -> int:
    rows = np.flatnonzero(kept)
    order = rows[np.lexsort((rows, *keys[rows].T))]  # equal keys side by side, in source order
    repeated = order[1:][(keys[order[1:]] == keys[order[:-1]]).all(axis=1)]
    kept[repeated] = False
    return len(repeated)


def _write(index: _Index, posts: np.ndarray, kept: np.ndarray, spill: BinaryIO, path: Path) -> None:
    names, topics = list(index.authors), list(index.topics)
    rank = np.argsort(sorted(range(len(names)), key=names.__getitem__))  # place of every author in name order
    width = max(5, len(str(posts["number"].max())))  # one width, so that ids sort as their numbers do
    posts = posts[kept]
    writer = DocumentWriter(path)
    for post in posts[np.lexsort((posts["number"], rank[posts["author"]]))]:
        author, topic, number, words, day, offset, prompt, text, _ = post.item()
        content = os.pread(spill.fileno(), prompt + text, offset)
        row = (topics[topic], content[:prompt], content[prompt:], words, date_of(day))
        writer.write((names[author], f"{names[author]}-{number:0{width}d}", *row))
    writer.close()


# A text under more names than this is a chain letter: no sign that its senders are one author.
MOST_SHARERS = 200


def shared_author_groups(authors: np.ndarray, digests: np.ndarray, minimum_posts: int) -> list[list[int]]:
    """Return the groups of authors linked by at least ``minimum_posts`` distinct identical posts a pair.

    ``authors`` int [n] and ``digests`` uint64 [n, 2] describe the posts long enough to count. Groups are the
    connected components of such pairs, each sorted, in order of their first author.
    """
    rows = np.unique(np.column_stack([digests, authors.astype(np.uint64)]), axis=0)
    if not len(rows):
        return []
    starts = np.flatnonzero(np.r_[True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1)])
    pairs: Counter[tuple[int, int]] = Counter()
    for start, stop in zip(starts, np.r_[starts[1:], len(rows)], strict=True):
        if 2 <= stop - start <= MOST_SHARERS:
            pairs.update(combinations(rows[start:stop, 2].astype(int).tolist(), 2))
    linked = np.array([pair for pair, posts in pairs.items() if posts >= minimum_posts], dtype=np.int64)
    names, places = np.unique(linked, return_inverse=True)
    if not len(names):
        return []
    left, right = places.reshape(-1, 2).T
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(len(names), len(names)))
    count, labels = connected_components(graph, directed=False)
    return [names[labels == label].tolist() for label in range(count)]
