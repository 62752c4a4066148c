"""STEL and STEL-or-Content: does an encoder put sentences of one style together, and does style go before content?

An item of STEL (Wegmann and Nguyen 2021) is two anchors A1 and A2, which say the same in two styles, and two sentences
S1 and S2, which say something else in these styles. With s the cosine, the order S1-S2 is chosen where

    (1 - s(A1, S1))^2 + (1 - s(A2, S2))^2 < (1 - s(A1, S2))^2 + (1 - s(A2, S1))^2.

STEL-or-Content (Wegmann, Schraagen and Nguyen 2022) lets style compete with content: of the sentence in A1's style and
A2, which has A1's content, the one nearer to A1 is chosen. An encoder of content alone always takes A2 and scores 0.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from favor.foundation.vectors import unit_rows

ITEMS = Path(__file__).parent / "stel_items" / "items.jsonl"
# Between the sides of a comparison: other texts of a batch change the last digits of float32 vectors.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Item:
    """One task. ``correct`` is 1 where S1 has the style of A1, and 2 where S2 has."""

    dimension: str
    name: str
    anchors: tuple[str, str]
    sentences: tuple[str, str]
    correct: int


def read_items(limit: int | None = None) -> list[Item]:
    """Return the items that ship with the project (``stel_items/README.md``), in the order of their file.

    ``limit``: of each dimension the first so many.
    """
    # One line per item: the texts hold line separators of their own, which splitlines() would cut at.
    rows = [json.loads(line) for line in ITEMS.read_text(encoding="utf-8").split("\n") if line]
    seen: Counter[str] = Counter()
    items = []
    for row in rows:
        if limit is None or seen[row["dimension"]] < limit:
            seen[row["dimension"]] += 1
            pairs = tuple(row["anchors"]), tuple(row["alternatives"])
            items.append(Item(row["dimension"], row["item"], *pairs, row["correct"]))
    return items


def choices(similarity: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
    """Return the order that STEL chooses: 1 (S1-S2), 2 (S2-S1), 0 where its two sides are equal within ``tolerance``.

    ``similarity`` [n, 2, 2]: s(A_i, S_j) of every item.
    """
    distance = (1.0 - similarity) ** 2
    straight = distance[:, 0, 0] + distance[:, 1, 1]
    crossed = distance[:, 0, 1] + distance[:, 1, 0]
    return _smaller(straight, crossed, tolerance)


def content_choices(style: np.ndarray, content: np.ndarray) -> np.ndarray:
    """Return what STEL-or-Content chooses: 1 (the sentence of A1's style), 2 (A2, of its content), 0 for a tie.

    ``style`` and ``content`` [n]: s(A1, S) with S the sentence of A1's style, and s(A1, A2).
    """
    return _smaller(-style, -content)


def credit(choice: np.ndarray, correct: np.ndarray | int) -> np.ndarray:
    """Return 1 for a right choice, 0 for a wrong one and 1/2, what guessing has, for a tie."""
    earned: np.ndarray = np.where(choice == 0, 0.5, (choice == correct).astype(np.float64))
    return earned


def certify(encode: Callable[[Sequence[str]], np.ndarray], items: Sequence[Item]) -> pd.DataFrame:
    """Return the table ``certificate`` of an encoder; ``encode`` is :meth:`TextEncoder.encode`, called once.

    Cosines of two zero vectors are 1 and those of one are 0, as the published code has it.
    """
    texts = list(dict.fromkeys(text for item in items for text in (*item.anchors, *item.sentences)))
    place = {text: number for number, text in enumerate(texts)}
    vectors = unit_rows(encode(texts).astype(np.float64))
    anchors, sentences = (
        vectors[[[place[text] for text in pair] for pair in pairs]]
        for pairs in ([item.anchors for item in items], [item.sentences for item in items])
    )
    correct = np.array([item.correct for item in items])
    order = np.arange(len(items))
    same_style = _cosine(anchors[:, 0], sentences[order, correct - 1])
    return pd.DataFrame(
        {
            "dimension": [item.dimension for item in items],
            "item": [item.name for item in items],
            "stel": credit(choices(_cosine(anchors[:, :, None], sentences[:, None])), correct),
            "stel_or_content": credit(content_choices(same_style, _cosine(anchors[:, 0], anchors[:, 1])), 1),
        }
    )


def _cosine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cosines of unit rows along the last axis, zero rows as in :func:`certify`."""
    nothing = ~left.any(axis=-1) & ~right.any(axis=-1)
    found: np.ndarray = np.where(nothing, 1.0, (left * right).sum(axis=-1))
    return found


def _smaller(first: np.ndarray, second: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
    difference = second - first
    found: np.ndarray = np.where(np.abs(difference) <= tolerance, 0, np.where(difference > 0, 1, 2))
    return found
