"""Training curves: task loss of the shared stage over the rounds, and alignment of the personal stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from favor.foundation.errors import UserError
from favor.paper.names import method_name
from favor.report.drawing import PALETTE, drawing, save
from favor.report.figure_specs import FigureSpec

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)))


def draw_training_curves(
    logs: Mapping[str, pd.DataFrame], *paths: str | Path, display: Mapping[str, str] | None = None
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
    with drawing(9.6, 3.2, columns=3) as (figure, axes):
        handles: dict[str, Any] = {}
        for axis, (title, stage, by, value, label) in zip(axes, panels, strict=True):
            for number, (key, log) in enumerate(logs.items()):
                rows = log[(log["stage"] == stage) & log[value].notna()]
                if len(rows):
                    handles[method_name(key, display)] = _curve(axis, rows, by, value, number)
            axis.set(title=title, xlabel={"round": "Round", "step": "Optimiser step"}[by], ylabel=label)
            axis.grid(axis="y")
            axis.xaxis.get_major_locator().set_params(integer=True)
            if not axis.lines:
                axis.text(0.5, 0.5, "no values", transform=axis.transAxes, ha="center", va="center")
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(len(handles), 5))
        save(figure, *paths)


def _curve(axis: Any, rows: pd.DataFrame, by: str, value: str, number: int) -> Any:
    offset = 1  # rounds and steps count from 0 in the log, from 1 for a reader
    per_client = rows.groupby([by, "client"])[value].mean().groupby(level=0)
    mean, low, high = per_client.mean(), per_client.quantile(0.25), per_client.quantile(0.75)
    color, line = PALETTE[number % len(PALETTE)], LINES[number % len(LINES)]
    axis.fill_between(mean.index + offset, low, high, color=color, alpha=0.15, linewidth=0)
    marker = "o" if len(mean) == 1 else ""
    return axis.plot(mean.index + offset, mean, color=color, linestyle=line, marker=marker, linewidth=1.5)[0]


FIGURE = FigureSpec(
    title="Training curves",
    caption="Mean over clients and seeds, with the middle half of the clients. Methods whose shared stages are equal "
    "share one trajectory.",
    inputs=("training_logs",),
    place=6,
    draw=lambda data, *paths: draw_training_curves(data.training_logs(), *paths, display=data.display),
)
