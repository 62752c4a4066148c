"""Homogenisation at a glance: how much of the spread between authors every method leaves, and which habits are lost."""

from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import GREY, RISING, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.scores.readable_habits import HABITS
from favor.tables.cells import printed
from favor.tables.escape import minus


def draw_homogenisation(data: FigureData, *paths: str | Path) -> None:
    """Draw the ``scores`` of the family ``drift`` to each of ``paths``: a ladder of methods, and their habits kept.

    Methods without a spread are left out, and habits in which the authors' own continuations do not differ.
    """
    scores, methods = data.scores(), data.shown
    spread = scores[(scores["metric"] == "spread_left") & (scores["encoder"] == data.style_encoder)]
    # Few authors have a spread without an interval.
    ladder = spread.pivot_table(index="method", columns="variant", values="value").reindex(columns=["", "low", "high"])
    ladder = ladder[ladder.index.isin([*methods.rows, "shuffled"])]
    if len(ladder):
        ladder = ladder.sort_values("", kind="stable")
    slopes = scores[(scores["metric"] == "habit_slope") & scores["variant"].isin(list(HABITS))]
    kept = slopes.pivot_table(index="method", columns="variant", values="value").reindex(ladder.index)
    kept = kept.reindex(columns=[habit for habit in HABITS if habit in kept.columns])
    order = list(ladder.index)
    with drawing(8.2, 1.6 + 0.24 * max(len(ladder), 4), columns=2) as (figure, axes):
        left, right = axes
        if not len(ladder):
            say(left, "Authors' own continuations do not\ndiffer measurably: no spread to lose.")
        drawn = methods.identities(order)
        for place, method in enumerate(order):
            mean, low, high = ladder.loc[method, ["", "low", "high"]]
            left.plot([low, high], [place, place], color=drawn[method].color, linewidth=1.4, zorder=2)
            left.plot(mean, place, **drawn[method].points, zorder=3)
        for level, label in ((0.0, "all alike"), (1.0, "as human text")):
            left.axvline(level, color=GREY, linestyle=":", linewidth=1)
            left.annotate(label, (level, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", size=7.5)
        methods.label_rows(left, order)
        left.set_ylim(-0.5, max(len(order), 1) - 0.5)  # aligned with the rows of the right panel
        left.set(xlabel="Spread between authors, relative to their real texts")
        left.grid(axis="x")
        _habits(right, kept)
        left_over = ladder[""].to_dict() if len(ladder) else {}
        finding = methods.span("Spread between authors, relative to their real texts", left_over)
        spreads = ladder.rename(columns={"": "spread_left", "low": "spread_low", "high": "spread_high"})
        numbers = spreads.join(kept.add_prefix("habit_")).rename_axis(index="method", columns=None)
        save(figure, *paths, finding=finding, data=methods.named(numbers))


def _habits(axis, kept: pd.DataFrame) -> None:  # type: ignore[no-untyped-def]  # matplotlib's axis
    if kept.empty:
        say(axis, "No habit in which the authors' own\ncontinuations differ measurably.")
        return
    values = kept.to_numpy(dtype=float)
    axis.imshow(np.clip(values, 0, 1), cmap=RISING, vmin=0, vmax=1, aspect="auto", origin="lower")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            axis.text(column, row, minus(printed(value, 1)), ha="center", va="center", size=7.5)
    axis.set_xticks(range(kept.shape[1]), kept.columns, rotation=40, ha="right")
    axis.set_yticks([])
    axis.set_title("Habits kept: 0 the group's mean, 1 the author's own", size=8.5)


FIGURE = FigureSpec(
    title="Homogenisation",
    caption="a: how far apart the authors' average styles are, relative to their real texts (corrected for sample "
    "size); bars are 95 % intervals over authors. b: how much of each author's habits the outputs follow (0: nothing, "
    "1: all of it). Both are sorted by a, the smallest spread at the bottom.",
    scores=("drift",),
    place=2,
    draw=draw_homogenisation,
)
