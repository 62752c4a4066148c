"""Accuracy by the round in which a client last took part: those who left early received least from the federation."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.lines import Line2D

from favor.figures.drawing import drawing, save, say
from favor.figures.identity import Methods
from favor.figures.specs import FigureSpec
from favor.statistics.exact import binomial_limits

BARS = ["method", "last_round", "outputs", "accuracy", "low", "high"]


def draw_last_participation(
    participation: pd.DataFrame,
    methods: Methods,
    *paths: str | Path,
) -> None:
    """Draw the table ``participation`` to each of ``paths``: accuracy over all seeds by last round, and over all."""
    counts = ["clients", "outputs", "correct"]
    pooled = participation.groupby(["method", "last_round"], as_index=False)[counts].sum()
    # So many different authors are behind a bar at least: seeds may draw the same ones again.
    most = participation.groupby(["method", "last_round"])["clients"].max().rename("authors")
    pooled = pooled.merge(most, on=["method", "last_round"])
    roster = participation.groupby(["method", "seed"])["clients"].sum().groupby("method").max()
    rounds = sorted(pooled["last_round"].unique())
    shown = [name for name in methods.rows if name in set(pooled["method"])]
    bars: list[tuple[str, str, int, float, float, float]] = []
    with drawing(7.2, 3.6) as (figure, axes):
        axis = axes[0]
        if not shown:
            say(axis, "No method of this experiment federates.")
        places = {number: place for place, number in enumerate(rounds)}
        drawn = methods.identities(shown)
        for number, (name, identity) in enumerate(drawn.items()):
            rows = pooled[(pooled["method"] == name) & (pooled["outputs"] > 0)].sort_values("last_round")
            offset = min(0.06, 0.5 / len(shown)) * (number - (len(shown) - 1) / 2)
            hits = list(zip(rows["correct"], rows["outputs"], rows["authors"], strict=True))
            at = [places[value] + offset for value in rows["last_round"]]
            lasts = ["never" if value < 0 else str(value + 1) for value in rows["last_round"]]
            if hits:
                hits.append((rows["correct"].sum(), rows["outputs"].sum(), roster[name]))
                at.append(len(rounds) + offset)
                lasts.append("all")
            for place, last, (correct, outputs, authors) in zip(at, lasts, hits, strict=True):
                share = correct / outputs
                low, high = binomial_limits(share * authors, int(authors))
                error = [[max(0.0, share - low)], [max(0.0, high - share)]]
                style = {"linestyle": "none", "elinewidth": 0.7, "capsize": 1.5}
                axis.errorbar(place, share, yerr=error, **style, **identity.points)
                bars.append((name, last, outputs, share, low, high))
        handles = [Line2D([], [], linestyle="none", **identity.points) for identity in drawn.values()]
        clients = dict(pooled[pooled["method"].isin(shown[:1])].set_index("last_round")["clients"])
        labels = [f"{'never' if value < 0 else value + 1}\n{clients.get(value, 0)}" for value in rounds]
        axis.set_xticks(range(len(rounds) + bool(shown)), [*labels, "all\nrounds"][: len(rounds) + bool(shown)])
        axis.axvline(len(rounds) - 0.5, color="#9aa3ad", linewidth=0.8, linestyle=":")
        axis.set(xlabel="Round of the last participation (below it: clients, over all seeds)", ylabel="Author accuracy")
        axis.set_ylim(0, None)
        axis.grid(axis="y")
        if shown:
            figure.legend(handles, [methods.name(name) for name in drawn], loc="outside right upper")
        total = pooled[pooled["method"].isin(shown)].groupby("method")[["outputs", "correct"]].sum()
        accuracy = (total["correct"] / total["outputs"]).to_dict()
        by_round = pooled[pooled["method"].isin(shown)].groupby("last_round")[["outputs", "correct"]].sum()
        ends = (
            f"{'never' if last < 0 else f'round {last + 1}'} {correct / outputs:.2f}"
            for last, outputs, correct in by_round.itertuples(name=None)
            if outputs
        )
        said = methods.extremes("Accuracy over all rounds", accuracy)
        by_rounds = f"All rows together, by the last round: {', '.join(ends)}." if shown else ""
        data = methods.named(pd.DataFrame(bars, columns=BARS))
        save(figure, *paths, finding=" ".join(filter(None, (said, by_rounds))), data=data)


FIGURE = FigureSpec(
    title="Accuracy by the round of the last participation",
    caption="Clients who last took part early have received less from the federation; in round 1, nothing. They are "
    "other authors, too, so a difference between rounds need not come from the federation. Nearest-prototype accuracy "
    "over all seeds' surviving outputs; on the right, over all clients. Bars are exact 95 % limits (Clopper and "
    "Pearson) for as many decisions as there are authors: they hold even if an author's outputs are all right or all "
    "wrong.",
    inputs=("participation",),
    place=25,
    draw=lambda data, *paths: draw_last_participation(data.table("participation"), data.shown, *paths),
)
