"""Posts that are near duplicates: reposts with small edits, quizzes filled in by many, news passed on.

Candidates share a band of their MinHash signatures (by the library ``rensa``), and every pair of them is compared
exactly, so the signatures decide what is missed and never what is found.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from rensa import RMinHash  # type: ignore[import-untyped]
from scipy.sparse import csr_array

from favor.corpora.documents import stream_documents
from favor.corpora.schemas import NEAR_DUPLICATES
from favor.foundation.seeds import derive_seed
from favor.foundation.words import compared_words
from favor.running.jobs.progress import Progress

SHINGLE = 5  # words; a shorter post is one shingle
PERMUTATIONS = 128
# A pair as similar as the threshold is missed with at most this probability.
MISSED = 0.001
SIMILAR = 0.7  # of all shingles of two texts that are near duplicates, where no configuration says it
CONTAINED = 0.9  # of a text's shingles that a longer one has, of which it is an excerpt
# A post's copies are looked at up to this many: one more changes nothing about it.
MOST_COPIES = 200


def shingles(text: str) -> list[str]:
    """Return the runs of ``SHINGLE`` words of ``text``, in order; a text without a word is one shingle."""
    words = compared_words(text)
    if not words:
        return [text]
    runs = zip(*(words[start:] for start in range(SHINGLE)), strict=False)
    return list(map(" ".join, runs)) or [" ".join(words)]


def bands(threshold: float) -> int:
    """Return the number of bands that ``PERMUTATIONS`` are cut into: the fewest that miss no more than ``MISSED``."""
    numbers = (2**power for power in range(8))
    return next(
        (number for number in numbers if (1 - threshold ** (PERMUTATIONS // number)) ** number <= MISSED), PERMUTATIONS
    )


def find_near_duplicates(
    documents: Path, splits: pd.DataFrame, threshold: float, seed: int, progress: Progress | None = None
) -> pd.DataFrame:
    """Return the ``near_duplicates`` table: the posts of the table ``documents`` that have a near duplicate in it.

    Two posts are near duplicates where the Jaccard similarity of their sets of shingles is at least ``threshold``
    (above 0, at most 1). ``splits``: the table of that name. ``seed`` draws the permutations.
    """
    seed = derive_seed(seed, "near duplicates") % 2**32
    signatures = [np.zeros((0, PERMUTATIONS), dtype=np.uint32)]
    for batch in stream_documents(documents, ("text",), rows=1024):
        grams = [shingles(text) for text in batch["text"]]
        drawn = RMinHash.digest_matrix_from_token_sets(grams, PERMUTATIONS, seed)
        signatures.append(np.array(drawn.to_rows(), dtype=np.uint32))
        if progress is not None:
            progress.update(len(grams))
    buckets = _buckets(np.concatenate(signatures), bands(threshold))
    del signatures
    rows = sorted(buckets)
    posts, sets = _flagged(documents, np.array(rows, dtype=np.int64))
    place_of = {row: place for place, row in enumerate(rows)}
    posts = posts.merge(splits[["document_id", "split"]], on="document_id", how="left").fillna({"split": ""})
    described = []
    for place, row in enumerate(rows):
        candidates = [place_of[other] for other in np.unique(np.concatenate(buckets[row])).tolist() if other != row]
        similar = ((other, _similarity(sets[place], sets[other])) for other in candidates)
        copies = list(islice(((other, value) for other, value in similar if value >= threshold), MOST_COPIES))
        if copies:
            own = posts.iloc[[other for other, _ in copies if posts["author"][other] == posts["author"][place]]]
            training = int((own["split"] == "train").sum())
            counts = (training, len(own) - training, len(copies) - len(own))
            names = posts.loc[place, ["author", "document_id", "split"]]
            described.append((*names, *counts, max(value for _, value in copies)))
    return pd.DataFrame(described, columns=NEAR_DUPLICATES.names).astype(NEAR_DUPLICATES.empty().dtypes.to_dict())


def copies_between(
    documents: Path, found: pd.DataFrame, role_of: Mapping[str, str], threshold: float
) -> Counter[tuple[str, str]]:
    """Return the number of pairs of near duplicates whose authors have different roles, by both roles, sorted.

    ``found``: the ``near_duplicates`` table that was made of ``documents`` at ``threshold``. ``role_of``: of authors.
    """
    wanted = set(found.loc[(found["others"] > 0) & found["author"].isin(list(role_of)), "document_id"])
    roles: list[str] = []
    rows: list[list[int]] = []
    for batch in stream_documents(documents, ("author", "document_id", "text")):
        own = batch[batch["document_id"].isin(wanted)]
        roles.extend(own["author"].map(role_of))
        rows.extend(RMinHash.hash_token_sets([shingles(text) for text in own["text"]]))
    pairs: Counter[tuple[str, str]] = Counter()
    if not rows:
        return pairs
    left, right, shared, sizes = _overlaps(rows)
    similar = shared >= threshold * (sizes[left] + sizes[right] - shared)
    for one, other in zip(left[similar].tolist(), right[similar].tolist(), strict=True):
        if roles[one] != roles[other]:
            first, second = sorted((roles[one], roles[other]))
            pairs[first, second] += 1
    return pairs


def repeats(texts: Sequence[str]) -> dict[int, int]:
    """Return which of ``texts`` repeat one that stays, both by place.

    A text repeats its near duplicate, and a longer one that has ``CONTAINED`` of its shingles. The longest stays, and
    of equal ones the first.
    """
    near, sizes = _near(texts, excerpts=True)
    found: dict[int, int] = {}
    stays: set[int] = set()
    for place in sorted(range(len(texts)), key=lambda place: (-sizes[place], place)):
        if kept := stays & near[place]:
            found[place] = min(kept)
        else:
            stays.add(place)
    return found


def without_copies(texts: Sequence[str], of: Sequence[str]) -> list[str]:
    """Return ``texts`` but those that are near duplicates of any text in ``of``."""
    near, _ = _near([*texts, *of], excerpts=False)
    others = set(range(len(texts), len(near)))
    return [text for text, own in zip(texts, near, strict=False) if not own & others]


def _near(texts: Sequence[str], excerpts: bool) -> tuple[list[set[int]], np.ndarray]:
    """Return the places of each text's near duplicates, of its excerpts too if asked for, and its shingles' number."""
    near: list[set[int]] = [set() for _ in texts]
    if not texts:
        return near, np.zeros(0)
    left, right, shared, sizes = _overlaps(RMinHash.hash_token_sets([shingles(text) for text in texts]))
    similar = shared >= SIMILAR * (sizes[left] + sizes[right] - shared)
    if excerpts:
        similar |= shared >= CONTAINED * np.minimum(sizes[left], sizes[right])
    for one, other in zip(left[similar].tolist(), right[similar].tolist(), strict=True):
        near[one].add(other)
        near[other].add(one)
    return near, sizes


def _overlaps(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs (left < right) of texts that share shingles, how many, and how many each text has.

    ``rows``: the hashed shingles of every text, one text at least.
    """
    sets = [np.unique(np.array(row, dtype=np.uint64)) for row in rows]
    sizes = np.array([len(own) for own in sets])
    columns = np.unique(np.concatenate(sets), return_inverse=True)[1]
    starts = np.r_[0, np.cumsum(sizes)]
    member = csr_array((np.ones(len(columns), dtype=np.int32), columns, starts))
    shared = (member @ member.T).tocoo()
    once = shared.row < shared.col
    return shared.row[once], shared.col[once], shared.data[once], sizes


