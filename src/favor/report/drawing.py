"""How every figure is drawn: fonts, colours that the colour-blind can tell apart, and files with the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.figure import Figure

from favor.foundation.files import atomic_path

matplotlib.use("Agg")

# Okabe and Ito (2008): distinguishable under the common colour-vision deficiencies and by lightness in print.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW, BLACK, GREY = "#CC79A7", "#56B4E9", "#F0E442", "#1b1f24", "#6b7480"
PALETTE: tuple[str, ...] = (VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
MARKERS: tuple[str, ...] = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")

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


def save(figure: Figure, *paths: str | Path) -> None:
    """Write ``figure`` to each of ``paths`` (.svg, .pdf, .png), without dates or names of the machine.

    Call it inside the :func:`drawing` block that made the figure: font and hash settings are read on writing.
    """
    for path in paths:
        suffix = Path(path).suffix.removeprefix(".")
        metadata = {
            "svg": {"Date": None, "Creator": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
            "png": {"Software": None},
        }[suffix]
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=suffix, metadata=metadata, dpi=200)
