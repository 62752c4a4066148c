"""How every figure is drawn: fonts, colours that the colour-blind can tell apart, and files with the same bytes."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from favor.figures.specs import ONE_VALUE
from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path, write_text

matplotlib.use("Agg")

# Okabe and Ito (2008): distinguishable under the common colour-vision deficiencies and by lightness in print.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#1b1f24", "#5f6873"
# Names are written in a darker shade of a point's colour: 4.5:1 on white is the least that WCAG lets be read.
_INK = {ORANGE: "#8a5f00", GREEN: "#00775a", VERMILION: "#b04e00", PURPLE: "#a2507d", SKY: "#1f76a8"}
# Shares from none to all, and signed numbers; black numbers are read on every shade.
_SHADE = "#2f8ac4"
RISING = LinearSegmentedColormap.from_list("rising", ["white", _SHADE])
DIVERGING = LinearSegmentedColormap.from_list("diverging", [VERMILION, "white", _SHADE])

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],  # as wide as one another
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
    "svg.fonttype": "none",  # text is text: it is found, copied and read aloud
    "svg.hashsalt": "favor",
    "path.simplify": True,
}

TAB = "\t"  # in a gid, between the encoder by which something is drawn ("own" or "unseen") and its method


def ink(color: str) -> str:
    """Return the colour that text has beside points of ``color``."""
    return _INK.get(color, color)


@contextmanager
def drawing(width: float, height: float, rows: int = 1, columns: int = 1) -> Iterator[tuple[Figure, Sequence[Any]]]:
    """Yield (figure, flat list of axes) of ``width`` x ``height`` inches in the project's style; closed afterwards."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
        try:
            if 1 < axes.size <= len("abcdef"):  # more panels have titles
                for letter, axis in zip("abcdef", axes.flat, strict=False):
                    place = {"xycoords": "axes fraction", "textcoords": "offset points", "xytext": (-12, 18)}
                    axis.annotate(letter, (0, 1), **place, weight="bold", size=10)
            yield figure, list(axes.flat)
        finally:
            pyplot.close(figure)


def say(axis: Any, message: str) -> None:
    """Write why there is nothing to draw in the middle of ``axis``."""
    axis.text(0.5, 0.5, message, transform=axis.transAxes, ha="center", va="center", size=8.5)


def label_beside(axis: Any, labels: Sequence[tuple[float, float, str, str]]) -> None:
    """Write names to the right of ``axis`` at the heights of their points, moved apart, each joined to its point.

    labels: (x, y, name, colour) in data units. Call it when the limits are final.
    """
    if not labels:
        return
    size = 7.5
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
            color=ink(color),
            va="center",
            arrowprops={  # to the label's left edge: it strikes no other label
                **{"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6},
                **{"shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)},
            },
        )


def _as_text(cell: object) -> object:
    """Return a cell; spreadsheets run a text that begins as a formula does, unless a mark of text stands before it."""
    return f"'{cell}" if isinstance(cell, str) and re.match(r"[=@\t\r]|[+-](?![\d.])", cell) else cell


def save(
    figure: Figure, *paths: str | Path, finding: str = "", data: pd.DataFrame | None = None, one_value: bool = False
) -> None:
    """Write ``figure`` to each of ``paths`` (.svg, .pdf, .png, .csv), without dates or names of the machine.

    finding: what the figure shows, in a sentence for those who do not see it; the SVG keeps it.
    data: the numbers that are drawn, the content of the .csv file: six significant digits, empty where there is none.
    one_value: the drawing shows one value many times, so that the report prints the sentence in its place.

    Raises ``UserError`` where a .csv file is asked for without ``data``.
    Call it inside the :func:`drawing` block that made the figure: font and hash settings are read on writing.
    """
    points = dict(_points(figure))
    for path in paths:
        suffix = Path(path).suffix.removeprefix(".")
        if suffix == "csv":
            if data is None:
                raise UserError(f"{path}: the figure does not say what it draws; give save() its numbers as data=")
            write_text(data.map(_as_text).to_csv(index=False, float_format="%.6g", lineterminator="\n"), path)
            continue
        said = {"Title": finding or None, "Description": ONE_VALUE if one_value else None}
        metadata = {
            "svg": {"Date": None, "Creator": None, **{key: text for key, text in said.items() if text}},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
            "png": {"Software": None},
        }[suffix]
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=suffix, metadata=metadata, dpi=200)
            if suffix == "svg":
                drawn = Path(temporary)
                drawn.write_text(_titled(drawn.read_text(encoding="utf-8"), points), encoding="utf-8")


def _points(figure: Figure) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield, for every point that is drawn for somebody (its ``gid``), a new gid, that name, and what it says."""
    number = count()
    for axis in figure.axes:
        bars: dict[Any, Any] = {each.lines[0]: each for each in axis.containers if isinstance(each, ErrorbarContainer)}
        for line in axis.lines:
            name, places = line.get_gid(), np.column_stack(line.get_data())
            if name is None or len(places) != 1:
                continue
            said = [f"{value:.3g}" for value in places[0]]
            if line in bars:  # of a side without a bar nothing is said: it is a place
                sides = [side for side, has in enumerate(("has_xerr", "has_yerr")) if getattr(bars[line], has)]
                ends = [each.get_segments()[0][:, side] for side, each in zip(sides, bars[line].lines[2], strict=True)]
                found = zip(sides, ends, strict=True)
                said = [f"{places[0, side]:.3g} [{low:.3g}, {high:.3g}]" for side, (low, high) in found]
            gid = f"point-{next(number)}"
            line.set_gid(gid)
            yield gid, (name, f"{name.rpartition(TAB)[2]}: {', '.join(said).replace('-', '−')}")


def _titled(svg: str, points: Mapping[str, tuple[str, str]]) -> str:
    """Return an SVG whose points name their method and say their values to whoever stays on them."""
    for gid, (name, said) in points.items():
        svg = svg.replace(f'<g id="{gid}">', f"<g {_attributes(name)}>\n<title>{escape(said)}</title>")
    # Its bars and lines belong to it, and an id stands once.
    names = {name for name, _ in points.values()}
    return re.sub(r'<g id="([^"]*)">', lambda found: _of(found, names), svg)


def _of(group: re.Match[str], names: Set[str]) -> str:
    name = unescape(group[1])
    return f"<g {_attributes(name)}>" if name in names or TAB in name else group[0]


def _attributes(gid: str) -> str:
    encoder, _, name = gid.rpartition(TAB)
    found = {"data-encoder": encoder, "data-method": name}
    return " ".join(f"{key}={quoteattr(value)}" for key, value in found.items() if value)
