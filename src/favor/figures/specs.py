"""What a figure of an experiment is: what it reads, its caption, and what draws it, as data.

A figure is added by one file ``declarations/<name>.py`` that defines ``FIGURE = FigureSpec(...)``; every experiment
with ``figures: true`` has it. While the workflow is parsed, what a figure asks for is read from its text: drawing
imports matplotlib.
"""

import ast
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from favor.foundation.errors import UserError
from favor.foundation.registry import FIGURES

# What a figure may ask for, of its experiment; favor.figures.data says which tables these are.
FigureInput = Literal[
    "training_logs",
    "pretraining",  # the loss of every step of the base model, where a run kept it
    "encoder_manifests",  # of the encoders that were trained here
    "allocation",
    "source_embeddings",  # the clients' human texts in the style encoder's space
    "gold_embeddings",  # their own continuations of the prompts
    "generation_embeddings",  # all outputs
    "generations",  # the outputs of every run
    "coordinate_effects",
    "adapter_energy",
    "participation",
    "evidence",  # every pair of rows, compared
    "tuned",  # what ``favor tune`` tried; the figure is drawn where it chose
    "sampling",  # temperature and top_p of every row; the figure is drawn where rows of one method differ in them
]

ONE_VALUE = "one value"  # what the SVG of a drawing that shows one value many times says of itself


@dataclass(frozen=True)
class FigureSpec:
    """A figure that every experiment with ``figures: true`` has.

    title, caption: printed below it in the report.
    draw: draws its data (:class:`favor.figures.data.FigureData`) to each of several paths (.svg, .pdf, .png).
    inputs: what it reads, beside scores.
    scores: metric families whose scores it reads.
    optional: further ones that it reads where the experiment has them.
    place: where it stands among the figures of the report.
    """

    title: str
    caption: str
    draw: Callable[..., None]
    inputs: tuple[FigureInput, ...] = ()
    scores: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    place: int = 100


@cache
def asked(figure: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (inputs, metric families) that a figure's file asks for, without importing it.

    Raises ``UserError`` where there is no such figure, or where these are not written out as tuples of texts.
    """
    return tuple(_written(figure, "inputs", ())), tuple(_written(figure, "scores", ()))


@cache
def asked_optionally(figure: str) -> tuple[str, ...]:
    """Return the metric families that a figure reads where the experiment has them, without importing its file."""
    return tuple(_written(figure, "optional", ()))


def title_of(figure: str) -> str:
    """Return a figure's title without importing its file. Raises ``UserError`` where it is not written out."""
    return str(_written(figure, "title", figure))


def _written(figure: str, key: str, default: Any) -> Any:
    """Return the plain value of one key of ``FIGURE = FigureSpec(...)``, or ``default`` where it is left out."""
    path = FIGURES.path(figure)
    keywords = _keywords(path.read_text(encoding="utf-8"))
    with suppress(ValueError):
        if keywords is not None:
            return ast.literal_eval(keywords[key]) if key in keywords else default
    raise UserError(
        f"{path}: FIGURE = FigureSpec(...) must write out 'title', 'inputs', 'scores' and 'optional' as plain values"
    )


@cache
def _keywords(source: str) -> dict[str | None, ast.expr] | None:
    """Return what a figure's file passes to ``FIGURE``; None where it defines none."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FIGURE":
            return {word.arg: word.value for word in getattr(node.value, "keywords", ())}
    return None


def load_figure(figure: str) -> FigureSpec:
    """Return the specification of a figure. Raises ``UserError`` naming the nearest one."""
    spec: FigureSpec = FIGURES.load(figure).FIGURE
    return spec


def figures_in_order() -> list[str]:
    """Return the names of all figures in the order of the report."""
    return sorted(FIGURES.names(), key=lambda name: (load_figure(name).place, name))
