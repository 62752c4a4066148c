"""What a figure of an experiment is: what it reads, its caption, and what draws it, as data.

A figure is added by one file ``declarations/<name>.py`` that defines ``FIGURE = FigureSpec(...)``; every experiment
with ``figures: true`` has it. While the workflow is parsed, what a figure asks for is read from its text: drawing
imports matplotlib.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal

from favor.foundation.declarations import declared
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


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What the planner reads of a figure's file, which writes it out as plain values.

    title: printed below it in the report.
    inputs: what it reads, beside scores.
    scores: metric families whose scores it reads.
    optional: further ones that it reads where the experiment has them.
    """

    title: str
    inputs: tuple[FigureInput, ...] = ()
    scores: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FigureSpec(Declared):
    """A figure that every experiment with ``figures: true`` has.

    caption: printed below its title.
    draw: draws its data (:class:`favor.figures.data.FigureData`) to each of several paths (.svg, .pdf, .png).
    place: where it stands among the figures of the report.
    """

    caption: str
    draw: Callable[..., None]
    place: int = 100


@cache
def declared_figure(figure: str) -> Declared:
    """Return what a figure's file declares without importing it: drawing imports matplotlib.

    Raises ``UserError`` where there is no such figure, or where a value is not written out.
    """
    path = FIGURES.path(figure)
    keywords = {word.arg: word.value for word in getattr(declared(path, "FIGURE"), "keywords", ())}
    names = [field.name for field in fields(Declared) if field.name in keywords]
    try:
        return Declared(**{name: ast.literal_eval(keywords[name]) for name in names})
    except (TypeError, ValueError):
        raise UserError(
            f"{path}: FIGURE = FigureSpec(...) must write out {', '.join(field.name for field in fields(Declared))} as "
            "plain values"
        ) from None


def load_figure(figure: str) -> FigureSpec:
    """Return the specification of a figure. Raises ``UserError`` naming the nearest one."""
    spec: FigureSpec = FIGURES.load(figure).FIGURE
    return spec


def figures_in_order() -> list[str]:
    """Return the names of all figures in the order of the report."""
    return sorted(FIGURES.names(), key=lambda name: (load_figure(name).place, name))
