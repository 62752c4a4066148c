"""The result in one figure: how far each method keeps authors apart, and how the first row differs from its rivals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from favor.figures.drawing import GREY, drawing, save, say
from favor.figures.identity import Identity, Methods
from favor.figures.specs import FigureSpec
from favor.tables.leaderboard import HEADLINE, differences, means, subject


def draw_result(
    scores: pd.DataFrame,
    evidence: pd.DataFrame,
    style_encoder: str,
    methods: Methods,
    *paths: str | Path,
) -> None:
    """Draw the ladder of spreads and the differences of the first row to every rival, rows in one order.

    scores: of the family ``drift``; evidence: the table of that name. Without a spread, rows stand by accuracy.
    """
    spread = scores[(scores["metric"] == "spread_left") & (scores["encoder"] == style_encoder)]
    found = spread.pivot_table(index="method", columns="variant", values="value")
    accuracy = means(evidence, style_encoder, HEADLINE)
    known = [name for name in methods.rows if name in found.index or name in accuracy]
    drawn = methods.identities(known)
    order = sorted(known, key=lambda name: found[""].get(name, -np.inf) if len(found) else accuracy[name])
    first = subject(methods.rows)
    rivals = differences(evidence, style_encoder, HEADLINE, first).set_index("rival")
    with drawing(9.2, 0.9 + 0.27 * max(len(order), 4), columns=2) as (figure, axes):
        ladder, forest = axes
        if found.empty:
            say(ladder, "Authors' own continuations do not\ndiffer measurably: no spread to lose.")
        for place, name in enumerate(order):
            if name in found.index:
                left: Any = found.loc[name]
                _interval(ladder, place, left[["", "low", "high"]].tolist(), drawn[name])
            if name in rivals.index:
                row: Any = rivals.loc[name]
                _interval(forest, place, row[["delta", "low", "high"]].tolist(), drawn[name])
                text = f"p = {row['p_holm']:.2f}" if row["p_holm"] >= 0.005 else "p < .01"
                forest.text(1.02, place, text, transform=forest.get_yaxis_transform(), va="center", size=7.5)
        ladder.axvline(1.0, color=GREY, linestyle=":", linewidth=1)
        forest.axvline(0.0, color=GREY, linestyle=":", linewidth=1)
        methods.label_rows(ladder, order)
        forest.set_yticks(range(len(order)), [""] * len(order))
        ladder.set(title="How far authors stay apart", xlabel="Share of the spread between authors that is left")
        title = f"{methods.name(first)} minus each rival, author accuracy"
        forest.set(title=title, xlabel=f"Right: {methods.name(first)} is more accurate; p after Holm")
        for axis in axes:
            axis.set_ylim(-0.6, max(len(order), 1) - 0.4)
            axis.grid(axis="x")
            axis.xaxis.set_major_locator(MaxNLocator(6))
        apart = sum(rivals["p_holm"] < 0.05)
        spreads = found[""].reindex(order).to_dict() if len(found) else {}
        said = methods.extremes("Share of the spread between authors that is left", spreads)
        rest = f"{methods.name(first)} differs from {apart} of {len(rivals)} rivals in author accuracy (Holm, 5 %)."
        data = (
            pd.DataFrame(index=pd.Index(order, name="method"))
            .join(found.rename(columns={"": "spread_left", "low": "spread_low", "high": "spread_high"}))
            .join(rivals.rename(columns={"delta": f"{first}_minus_row", "p": "p_of_difference"}))
        )
        finding = " ".join(filter(None, (said, rest if len(rivals) else "")))
        save(figure, *paths, finding=finding, data=methods.named(data))


def _interval(axis: Any, place: int, ends: Sequence[float], identity: Identity) -> None:
    """Draw (value, low, high) at a height."""
    value, low, high = ends
    if np.isfinite(ends).all():
        error = [[max(0.0, value - low)], [max(0.0, high - value)]]
        axis.errorbar(value, place, xerr=error, linestyle="none", elinewidth=1, **identity.points)


FIGURE = FigureSpec(
    title="The result",
    caption="Left, the homogenisation ladder: the variance between authors' centres in the style space over that of "
    "their own continuations of the same prompts, without the noise of few texts. A method low on the ladder writes "
    "alike for everybody. Right: author accuracy of the method in its title minus that of each rival. Bars are 95 % "
    "intervals over authors; p is Holm's over the rivals.",
    inputs=("evidence",),
    scores=("drift",),
    place=-1,
    draw=lambda data, *paths: draw_result(
        data.scores(),
        data.table("evidence"),
        data.style_encoder,
        data.shown,
        *paths,
    ),
)
