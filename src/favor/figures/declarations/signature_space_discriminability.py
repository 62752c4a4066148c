"""Coordinate by coordinate: does a space carry authors or topics? Hand-made features beside the style encoder.

After the paper's fig:signature_space_discriminability, drawn from our own effect sizes.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.figures.drawing import BLACK, GREY, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.tables.escape import minus

PANELS = (("stylometric", "Hand-made stylometric features"), ("style", "Style encoder"))
MISSING = "Needs at least two topics\nwith three authors each."


def draw_discriminability(effects: pd.DataFrame, *paths: str | Path) -> None:
    """Draw the table ``coordinate_effects`` to each of ``paths``: topic effect over author effect, a panel per space.

    Colour is (author - topic) / (|author| + |topic|), size grows with the distance from the origin, the line is the
    least-squares fit through the origin.
    """
    with drawing(7.4, 3.7, columns=2) as (figure, axes):
        values = effects[["author_effect", "topic_effect"]].to_numpy() if len(effects) else np.array([0.0, 1.0])
        low, high = min(float(values.min()), 0.0), float(values.max())
        limits = (low - 0.06 * (high - low), high + 0.06 * (high - low))
        shown, said = None, []
        for axis, (space, title) in zip(axes, PANELS, strict=True):
            rows = effects[effects["space"] == space]
            axis.set(title=title, xlabel="Author within topic, ω²", xlim=limits, ylim=limits)
            axis.set_aspect("equal")
            axis.grid()
            if rows.empty:
                say(axis, MISSING)
            else:
                shown, slope = _panel(axis, rows, limits[1])
                said.append(f"{title}: slope {minus(f'{slope:.2f}')}")
        axes[0].set_ylabel("Topic, ω²")
        if shown is not None:
            bar = figure.colorbar(shown, ax=axes, shrink=0.8, ticks=(-1, 0, 1))
            bar.ax.set_yticklabels(("topic", "equal", "author"))
            bar.outline.set_visible(False)
        finding = f"Topic effect over author effect. {'; '.join(said)}." if said else ""
        save(figure, *paths, finding=finding, data=effects)


def _panel(axis: Any, rows: pd.DataFrame, end: float) -> tuple[Any, float]:
    """Draw a space; return its points and the slope of their line."""
    author, topic = rows["author_effect"].to_numpy(), rows["topic_effect"].to_numpy()
    total = np.abs(author) + np.abs(topic)
    balance = np.divide(author - topic, total, out=np.zeros(len(rows)), where=total > 0)
    distance = np.hypot(author, topic)
    style = {"cmap": "BrBG", "vmin": -1.2, "vmax": 1.2, "edgecolors": BLACK, "linewidths": 0.35, "zorder": 3}
    # Far from the origin last, so that small points do not cover them.
    order = np.argsort(distance)
    points = axis.scatter(author[order], topic[order], s=6 + 60 * distance[order] / end, c=balance[order], **style)
    slope = float((author * topic).sum() / (author**2).sum())
    axis.plot((0, end), (0, end), color=GREY, linestyle=":", linewidth=1)
    reach = min(end, end / slope) if slope > 0 else end
    axis.plot((0, reach), (0, slope * reach), color=BLACK, linewidth=1.3, zorder=4)
    text = f"slope {minus(f'{slope:.2f}')}\n{len(rows)} coordinates\n{int(rows['texts'].iloc[0]):,} texts"
    axis.text(0.03, 0.97, text, transform=axis.transAxes, va="top", size=8)
    return points, slope


FIGURE = FigureSpec(
    title="Coordinate-level author and topic discriminability",
    caption="A point is one coordinate: a hand-made stylometric feature on the left, a dimension of the style "
    "encoder on the right. Across: the effect of the author within a topic; up: that of the topic. Colour "
    "shows which is larger, size the distance from the origin. The solid line is the least-squares fit "
    "through the origin, on the dotted line both effects are equal. Test texts of the clients, topics of at "
    "least three authors.",
    inputs=("coordinate_effects",),
    place=22,
    draw=lambda data, *paths: draw_discriminability(data.table("coordinate_effects"), *paths),
)
