"""Training curves: task loss of the shared stage over the rounds, and alignment of the personal stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from favor.foundation.errors import UserError
from favor.report.drawing import drawing, label_beside, save
from favor.report.figure_specs import FigureSpec
from favor.report.identity import Identity, Methods


def draw_training_curves(
    logs: Mapping[str, pd.DataFrame],
    methods: Methods,
    *paths: str | Path,
) -> None:
    """Draw ``training_log`` tables, one per method or shared track (key -> rows of every seed and client).

    Three panels: shared task loss by round, personal task loss by step, cosine to the style target by step. A panel
    without any value says so. Raises ``UserError`` where no log has a row.
    """
    if not any(len(log) for log in logs.values()):
        raise UserError("training curves: every training log is empty; run the training before its figure")
    panels: Sequence[tuple[str, str, str, str, str]] = (
        ("Shared stage", "shared", "round", "task_loss", "Task loss (nats per token)"),
        ("Personal stage", "personal", "step", "task_loss", "Task loss (nats per token)"),
        ("Style alignment", "personal", "step", "cosine", "Cosine to the style target"),
    )
    drawn = methods.identities(list(logs))
    with drawing(12.0, 3.8, columns=3) as (figure, axes):
        named, finals = [], []
        for axis, (title, stage, by, value, label) in zip(axes, panels, strict=True):
            curves: dict[tuple[float, ...], list[str]] = {}
            for key in drawn:
                rows = logs[key][(logs[key]["stage"] == stage) & logs[key][value].notna()]
                if len(rows):
                    curves.setdefault(_mean_curve(rows, by, value), []).append(key)
            named.append([_draw(axis, curve, keys, drawn[keys[0]], methods) for curve, keys in curves.items()])
            finals.append({key: curve[-1] for curve, keys in curves.items() for key in keys})
            axis.set(title=title, xlabel={"round": "Round", "step": "Optimiser step"}[by], ylabel=label)
            axis.grid(axis="y")
            axis.xaxis.get_major_locator().set_params(integer=True)
            if not axis.lines:
                axis.text(0.5, 0.5, "no values", transform=axis.transAxes, ha="center", va="center")
        figure.draw_without_rendering()
        for axis, names in zip(axes, named, strict=True):
            label_beside(axis, names, size=7)
        said = (
            methods.extremes(f"{title}, last mean {value.replace('_', ' ')}", final)
            for (title, _, _, value, _), final in zip(panels, finals, strict=True)
        )
        save(figure, *paths, finding=" ".join(filter(None, said)))


def _mean_curve(rows: pd.DataFrame, by: str, value: str) -> tuple[float, ...]:
    """Return places and means over clients, one after another; equal trajectories are equal tuples."""
    mean = rows.groupby([by, "client"])[value].mean().groupby(level=0).mean()
    # Rounds and steps count from 0 in the log, from 1 for a reader.
    return (*(mean.index + 1.0), *mean)


def _draw(
    axis: Any, curve: tuple[float, ...], keys: Sequence[str], identity: Identity, methods: Methods
) -> tuple[float, float, str, str]:
    places, means = curve[: len(curve) // 2], curve[len(curve) // 2 :]
    marker = identity.marker if len(means) == 1 else ""
    axis.plot(places, means, **identity.line, marker=marker)
    names = [methods.name(key) for key in keys]
    lines = [", ".join(names[start : start + 2]) for start in range(0, len(names), 2)]
    return places[-1], means[-1], ",\n".join(lines), identity.color


FIGURE = FigureSpec(
    title="Training curves",
    caption="Mean over clients and seeds. Methods whose stages are equal share one line, named once. Clients with less "
    "text take fewer steps, so the last steps of the personal stage are a mean over few clients.",
    inputs=("training_logs",),
    place=90,
    draw=lambda data, *paths: draw_training_curves(data.training_logs(), data.shown, *paths),
)
