"""Which client's adapter knows whose texts: gains of every adapter on every author's texts, a map per method."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLACK, DIVERGING, drawing, save, say
from favor.figures.identity import Methods
from favor.figures.specs import FigureSpec
from favor.scores.likelihood import EQUAL

COLUMNS = 4


def draw_likelihood_map(data: FigureData, *paths: str | Path) -> None:
    """Draw the ``scores`` of the family ``likelihood`` to each of ``paths``: g[i, j] of every row with adapters.

    Rows of a map are adapters, columns are authors, both by topic; the adapters' means over authors are taken off.
    """
    scores, methods = data.scores(), data.shown
    own = scores[scores["metric"] == "likelihood_gain"]
    order = _order(scores)
    names = [method for method in methods.rows if (own["method"] == method).any()]
    maps = {method: _matrix(own[own["method"] == method], [client for client, _ in order]) for method in names}
    # Rows of one model for all are equal: nothing tells the adapters apart.
    maps = {method: grid for method, grid in maps.items() if _differs(grid)}
    rows = max(1, -(-len(maps) // COLUMNS))
    columns = min(COLUMNS, max(1, len(maps)))
    with drawing(1.9 * columns + 1.3, 2.05 * rows + 0.6, rows, columns) as (figure, axes):
        numbers = []
        if not maps:
            say(axes[0], "No method has adapters that differ between clients.")
        limit = max((float(np.nanmax(np.abs(grid))) for grid in maps.values()), default=1.0)
        edges = _edges([topic for _, topic in order])
        image = None
        for axis, (method, grid) in zip(axes, maps.items(), strict=False):
            image = axis.imshow(grid, cmap=DIVERGING, vmin=-limit, vmax=limit)
            for edge in edges:
                axis.axhline(edge, color=BLACK, linewidth=0.5)
                axis.axvline(edge, color=BLACK, linewidth=0.5)
            axis.set_title(methods.name(method), size=8.5)
            axis.set(xticks=[], yticks=[])
            # Places from 1: authors are not named.
            numbers += [(method, row + 1, column + 1, value) for (row, column), value in np.ndenumerate(grid)]
        for axis in axes[len(maps) :] if maps else ():
            axis.set_visible(False)
        if image is not None:
            figure.supxlabel("Author of the texts, by topic", size=9)
            figure.supylabel("Adapter, by topic", size=9)
            bar = figure.colorbar(image, ax=list(axes), shrink=0.7)
            bar.set_label("Gain less the adapter's mean\n(nats per token)", size=8)
        table = pd.DataFrame(numbers, columns=["method", "adapter", "author", "centred_gain"])
        save(figure, *paths, finding=_finding(maps, methods), data=methods.named(table.dropna()))


def _order(scores: pd.DataFrame) -> list[tuple[str, float]]:
    """Return (client, number of its topic) of every author by topic."""
    own = scores[scores["metric"] == "likelihood_topic"].drop_duplicates("variant")
    pairs = zip(own["variant"].astype(str), own["value"].astype(float), strict=True)
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def _matrix(own: pd.DataFrame, clients: Sequence[str]) -> np.ndarray:
    """Return g [clients, clients] less each adapter's mean over authors."""
    grid = np.full((len(clients), len(clients)), np.nan)
    place = {client: number for number, client in enumerate(clients)}
    for variant, value in zip(own["variant"], own["value"], strict=True):
        reader, _, writer = variant.partition("~")
        grid[place[reader], place[writer]] = value
    known = np.isfinite(grid)
    means = np.where(known, grid, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return grid - means[:, None]


def _differs(grid: np.ndarray) -> bool:
    known = grid[np.isfinite(grid).any(axis=1)]
    known = known[:, np.isfinite(known).all(axis=0)]
    return bool(known.size) and float(np.ptp(known, axis=0).max()) > EQUAL


def _edges(topics: Sequence[float]) -> list[float]:
    return [place - 0.5 for place in range(1, len(topics)) if topics[place] != topics[place - 1]]


def _finding(maps: dict[str, np.ndarray], methods: Methods) -> str:
    if not maps:
        return ""
    hits = {}
    for method, grid in maps.items():
        best = grid >= np.nanmax(grid, axis=0, initial=-np.inf) - EQUAL  # equal adapters share an author
        known = np.isfinite(np.diag(grid))
        if known.any():
            hits[method] = float(np.mean((np.diag(best) / best.sum(axis=0).clip(min=1))[known]))
    return methods.span("Share of authors whose own adapter has the largest centred gain", hits)


FIGURE = FigureSpec(
    title="Which adapter knows whose texts",
    caption="Gain of every client's adapter (rows) on every author's unseen texts (columns), over the base and less "
    "the adapter's mean, in nats per token; means over seeds. Both are ordered by topic, with a line between topics. "
    "Blue on the diagonal: adapters know their own authors. Blue blocks: they know topics. Methods with one model "
    "for all clients are left out: nothing in them differs.",
    scores=("likelihood",),
    place=33,
    draw=draw_likelihood_map,
)
