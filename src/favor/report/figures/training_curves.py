"""Training curves: the shared stage over the rounds, the personal stage, and what was trained before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError
from favor.report.drawing import BLACK, drawing, label_beside, save
from favor.report.figure_specs import FigureSpec
from favor.report.identity import Identity, Methods

POINTS = 100  # of the base model's curve: single steps are too noisy to read
COLUMNS = ["method", "panel", "place", "value"]


def draw_training_curves(
    logs: Mapping[str, pd.DataFrame],
    methods: Methods,
    *paths: str | Path,
    pretraining: pd.DataFrame | None = None,
    encoders: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """Draw ``training_log`` tables, one per method or shared track (key -> rows of every seed and client).

    Three panels: shared task loss by round, personal task loss by step, cosine to the style target by step. A panel
    without any value says so. Below them stands what was trained before: one line per trajectory.

    pretraining: table ``losses`` of the base model; consecutive steps are averaged to :data:`POINTS` points.
    encoders: mean training loss of every epoch, by the encoder's printed name.

    Raises ``UserError`` where no log has a row.
    """
    if not any(len(log) for log in logs.values()):
        raise UserError("training curves: every training log is empty; run the training before its figure")
    panels: Sequence[tuple[str, str, str, str, str]] = (
        ("Shared stage", "shared", "round", "task_loss", "Task loss (nats per token)"),
        ("Personal stage", "personal", "step", "task_loss", "Task loss (nats per token)"),
        ("Style alignment", "personal", "step", "cosine", "Cosine to the style target"),
    )
    drawn = methods.identities(list(logs))
    base = pd.DataFrame() if pretraining is None else pretraining
    before = bool(len(base)) + bool(encoders)
    rows = 1 + bool(before)
    points: list[tuple[str, str, float, float]] = []
    with drawing(12.0, 3.8 * rows, rows, columns=3) as (figure, axes):
        named, finals = [], []
        for axis, (title, stage, by, value, label) in zip(axes, panels, strict=False):
            curves: dict[tuple[float, ...], list[str]] = {}
            for key in drawn:
                own = logs[key][(logs[key]["stage"] == stage) & logs[key][value].notna()]
                if len(own):
                    curves.setdefault(_mean_curve(own, by, value), []).append(key)
            named.append([_draw(axis, curve, keys, drawn[keys[0]], methods) for curve, keys in curves.items()])
            finals.append({key: curve[-1] for curve, keys in curves.items() for key in keys})
            for curve, keys in curves.items():
                points += [
                    (key, title, place, mean) for key in keys for place, mean in zip(*_halves(curve), strict=True)
                ]
            axis.set(title=title, xlabel={"round": "Round", "step": "Optimiser step"}[by], ylabel=label)
            if not axis.lines:
                axis.text(0.5, 0.5, "no values", transform=axis.transAxes, ha="center", va="center")
        beforehand = list(axes[3 : 3 + before])
        if len(base):
            axis = beforehand[0]
            steps = _averaged(base)
            axis.plot(steps["done"] / 1e6, steps["loss"], color=BLACK, linewidth=1.3)
            axis.set(title="Base model", xlabel="Million tokens", ylabel="Task loss (nats per token)")
            points += [("", "Base model", done, loss) for done, loss in steps.itertuples(index=False)]
        if encoders:
            axis = beforehand[-1]
            lasts = []
            for number, (name, losses) in enumerate(encoders.items()):
                epochs = range(1, len(losses) + 1)
                axis.plot(epochs, losses, color=BLACK, linestyle=_DASHES[number % len(_DASHES)], marker=".")
                lasts.append((float(len(losses)), losses[-1], name, BLACK))
                points += [
                    ("", f"Style encoder {name}", epoch, loss) for epoch, loss in zip(epochs, losses, strict=True)
                ]
            most = max(map(len, encoders.values()))
            axis.set(title="Style encoders", xlabel="Epoch", ylabel="ArcFace loss", xlim=(0.5, most + 0.5))
            named += [[]] * (len(base) > 0) + [lasts]
        for axis in [*axes[:3], *beforehand]:
            axis.grid(axis="y")
            axis.xaxis.get_major_locator().set_params(integer=axis.get_xlabel() != "Million tokens")
        for axis in axes[3 + before :]:
            axis.axis("off")
        figure.draw_without_rendering()
        for axis, names in zip(axes, named, strict=False):
            label_beside(axis, names, size=7)
        said = (
            methods.extremes(f"{title}, last mean {value.replace('_', ' ')}", final)
            for (title, _, _, value, _), final in zip(panels, finals, strict=True)
        )
        data = pd.DataFrame(points, columns=COLUMNS)
        save(figure, *paths, finding=" ".join(filter(None, said)), data=methods.named(data))


_DASHES = ("-", "--", ":", "-.")


def _mean_curve(rows: pd.DataFrame, by: str, value: str) -> tuple[float, ...]:
    """Return places and means over clients, one after another; equal trajectories are equal tuples."""
    mean = rows.groupby([by, "client"])[value].mean().groupby(level=0).mean()
    # Rounds and steps count from 0 in the log, from 1 for a reader.
    return (*(mean.index + 1.0), *mean)


def _halves(curve: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return curve[: len(curve) // 2], curve[len(curve) // 2 :]


def _averaged(losses: pd.DataFrame) -> pd.DataFrame:
    """Return columns done and loss: the last place and the mean of at most :data:`POINTS` runs of steps."""
    group = np.arange(len(losses)) // -(-len(losses) // POINTS)
    return losses.groupby(group).agg(done=("done", "last"), loss=("loss", "mean"))


def _draw(
    axis: Any, curve: tuple[float, ...], keys: Sequence[str], identity: Identity, methods: Methods
) -> tuple[float, float, str, str]:
    places, means = _halves(curve)
    marker = identity.marker if len(means) == 1 else ""
    axis.plot(places, means, **identity.line, marker=marker)
    names = [methods.name(key) for key in keys]
    lines = [", ".join(names[start : start + 2]) for start in range(0, len(names), 2)]
    return places[-1], means[-1], ",\n".join(lines), identity.color


FIGURE = FigureSpec(
    title="Training curves",
    caption="Mean over clients and seeds. Methods whose stages are equal share one line, named once. Clients with less "
    "text take fewer steps, so the last steps of the personal stage are a mean over few clients. Below: what was "
    "trained before the federation, the base model where it was pretrained and its losses were kept.",
    inputs=("training_logs", "pretraining", "encoder_manifests"),
    place=90,
    draw=lambda data, *paths: draw_training_curves(
        data.training_logs(),
        data.shown,
        *paths,
        pretraining=data.pretraining_losses(),
        encoders=data.encoder_losses(),
    ),
)
