"""Training curves: the shared stage over the rounds, the personal stage, and what was trained before them."""

from collections.abc import Mapping, Sequence
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
        for axis, (_, names, _) in zip(shown, drawn, strict=True):
            label_beside(axis, names)
        finding = " ".join(said for _, _, said in drawn if said)
        numbers = pd.DataFrame([point for points, _, _ in drawn for point in points], columns=COLUMNS)
        save(figure, *paths, finding=finding, data=methods.named(numbers))


Curve = tuple[tuple[float, ...], tuple[float, ...]]  # places and means
Points = Sequence[tuple[str, str, float, float]]  # rows of :data:`COLUMNS`
Names = Sequence[tuple[float, float, str, str]]  # of the ends of lines, as label_beside takes them
# Panels of the federation: title, stage of the training log, by round or step, what of it, and its label.
STAGES = (
    ("Shared stage", "shared", "round", "task_loss", "Task loss (nats per token)"),
    ("Personal stage", "personal", "step", "task_loss", "Task loss (nats per token)"),
    ("Style alignment", "personal", "step", "cosine", "Cosine to the style target"),
)


def _draw_stage(
    axis: Any, panel: tuple[str, str, str, str, str], logs: Mapping[str, pd.DataFrame], methods: Methods
) -> tuple[Points, Names, str]:
    """Draw a panel of :data:`STAGES`; return its numbers, the names of its lines and a finding."""
    title, stage, by, value, label = panel
    drawn = methods.identities(list(logs))
    curves: dict[Curve, list[str]] = {}
    for key in drawn:
        own = logs[key][(logs[key]["stage"] == stage) & logs[key][value].notna()]
        if len(own):
            curves.setdefault(_mean_curve(own, by, value), []).append(key)
    names = [_draw(axis, curve, keys, drawn[keys[0]], methods) for curve, keys in curves.items()]
    points = [
        (key, title, place, mean)
        for curve, keys in curves.items()
        for key in keys
        for place, mean in zip(*curve, strict=True)
    ]
    axis.set(title=title, xlabel={"round": "Round", "step": "Optimiser step"}[by], ylabel=label)
    if not curves:
        say(axis, "no values")
    last = {key: curve[1][-1] for curve, keys in curves.items() for key in keys}
    return points, names, methods.span(f"{title}, last mean {value.replace('_', ' ')}", last)


def _draw_base(axis: Any, losses: pd.DataFrame) -> tuple[Points, Names, str]:
    steps = _averaged(losses)
    axis.plot(steps["done"] / 1e6, steps["loss"], color=BLACK, linewidth=1.3)
    axis.set(title="Base model", xlabel="Million tokens", ylabel="Task loss (nats per token)")
    return [("", "Base model", done, loss) for done, loss in steps.itertuples(index=False)], (), ""


def _draw_encoders(axis: Any, encoders: Mapping[str, Sequence[float]]) -> tuple[Points, Names, str]:
    points, names = [], []
    for number, (name, losses) in enumerate(encoders.items()):
        epochs = range(1, len(losses) + 1)
        axis.plot(epochs, losses, color=BLACK, linestyle=_DASHES[number % len(_DASHES)], marker=".")
        points += [("", f"Style encoder {name}", epoch, loss) for epoch, loss in zip(epochs, losses, strict=True)]
        names.append((float(len(losses)), losses[-1], name, BLACK))
    most = max(map(len, encoders.values()))
    axis.set(title="Style encoders", xlabel="Epoch", ylabel="ArcFace loss", xlim=(0.5, most + 0.5))
    return points, names, ""


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
