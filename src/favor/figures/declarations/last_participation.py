"""Accuracy by the round in which a client last took part: those who left early received least from the federation."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from favor.figures.data import FigureData
from favor.figures.drawing import drawing, save, say
from favor.figures.identity import point
from favor.figures.specs import FigureSpec
from favor.statistics.bootstrap import observed_and_resampled
from favor.statistics.exact import rate_limits

BARS = ["method", "last_round", "outputs", "accuracy", "low", "high"]


def draw_last_participation(data: FigureData, *paths: str | Path) -> None:
    """Draw the table ``participation`` to each of ``paths``: accuracy over all seeds by last round, and over all."""
    participation, methods = data.table("participation"), data.shown
    rounds = sorted(participation["last_round"].unique())
    shown = [name for name in methods.rows if name in set(participation["method"])]
    bars: list[tuple[str, str, int, float, float, float]] = []
    with drawing(7.2, 3.6) as (figure, axes):
        axis = axes[0]
        if not shown:
            say(axis, "No method of this experiment federates.")
        places = {number: place for place, number in enumerate(rounds)}
        drawn = methods.identities(shown)
        for number, (name, identity) in enumerate(drawn.items()):
            own = participation[(participation["method"] == name) & (participation["outputs"] > 0)]
            offset = min(0.06, 0.5 / len(shown)) * (number - (len(shown) - 1) / 2)
            bars_at = [(places[value], _said(value), own[own["last_round"] == value]) for value in rounds]
            bars_at = [bar for bar in bars_at if len(bar[2])]
            if bars_at:
                bars_at.append((len(rounds), "all", own))
            for place, last, rows in bars_at:
                outputs, share, low, high = _accuracy(rows)
                at = {"x": place + offset, "y": share, "y_low": low, "y_high": high}
                point(axis, at, elinewidth=0.7, capsize=1.5, **identity.points)
                bars.append((name, last, outputs, share, low, high))
        handles = [Line2D([], [], linestyle="none", **identity.points) for identity in drawn.values()]
        clients = participation[participation["method"].isin(shown[:1])].groupby("last_round").size()
        labels = [f"{'never' if value < 0 else value + 1}\n{clients.get(value, 0)}" for value in rounds]
        axis.set_xticks(range(len(rounds) + bool(shown)), [*labels, "all\nrounds"][: len(rounds) + bool(shown)])
        axis.axvline(len(rounds) - 0.5, color="#9aa3ad", linewidth=0.8, linestyle=":")
        axis.set(xlabel="Round of the last participation (below it: clients, over all seeds)", ylabel="Author accuracy")
        axis.set_ylim(0, None)
        axis.grid(axis="y")
        if shown:
            figure.legend(handles, [methods.name(name) for name in drawn], loc="outside right upper")
        drawn_rows = participation[participation["method"].isin(shown)]
        total = drawn_rows.groupby("method")[["outputs", "correct"]].sum()
        accuracy = (total["correct"] / total["outputs"]).to_dict()
        by_round = drawn_rows.groupby("last_round")[["outputs", "correct"]].sum()
        ends = (
            f"{_said(last) if last < 0 else f'round {_said(last)}'} {correct / outputs:.2f}"
            for last, outputs, correct in by_round.itertuples(name=None)
            if outputs
        )
        said = methods.span("Accuracy over all rounds", accuracy)
        by_rounds = f"All methods together, by the last round: {', '.join(ends)}." if shown else ""
        numbers = methods.named(pd.DataFrame(bars, columns=BARS))
        save(figure, *paths, finding=" ".join(filter(None, (said, by_rounds))), data=numbers)


def _said(last: int) -> str:
    return "never" if last < 0 else str(last + 1)


def _accuracy(rows: pd.DataFrame) -> tuple[int, float, float, float]:
    """Return the outputs of some clients' rows, which share is correct, and its 95 % limits over these clients."""
    names, author = np.unique(rows["client"], return_inverse=True)
    correct, outputs = rows["correct"].to_numpy(), rows["outputs"].to_numpy()
    hits = np.repeat(np.tile([1.0, 0.0], len(rows)), np.column_stack([correct, outputs - correct]).ravel())
    limits = rate_limits(hits, np.repeat(author, outputs), observed_and_resampled(len(names), 1))
    return int(outputs.sum()), float(hits.mean()), *limits


FIGURE = FigureSpec(
    title="Accuracy by the round of the last participation",
    caption="Where clients generate from the end of their own last round, those who took part early received less from "
    "the federation; in round 1, nothing. With the final shared adapter (FedAvg) all received the same. Authors differ "
    "between rounds, too. Nearest-prototype accuracy over all seeds' surviving outputs; on the right, over all "
    "clients. Bars are 95 % intervals over the authors behind a point; one author has none.",
    inputs=("participation",),
    place=25,
    draw=draw_last_participation,
)
