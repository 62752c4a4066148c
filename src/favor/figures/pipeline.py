"""The workflow's steps from raw corpora to the report, and which of them are expensive."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from favor.figures.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, drawing, save

# name: (column, row, lines, colour); columns from the left, rows from the top.
_STEPS: dict[str, tuple[float, int, str, str]] = {
    "corpora": (0, 0, "corpora\nread, clean, count", ORANGE),
    "roster": (1, 0, "splits, roster\nallocation, prompts", ORANGE),
    "encoders": (2, 0, "style encoders\nauthors of their own", GREEN),
    "model": (3, 0, "base model\nload or pretrain", BLUE),
    "federation": (0, 1, "federation\nshared rounds", BLUE),
    "personal": (1, 1, "personal stage\non the clients", VERMILION),
    "generation": (2, 1, "generation\nand quality filter", BLUE),
    "embeddings": (3, 1, "embeddings\nand text utility", GREEN),
    "scores": (0, 2, "scores\none file a family", GREY),
    "statistics": (1, 2, "statistics\nover seeds", GREY),
    "tables": (2, 2, "tables and figures\nbeside the paper's", GREY),
    "report": (3, 2, "report\nHTML and PDF", GREY),
}
_WIDTH, _HEIGHT, _ACROSS, _DOWN = 19.0, 8.0, 24.0, 15.0


def draw_pipeline(*paths: str | Path) -> None:
    """Write the figure to each of ``paths`` (.svg, .pdf, .png)."""
    with drawing(9.2, 4.1) as (figure, axes):
        axis = axes[0]
        axis.set(xlim=(-1, 3 * _ACROSS + _WIDTH + 1), ylim=(-2 * _DOWN - _HEIGHT - 1.5, 2.5))
        axis.axis("off")
        for column, row, text, color in _STEPS.values():
            _step(axis, column, row, text, color)
        names = list(_STEPS)
        for left, right in pairwise(names):
            (start, y), (end, _) = _corner(left), _corner(right)
            if _STEPS[left][1] == _STEPS[right][1]:
                _arrow(axis, [(start + _WIDTH, y - _HEIGHT / 2), (end, y - _HEIGHT / 2)])
            else:
                _wrap(axis, left, right)
        save(figure, *paths)


def _corner(name: str) -> tuple[float, float]:
    column, row, _, _ = _STEPS[name]
    return column * _ACROSS, -row * _DOWN


def _step(axis: Any, column: float, row: int, text: str, color: str) -> None:
    x, y = column * _ACROSS, -row * _DOWN - _HEIGHT
    box = FancyBboxPatch((x, y), _WIDTH, _HEIGHT, boxstyle="round,pad=0,rounding_size=1", fc="white", ec=color, lw=1.6)
    axis.add_patch(box)
    first, second = text.split("\n")
    axis.text(x + _WIDTH / 2, y + 5.4, first, ha="center", va="center", weight="bold", size=9, color=BLACK)
    axis.text(x + _WIDTH / 2, y + 2.5, second, ha="center", va="center", size=8, color=GREY)


def _wrap(axis: Any, last: str, first: str) -> None:
    (right, top), (left, below) = _corner(last), _corner(first)
    middle = (top - _HEIGHT + below) / 2
    x, y = right + _WIDTH / 2, left + _WIDTH / 2
    axis.plot([x, x, y], [top - _HEIGHT, middle, middle], color=BLACK, lw=1.2, solid_joinstyle="round")
    _arrow(axis, [(y, middle), (y, below)])


def _arrow(axis: Any, points: list[tuple[float, float]]) -> None:
    axis.add_patch(
        FancyArrowPatch(*points, arrowstyle="-|>", mutation_scale=10, color=BLACK, lw=1.2, shrinkA=0, shrinkB=0)
    )
