"""Training curves: the shared stage over the rounds, the personal stage, and what was trained before them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLACK, drawing, label_beside, save, say
from favor.figures.identity import Identity, Methods
from favor.figures.specs import FigureSpec
from favor.foundation.errors import UserError

POINTS = 100  # of the base model's curve: single steps are too noisy to read
COLUMNS = ["method", "panel", "place", "value"]


def draw_training_curves(data: FigureData, *paths: str | Path) -> None:
    """Draw ``training_log`` tables, one per method or shared track (key -> rows of every seed and client).

    Three panels: shared task loss by round, personal task loss by step, cosine to the style target by step. A panel
    without any value says so. Below them stands what was trained before: one line per trajectory.

    pretraining: table ``losses`` of the base model; consecutive steps are averaged to :data:`POINTS` points.
    encoders: mean training loss of every epoch, by the encoder's printed name.

    Raises ``UserError`` where no log has a row.
    """
    logs, methods = data.training_logs(), data.shown
    base, encoders = data.pretraining_losses(), data.encoder_losses()
    if not any(len(log) for log in logs.values()):
        raise UserError("training curves: every training log is empty; run the training before its figure")
    before = bool(len(base)) + bool(encoders)
    rows = 1 + bool(before)
    with drawing(12.0, 3.8 * rows, rows, columns=3) as (figure, axes):
        drawn = [_draw_stage(axis, stage, logs, methods) for axis, stage in zip(axes, STAGES, strict=False)]
        beforehand = list(axes[3 : 3 + before])
        if len(base):
            drawn.append(_draw_base(beforehand[0], base))
        if encoders:
            drawn.append(_draw_encoders(beforehand[-1], encoders))
        shown = [*axes[:3], *beforehand]
        for axis in shown:
            axis.grid(axis="y")
            axis.xaxis.get_major_locator().set_params(integer=axis.get_xlabel() != "Million tokens")
        for axis in axes[3 + before :]:
            axis.axis("off")
        figure.draw_without_rendering()
        for axis, panel in zip(shown, drawn, strict=True):
            label_beside(axis, panel.names)
        finding = " ".join(panel.finding for panel in drawn if panel.finding)
        numbers = pd.DataFrame([point for panel in drawn for point in panel.points], columns=COLUMNS)
        save(figure, *paths, finding=finding, data=methods.named(numbers))


Curve = tuple[tuple[float, ...], tuple[float, ...]]  # places and means


@dataclass(frozen=True)
class Stage:
    """What a panel of the federation shows: rows of one stage of the training log, by round or step."""

    title: str
    stage: str
    by: str
    value: str
    label: str


STAGES = (
    Stage("Shared stage", "shared", "round", "task_loss", "Task loss (nats per token)"),
    Stage("Personal stage", "personal", "step", "task_loss", "Task loss (nats per token)"),
    Stage("Style alignment", "personal", "step", "cosine", "Cosine to the style target"),
)


@dataclass(frozen=True)
class Panel:
    """What a panel drew: the numbers (rows of :data:`COLUMNS`), names for the ends of lines, and a finding."""

    points: Sequence[tuple[str, str, float, float]]
    names: Sequence[tuple[float, float, str, str]] = ()
    finding: str = ""


def _draw_stage(axis: Any, stage: Stage, logs: Mapping[str, pd.DataFrame], methods: Methods) -> Panel:
    drawn = methods.identities(list(logs))
    curves: dict[Curve, list[str]] = {}
    for key in drawn:
        own = logs[key][(logs[key]["stage"] == stage.stage) & logs[key][stage.value].notna()]
        if len(own):
            curves.setdefault(_mean_curve(own, stage.by, stage.value), []).append(key)
    names = [_draw(axis, curve, keys, drawn[keys[0]], methods) for curve, keys in curves.items()]
    points = [
        (key, stage.title, place, mean)
        for curve, keys in curves.items()
        for key in keys
        for place, mean in zip(*curve, strict=True)
    ]
    axis.set(title=stage.title, xlabel={"round": "Round", "step": "Optimiser step"}[stage.by], ylabel=stage.label)
    if not curves:
        say(axis, "no values")
    last = {key: curve[1][-1] for curve, keys in curves.items() for key in keys}
    return Panel(points, names, methods.span(f"{stage.title}, last mean {stage.value.replace('_', ' ')}", last))


def _draw_base(axis: Any, losses: pd.DataFrame) -> Panel:
    steps = _averaged(losses)
    axis.plot(steps["done"] / 1e6, steps["loss"], color=BLACK, linewidth=1.3)
    axis.set(title="Base model", xlabel="Million tokens", ylabel="Task loss (nats per token)")
    return Panel([("", "Base model", done, loss) for done, loss in steps.itertuples(index=False)])


def _draw_encoders(axis: Any, encoders: Mapping[str, Sequence[float]]) -> Panel:
    points, names = [], []
    for number, (name, losses) in enumerate(encoders.items()):
        epochs = range(1, len(losses) + 1)
        axis.plot(epochs, losses, color=BLACK, linestyle=_DASHES[number % len(_DASHES)], marker=".")
        points += [("", f"Style encoder {name}", epoch, loss) for epoch, loss in zip(epochs, losses, strict=True)]
        names.append((float(len(losses)), losses[-1], name, BLACK))
    most = max(map(len, encoders.values()))
    axis.set(title="Style encoders", xlabel="Epoch", ylabel="ArcFace loss", xlim=(0.5, most + 0.5))
    return Panel(points, names)


_DASHES = ("-", "--", ":", "-.")


def _mean_curve(rows: pd.DataFrame, by: str, value: str) -> Curve:
    """Return places and means over clients; equal trajectories are equal tuples."""
    mean = rows.groupby([by, "client"])[value].mean().groupby(level=0).mean()
    # Rounds and steps count from 0 in the log, from 1 for a reader.
    return tuple(mean.index + 1.0), tuple(mean)


def _averaged(losses: pd.DataFrame) -> pd.DataFrame:
    """Return columns done and loss: the last place and the mean of at most :data:`POINTS` runs of steps."""
    group = np.arange(len(losses)) // -(-len(losses) // POINTS)
    return losses.groupby(group).agg(done=("done", "last"), loss=("loss", "mean"))


def _draw(
    axis: Any, curve: Curve, keys: Sequence[str], identity: Identity, methods: Methods
) -> tuple[float, float, str, str]:
    places, means = curve
    marker = identity.marker if len(means) == 1 else ""
    axis.plot(places, means, **identity.line, marker=marker)
    names = [methods.name(key) for key in keys]
    lines = [", ".join(names[start : start + 2]) for start in range(0, len(names), 2)]
    return places[-1], means[-1], ",\n".join(lines), identity.color


FIGURE = FigureSpec(
    title="Training curves",
    caption="Mean over clients and seeds. Methods whose stages are equal share one line, named once. Where clients "
    "take fewer steps than others, the last steps are a mean over few clients. Below: what was "
    "trained before the federation, the base model where it was pretrained and its losses were kept.",
    inputs=("training_logs", "pretraining", "encoder_manifests"),
    place=90,
    draw=draw_training_curves,
)
