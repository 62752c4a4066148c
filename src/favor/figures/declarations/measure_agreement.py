"""How alike the style measures rank the methods: every pair of measures."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.drawing import DIVERGING, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.tables.cells import printed
from favor.tables.declarations.style_measures import MEASURES, space_name
from favor.tables.escape import minus


def draw_measure_agreement(scores: pd.DataFrame, *paths: str | Path) -> None:
    """Draw the rank correlations of the family ``measure_agreement`` to each of ``paths``; missing ones stay white."""
    own = scores[(scores["metric"] == "rank_correlation") & ~scores["variant"].str.contains("_low$|_high$")]
    own = own.dropna(subset="value")
    parts = [variant.partition("~") for variant in own["variant"]]
    pairs = [
        (f"{encoder}.{first}", second, value)
        for encoder, (first, _, second), value in zip(own["encoder"], parts, own["value"], strict=True)
    ]
    names = sorted({name for left, right, _ in pairs for name in (left, right)})
    grid = np.full((len(names), len(names)), np.nan)
    for left, right, value in pairs:
        row, column = names.index(left), names.index(right)
        grid[row, column] = grid[column, row] = value
    labels = [f"{space_name(name.partition('.')[0])}: {MEASURES[name.partition('.')[2]]}" for name in names]
    side = max(3.0, 0.42 * len(names))
    with drawing(side + 2.6, side + 1.6) as (figure, (axis,)):
        if not names:
            say(axis, "Nothing to correlate: it takes three methods and three authors.")
        else:
            axis.imshow(grid, cmap=DIVERGING, vmin=-1, vmax=1)
            for (row, column), value in np.ndenumerate(grid):
                if np.isfinite(value):
                    axis.text(column, row, minus(printed(value, 1)), ha="center", va="center", size=7.5)
            axis.set_xticks(range(len(names)), labels, rotation=45, ha="right", size=7.5)
            axis.set_yticks(range(len(names)), labels, size=7.5)
        called = dict(zip(names, labels, strict=True))
        data = pd.DataFrame(
            [(called[left], called[right], value) for left, right, value in pairs],
            columns=["measure", "other_measure", "rank_correlation"],
        )
        save(figure, *paths, finding=_finding(pairs), data=data)


def _finding(pairs: Sequence[tuple[str, str, float]]) -> str:
    """Return what is drawn. No pair is named: that two agree more than others takes a test."""
    if len(pairs) < 2:
        return ""
    ends = [minus(printed(pick(value for *_, value in pairs), 2)) for pick in (min, max)]
    return f"Rank correlation of two measures: {len(pairs)} pairs, from {ends[0]} to {ends[1]}."


FIGURE = FigureSpec(
    title="Agreement of the style measures",
    caption="Spearman's rank correlation of two measures over the experiment's methods, by means over authors and "
    "seeds. Blue: they rank the methods alike; red: the other way round.",
    scores=("measure_agreement",),
    place=30,
    draw=lambda data, *paths: draw_measure_agreement(data.scores(), *paths),
)
