"""How the variety of a set of texts grows with its authors: every method beside human text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from favor.paper.names import method_name
from favor.report.drawing import drawing, label_beside, save, say
from favor.report.figure_specs import FigureSpec
from favor.report.identity import identities


def draw_diversity_growth(
    scores: pd.DataFrame,
    style_encoder: str,
    methods: Sequence[str],
    *paths: str | Path,
    display: Mapping[str, str] | None = None,
    bases: Mapping[str, str] | None = None,
    references: Sequence[str] = (),
) -> None:
    """Draw the style Vendi score of the family ``diversity`` over the number of authors, means over seeds.

    ``bases`` and ``references``: of :func:`identities`. Methods without a score are left out.
    """
    own = scores[(scores["metric"] == "style_vendi") & (scores["encoder"] == style_encoder)]
    own = own[own["variant"].str.startswith("authors_")].dropna(subset="value")
    own = own.assign(authors=own["variant"].str.removeprefix("authors_").astype(int))
    found = own.groupby(["method", "authors"])["value"].agg(["mean", "count"])
    # Where an author has no output in one seed, the curves of the seeds end at different numbers.
    curves = found.loc[found["count"] == own["seed"].nunique(), "mean"]
    shown = [method for method in (*methods, "gold") if method in curves.index.get_level_values(0)]
    with drawing(6.0, 4.0) as (figure, (axis,)):
        if not shown:
            say(axis, "No method has two outputs of the common length.")
        labels = []
        for method, identity in identities(shown, bases, references).items():
            curve = curves[method]
            axis.plot(curve.index, curve.to_numpy(), **{**identity.line, **identity.points})
            name = "human text" if method == "gold" else method_name(method, display)
            labels.append((curve.index[-1], curve.iloc[-1], name, identity.color))
        if shown:
            axis.set(xlabel="Authors", ylabel="Vendi score (texts as varied as so many)", ylim=(0, None))
            axis.grid()
            figure.draw_without_rendering()
            label_beside(axis, labels)
        save(figure, *paths)


FIGURE = FigureSpec(
    title="Variety over authors",
    caption="Vendi score of the outputs of so many authors in the style space, mean over random sets of authors and "
    "over seeds. Where the curve of human text rises and a method's does not, more authors bring no more voices.",
    scores=("diversity",),
    place=31,
    draw=lambda data, *paths: draw_diversity_growth(
        data.scores(),
        data.style_encoder,
        data.methods,
        *paths,
        display=data.display,
        bases=data.bases,
        references=data.references,
    ),
)
