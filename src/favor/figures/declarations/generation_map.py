"""Authors' generations against their own texts in the plane where these texts vary most."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLUE, GREY, VERMILION, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.foundation.vectors import unit_rows

OWN = "gold"  # the authors' own continuations of the prompts: what a method that keeps voices would look like
COLUMNS = 4


def principal_plane(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (mean [d], the two directions of most variance [2, d], their share of the variance) of rows [n, d]."""
    mean = vectors.mean(axis=0)
    _, singular, directions = np.linalg.svd(vectors - mean, full_matrices=False)
    plane = directions[:2]
    # The sign of a direction is arbitrary: its largest entry is made positive.
    plane = plane * np.sign(plane[np.arange(len(plane)), np.abs(plane).argmax(axis=1)])[:, None]
    return mean, plane, float((singular[:2] ** 2).sum() / (singular**2).sum())


def spread(centres: np.ndarray) -> float:
    """Root mean square distance of author centres [a, d] from their mean, in the whole space."""
    return float(np.sqrt(((centres - centres.mean(axis=0)) ** 2).sum(axis=1).mean()))


def draw_generation_map(data: FigureData, *paths: str | Path) -> None:
    """Draw one panel for the authors' own continuations and one for each of the ``methods``, all on the same axes.

    Outputs are those that passed the filter, of all seeds. The plane is fitted on the training texts. A line joins an
    author's source centre (open circle) to the centre of the outputs (dot). Authors stay anonymous: points carry no
    names. The number in a panel is the spread of the authors' centres over that of their own continuations, in the
    whole space.
    """
    sources, golds = data.table("source_embeddings"), data.table("gold_embeddings")
    generations, methods = data.surviving_embeddings(), data.shown
    train = sources[sources["kind"] == "train"]
    mean, plane, share = principal_plane(_rows(train))

    def flat(vectors: Iterable[np.ndarray]) -> np.ndarray:
        return (np.stack(list(vectors)) - mean) @ plane.T

    panels = {OWN: golds[golds["kind"] == "gold"]}
    panels |= {name: generations[generations["method"] == name] for name in methods.rows}
    home, centres = _centres(train), {name: _centres(outputs) for name, outputs in panels.items() if len(outputs)}
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with drawing(1.9 * columns + 0.6, 2.1 * rows + 0.6, rows=rows, columns=columns) as (figure, axes):
        spreads: dict[str, float] = {}
        for axis, (name, outputs) in zip(axes, panels.items(), strict=False):
            title = "Authors' own" if name == OWN else methods.name(name)
            axis.set_title(title, size=9)
            axis.set(xticks=[], yticks=[])
            axis.plot(
                *flat(home.values()).T, "o", color=GREY, fillstyle="none", markersize=5, markeredgewidth=0.9, zorder=2
            )
            if outputs.empty:
                say(axis, "no output passed the filter")
                continue
            color, own = VERMILION if name == OWN else BLUE, centres[name]
            axis.plot(*flat(_rows(outputs)).T, ".", color=color, alpha=0.18, markersize=3, markeredgewidth=0, zorder=1)
            for client, centre in own.items():
                axis.plot(*flat([home[client], centre]).T, color=color, linewidth=0.7, alpha=0.7, zorder=3)
            axis.plot(*flat(own.values()).T, "o", color=color, markersize=3.6, markeredgewidth=0, zorder=4)
            spreads[name] = _spread_left(own, centres[OWN])
            if not math.isnan(spreads[name]):
                axis.text(0.03, 0.03, f"spread {spreads[name]:.2f}", transform=axis.transAxes, size=7.5)
        for axis in axes[len(panels) :]:
            axis.axis("off")
        for axis in axes[1 : len(panels)]:
            axis.sharex(axes[0])
            axis.sharey(axes[0])
        # Centres fill the panels; single outputs far from all of them would squeeze these into the middle.
        shown = np.concatenate([flat(each.values()) for each in (home, *centres.values())])
        low, high = shown.min(axis=0), shown.max(axis=0)
        room = 0.15 * np.maximum(high - low, 1e-6)
        axes[0].set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))
        figure.supxlabel(f"The two directions hold {share:.0%} of the variance of the authors' training texts.", size=8)
        methods_alone = {name: value for name, value in spreads.items() if name != OWN}
        finding = methods.span("Spread of the authors' centres", methods_alone)
        records = [
            (name, *((home[client] - mean) @ plane.T), *((centre - mean) @ plane.T), spreads[name])
            for name, own in centres.items()
            for client, centre in own.items()
        ]
        columns_drawn = ["method", "texts_x", "texts_y", "outputs_x", "outputs_y", "spread"]
        save(figure, *paths, finding=finding, data=methods.named(pd.DataFrame(records, columns=columns_drawn)))


def _spread_left(centres: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray]) -> float:
    """Return the spread of centres over that of the same authors' own, or NaN where fewer than two have outputs."""
    both = [client for client in centres if client in own]
    if len(both) < 2:
        return math.nan
    return spread(np.stack([centres[name] for name in both])) / spread(np.stack([own[name] for name in both]))


def _rows(frame: pd.DataFrame) -> np.ndarray:
    return unit_rows(np.stack(list(frame["embedding"])).astype(np.float64))


def _centres(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    vectors, clients = _rows(frame), frame["client"].to_numpy()
    return {client: vectors[clients == client].mean(axis=0) for client in sorted(set(clients))}


FIGURE = FigureSpec(
    title="Authors and their generations",
    caption="The style space seen along the two directions in which the authors' training texts vary most, the same "
    "axes in every panel. Open circles are the centres of authors' training texts, dots the centres of what "
    "a method generates for them (all seeds), a line joins the two; small points are single outputs, without those far "
    "from all centres. The nearer the dots move together, the more the voices blur: the number is the spread of the "
    "centres in the whole space, over the spread of the authors' own continuations of the same prompts; what chance "
    "adds to centres of few texts is in it; the figure Homogenisation takes it out.",
    inputs=("source_embeddings", "gold_embeddings", "generation_embeddings", "generations"),
    place=21,
    draw=draw_generation_map,
)
