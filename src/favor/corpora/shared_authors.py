"""Authors who are one author: accounts that share several long identical posts."""

from collections import Counter
from itertools import combinations

import numpy as np

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
    return _components([pair for pair, posts in pairs.items() if posts >= minimum_posts])


def _components(pairs: list[tuple[int, int]]) -> list[list[int]]:
    parent: dict[int, int] = {}

    def root(author: int) -> int:
        while parent.setdefault(author, author) != author:
            author = parent[author]
        return author

    for left, right in pairs:
        first, second = sorted((root(left), root(right)))
        parent[second] = first
    groups: dict[int, list[int]] = {}
    for author in sorted(parent):
        groups.setdefault(root(author), []).append(author)
    return [groups[author] for author in sorted(groups)]
