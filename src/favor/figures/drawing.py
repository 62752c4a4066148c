"""How every figure is drawn: fonts, colours that the colour-blind can tell apart, and files with the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib import pyplot
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path, write_text

matplotlib.use("Agg")

# Okabe and Ito (2008): distinguishable under the common colour-vision deficiencies and by lightness in print.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW, BLACK, GREY = "#CC79A7", "#56B4E9", "#F0E442", "#1b1f24", "#6b7480"
# Shares from none to all, and signed numbers, in the colours of the points.
RISING = LinearSegmentedColormap.from_list("rising", ["white", BLUE])
DIVERGING = LinearSegmentedColormap.from_list("diverging", [VERMILION, "white", BLUE])

_STYLE = {
    "font.family": "DejaVu Sans",
    "text.parse_math": False,  # a title with $ is text
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.axisbelow": True,
    "grid.color": "#d7dce2",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "favor",
    "path.simplify": True,
}


@contextmanager
def drawing(width: float, height: float, rows: int = 1, columns: int = 1) -> Iterator[tuple[Figure, Sequence]]:
    """Yield (figure, flat list of axes) of ``width`` x ``height`` inches in the project's style; closed afterwards."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
        try:
            yield figure, list(axes.flat)
        finally:
            pyplot.close(figure)


def say(axis: Any, message: str) -> None:
    """Write why there is nothing to draw in the middle of ``axis``."""
    axis.text(0.5, 0.5, message, transform=axis.transAxes, ha="center", va="center", size=8.5)


def label_beside(axis: Any, labels: Sequence[tuple[float, float, str, str]], size: float = 7.5) -> None:
    """Write names to the right of ``axis`` at the heights of their points, moved apart, each joined to its point.

    labels: (x, y, name, colour) in data units. Call it when the limits are final.
    """
    if not labels:
        return
    line = 1.25 * size / 72 / (axis.figure.get_figheight() * axis.get_position().height)
    ordered = sorted(labels, key=lambda entry: entry[1])
    halves = [0.5 * line * (1 + name.count("\n")) for _, _, name, _ in ordered]
    places = [float(axis.transLimits.transform((x, y))[1]) for x, y, _, _ in ordered]
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + halves[number - 1] + halves[number])
    # What was pushed out at the top is pushed back, and those below it with it.
    limit = max(1.0, 2 * sum(halves) - halves[0])
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], limit)
        limit = places[number] - halves[number] - (halves[number - 1] if number else 0.0)
    for (x, y, name, color), height in zip(ordered, places, strict=True):
        axis.annotate(
            name,
            xy=(x, y),
            xytext=(1.06, height),
            textcoords="axes fraction",
            annotation_clip=False,
            size=size,
            color=color,
            va="center",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 1, "shrinkB": 3},
        )


def save(figure: Figure, *paths: str | Path, finding: str = "", data: pd.DataFrame | None = None) -> None:
    """Write ``figure`` to each of ``paths`` (.svg, .pdf, .png, .csv), without dates or names of the machine.

    finding: what the figure shows, in a sentence for those who do not see it; the SVG keeps it.
    data: the numbers that are drawn, the content of the .csv file: six significant digits, empty where there is none.

    Raises ``UserError`` where a .csv file is asked for without ``data``.
    Call it inside the :func:`drawing` block that made the figure: font and hash settings are read on writing.
    """
    for path in paths:
        suffix = Path(path).suffix.removeprefix(".")
        if suffix == "csv":
            if data is None:
                raise UserError(f"{path}: the figure does not say what it draws; give save() its numbers as data=")
            write_text(data.to_csv(index=False, float_format="%.6g", lineterminator="\n"), path)
            continue
        metadata = {
            "svg": {"Date": None, "Creator": None, **({"Title": finding} if finding else {})},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
            "png": {"Software": None},
        }[suffix]
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=suffix, metadata=metadata, dpi=200)
