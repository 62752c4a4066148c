"""Accuracy by the round in which a client last took part: those who left early received least from the federation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from favor.paper.names import method_name
from favor.report.drawing import MARKERS, PALETTE, drawing, save, say
from favor.report.figure_specs import FigureSpec


def draw_last_participation(
    participation: pd.DataFrame, methods: Sequence[str], *paths: str | Path, display: Mapping[str, str] | None = None
) -> None:
    """Draw the table ``participation`` to each of ``paths``: accuracy over all seeds by last round, and over all."""
    counts = ["clients", "outputs", "correct"]
    pooled = participation.groupby(["method", "last_round"], as_index=False)[counts].sum()
    rounds = sorted(pooled["last_round"].unique())
    shown = [name for name in methods if name in set(pooled["method"])]
    with drawing(7.2, 3.6) as (figure, axes):
        axis = axes[0]
        if not shown:
            say(axis, "No method of this experiment federates.")
        places = {number: place for place, number in enumerate(rounds)}
        for number, name in enumerate(shown):
            rows = pooled[(pooled["method"] == name) & (pooled["outputs"] > 0)].sort_values("last_round")
            style = {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)], "markersize": 6}
            offset = min(0.06, 0.5 / len(shown)) * (number - (len(shown) - 1) / 2)
            at = [places[value] + offset for value in rows["last_round"]]
            axis.plot(at, rows["correct"] / rows["outputs"], linewidth=1, label=method_name(name, display), **style)
            if rows["outputs"].sum():
                mean = rows["correct"].sum() / rows["outputs"].sum()
                axis.plot([len(rounds) + offset], [mean], linestyle="none", **style)
        clients = dict(pooled[pooled["method"].isin(shown[:1])].set_index("last_round")["clients"])
        labels = [f"{'never' if value < 0 else value + 1}\n{clients.get(value, 0)}" for value in rounds]
        axis.set_xticks(range(len(rounds) + bool(shown)), [*labels, "all\nrounds"][: len(rounds) + bool(shown)])
        axis.axvline(len(rounds) - 0.5, color="#9aa3ad", linewidth=0.8, linestyle=":")
        axis.set(xlabel="Round of the last participation; below it, clients over all seeds", ylabel="Author accuracy")
        axis.set_ylim(0, None)
        axis.grid(axis="y")
        if shown:
            figure.legend(loc="outside right upper")
        save(figure, *paths)


FIGURE = FigureSpec(
    title="Accuracy by the round of the last participation",
    caption="Clients who last took part early have received less from the federation; in round 1, nothing. "
    "Nearest-prototype accuracy over all seeds' surviving outputs; on the right, over all clients.",
    inputs=("participation",),
    place=5,
    draw=lambda data, *paths: draw_last_participation(
        data.table("participation"), data.methods, *paths, display=data.display
    ),
)
