"""The figures of the workflow itself: one round of FAVoR with its data-locality boundary, and the pipeline's steps.

The first is after the paper's workflow figure (fig:favor_overview) and Algorithm 1.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from favor.figures.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, drawing, save


def draw_workflow(*paths: str | Path) -> None:
    """Write one round of FAVoR to each of ``paths`` (.svg, .pdf, .png): what crosses the boundary, what does not."""
    with drawing(9.6, 5.4) as (figure, axes):
        axis = axes[0]
        axis.set(xlim=(0, 96), ylim=(0, 54))
        axis.axis("off")
        _server(axis)
        _boundary(axis)
        _client(axis, 1.5, "Client 1", "author 1")
        _client(axis, 50.5, "Client 2 … N", "one author each")
        save(figure, *paths)


def _server(axis: Any) -> None:
    _box(axis, 1.5, 42.5, 93, 10.3, "#eaf2fa", BLUE, 1.4)
    axis.text(3.1, 50.6, "Server", weight="bold", color=BLUE, va="center", size=11)
    _label(axis, 22, 44, 21, 5.6, "shared adapter $A_t$", "white", BLUE)
    _label(axis, 54, 44, 24, 5.6, "mean of the shared changes", "white", BLUE)
    _arrow(axis, (54, 46.8), (43, 46.8), BLUE)
    axis.text(48.5, 48.5, "next round, $A_{t+1}$", ha="center", size=8, color=BLUE, parse_math=True)


def _boundary(axis: Any) -> None:
    axis.plot([0, 96], [37.2, 37.2], color=BLACK, linewidth=1.4, linestyle=(0, (6, 4)))
    axis.text(48, 39.4, "data-locality boundary", ha="center", va="center", size=9, color=BLACK, weight="bold")
    axis.text(48, 35.2, "only adapters cross", ha="center", va="center", size=8.5, color=BLACK)


def _client(axis: Any, left: float, name: str, who: str) -> None:
    _box(axis, left, 0.8, 44, 31.6, "#f6f8fa", GREY, 1.2)
    axis.text(left + 1.6, 30.3, name, weight="bold", size=11, va="center")
    axis.text(left + 42.4, 30.3, who, size=8.5, va="center", ha="right", color=GREY)
    _label(axis, left + 1.6, 21.4, 19, 6, "shared training\ntask loss + proximal term", "#eaf2fa", BLUE)
    _label(axis, left + 23.4, 21.4, 19, 6, "shared endpoint $A_{i,t}$", "#eaf2fa", BLUE)
    _label(axis, left + 23.4, 12.2, 19, 6, "private training\ntask loss + style alignment", "#fdeee4", VERMILION)
    _label(
        axis, left + 23.4, 2.4, 19, 6.4, "private residual\nstays on the client", "#fdeee4", VERMILION, weight="bold"
    )
    _label(axis, left + 1.6, 12.2, 13.6, 6, "style target $q_i$", "#e6f5f0", GREEN)
    _label(axis, left + 1.6, 2.4, 19, 6.4, "the author's texts", "#fdf3dc", ORANGE)
    # Across the boundary: the shared adapter comes down, only its change goes up.
    down, up = left + 14.6, left + 30
    _arrow(axis, (down, 42.5), (down, 27.4), BLUE)
    _arrow(axis, (up, 27.4), (up, 42.5), BLUE, width=2.4)
    axis.text(down - 0.8, 39.8, "$A_t$", size=8.5, color=BLUE, ha="right", va="center", parse_math=True)
    axis.text(up + 0.8, 39.8, r"$A_{i,t}-A_t$", size=8.5, color=BLUE, ha="left", va="center", parse_math=True)
    # Inside the client.
    _arrow(axis, (left + 20.6, 24.4), (left + 23.4, 24.4), BLUE)
    _arrow(axis, (left + 32.9, 21.4), (left + 32.9, 18.2), VERMILION)
    _arrow(axis, (left + 32.9, 12.2), (left + 32.9, 8.8), VERMILION)
    _arrow(axis, (left + 15.2, 15.8), (left + 23.4, 15.8), GREEN)
    _arrow(axis, (left + 6.6, 8.8), (left + 6.6, 12.2), ORANGE)
    axis.text(left + 7.4, 10.5, "style encoder", size=7.5, color=GREY, va="center")
    _arrow(axis, (left + 18.2, 8.8), (left + 18.2, 21.4), ORANGE)
    _arrow(axis, (left + 20.6, 7), (left + 23.4, 12.9), ORANGE)


# Line by line from the left, four in a line: what a step does, in two lines, and its colour.
_STEPS = (
    ("corpora\nread, clean, count", ORANGE),
    ("splits, roster\nallocation, prompts", ORANGE),
    ("style encoders\nauthors of their own", GREEN),
    ("base model\nload or pretrain", BLUE),
    ("federation\nshared rounds", BLUE),
    ("personal stage\non the clients", VERMILION),
    ("generation\nand quality filter", BLUE),
    ("embeddings\nand text utility", GREEN),
    ("scores\none file a family", GREY),
    ("statistics\nover seeds", GREY),
    ("tables and figures\nbeside the paper's", GREY),
    ("report\nHTML and PDF", GREY),
)
_WIDTH, _HEIGHT, _ACROSS, _DOWN = 19.0, 8.0, 24.0, 15.0


def draw_pipeline(*paths: str | Path) -> None:
    """Write the steps from raw corpora to the report to each of ``paths`` (.svg, .pdf, .png)."""
    with drawing(9.2, 4.1) as (figure, axes):
        axis = axes[0]
        axis.set(xlim=(-1, 3 * _ACROSS + _WIDTH + 1), ylim=(-2 * _DOWN - _HEIGHT - 1.5, 2.5))
        axis.axis("off")
        corners = [(number % 4 * _ACROSS, -(number // 4) * _DOWN) for number in range(len(_STEPS))]
        for (x, top), (text, color) in zip(corners, _STEPS, strict=True):
            y = top - _HEIGHT
            _box(axis, x, y, _WIDTH, _HEIGHT, "white", color, 1.6, rounding=1)
            first, second = text.split("\n")
            axis.text(x + _WIDTH / 2, y + 5.4, first, ha="center", va="center", weight="bold", size=9, color=BLACK)
            axis.text(x + _WIDTH / 2, y + 2.5, second, ha="center", va="center", size=8, color=GREY)
        for (left, top), (right, below) in pairwise(corners):
            if top == below:
                _arrow(axis, (left + _WIDTH, top - _HEIGHT / 2), (right, top - _HEIGHT / 2), BLACK, 1.2, 10)
                continue
            start, end, middle = left + _WIDTH / 2, right + _WIDTH / 2, (top - _HEIGHT + below) / 2
            axis.plot(
                [start, start, end], [top - _HEIGHT, middle, middle], color=BLACK, lw=1.2, solid_joinstyle="round"
            )
            _arrow(axis, (end, middle), (end, below), BLACK, 1.2, 10)
        save(figure, *paths)


def _box(
    axis: Any, x: float, y: float, width: float, height: float, face: str, edge: str, line: float, rounding: float = 0.9
) -> None:
    style = f"round,pad=0,rounding_size={rounding}"
    axis.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, fc=face, ec=edge, lw=line))


def _label(
    axis: Any, x: float, y: float, width: float, height: float, text: str, face: str, edge: str, weight: str = "normal"
) -> None:
    _box(axis, x, y, width, height, face, edge, 1.0)
    # Labels are this file's own, so formulas in them are meant.
    style = {"ha": "center", "va": "center", "size": 8.3, "weight": weight, "color": BLACK, "parse_math": True}
    axis.text(x + width / 2, y + height / 2, text, **style)


def _arrow(
    axis: Any,
    start: tuple[float, float],
    end: tuple[float, float],
    color: str,
    width: float = 1.3,
    head: float = 11,
) -> None:
    shape = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=head, color=color, lw=width, shrinkA=0, shrinkB=0
    )
    axis.add_patch(shape)
