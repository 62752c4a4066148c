"""How much text each client may learn from: available, asked for, allocated."""

from pathlib import Path

import numpy as np
import pandas as pd

from favor.corpora.allocation import gini
from favor.figures.drawing import BLACK, BLUE, GREY, drawing, save
from favor.figures.specs import FigureSpec


def draw_allocation(allocation: pd.DataFrame, *paths: str | Path) -> None:
    """Draw the table ``allocation`` (word units per client) to each of ``paths`` (.svg, .pdf, .png)."""
    order = allocation.sort_values(["allocated_words", "client"], ascending=[False, True])
    places = np.arange(len(order))
    target, allocated = order["target_words"].to_numpy(), order["allocated_words"].to_numpy()
    with drawing(7.2, 3.0) as (figure, axes):
        axis = axes[0]
        axis.bar(places, allocated / 1000, width=0.8, color=BLUE, label=f"allocated (Gini {gini(allocated):.3f})")
        style = {"linestyle": "none", "markersize": 8, "markeredgewidth": 1.6}
        axis.plot(places, target / 1000, marker="_", color=BLACK, label=f"target (Gini {gini(target):.3f})", **style)
        available = order["available_words"].to_numpy() / 1000
        axis.plot(places, available, "o", color=GREY, fillstyle="none", markersize=4, label="available")
        axis.set(
            xlabel="Client, by allocation", ylabel="Thousand word units", xlim=(-0.8, len(order) - 0.2), ylim=(0, None)
        )
        axis.set_xticks([])
        axis.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=3)
        met = bool((allocated == target).all())
        less = "all as many as their target" if met else f"{(allocated < target).sum()} of them fewer than their target"
        said = f"{len(order)} clients learn from {allocated.min():,} to {allocated.max():,} word units each, {less}."
        columns = ["client", "available_words", "target_words", "allocated_words"]
        save(figure, *paths, finding=said, data=order[columns], one_value=met)


FIGURE = FigureSpec(
    title="Allocation",
    caption="Words per client: target, available, used.",
    inputs=("allocation",),
    place=26,
    draw=lambda data, *paths: draw_allocation(data.table("allocation"), *paths),
)