def _buckets(signatures: np.ndarray, number: int) -> dict[int, list[np.ndarray]]:
    """Return, by row of ``signatures`` [n, PERMUTATIONS], the groups of two or more rows that are equal in a band."""
    found: dict[int, list[np.ndarray]] = {}
    for band in np.split(signatures, number, axis=1):
        order = np.lexsort(band.T)
        starts = np.flatnonzero(np.r_[True, (band[order[1:]] != band[order[:-1]]).any(axis=1), True])
        for start in np.flatnonzero(np.diff(starts) > 1).tolist():
            group = order[starts[start] : starts[start + 1]]
            for row in group.tolist():
                found.setdefault(row, []).append(group)
    return found


def _flagged(documents: Path, rows: np.ndarray) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """Return author and document_id of the posts in ``rows``, which ascend, and the sorted hashes of their shingles."""
    posts, start = [pd.DataFrame(columns=["author", "document_id"], dtype=str)], 0
    sets: list[np.ndarray] = []
    for batch in stream_documents(documents, ("author", "document_id", "text")):
        chosen = rows[(rows >= start) & (rows < start + len(batch))]
        own = batch.iloc[chosen - start]
        grams = [shingles(text) for text in own["text"]]
        posts.append(own[["author", "document_id"]])
        sets.extend(np.unique(np.array(hashes, dtype=np.uint64)) for hashes in RMinHash.hash_token_sets(grams))
        start += len(batch)
    return pd.concat(posts, ignore_index=True), sets


def _similarity(left: np.ndarray, right: np.ndarray) -> float:
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / (len(left) + len(right) - shared)
