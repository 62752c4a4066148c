"""Scores over the temperature of sampling: a line per method, from its rows that differ in generation alone."""

from collections.abc import Hashable
from pathlib import Path

import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import drawing, save, say
from favor.figures.specs import FigureSpec

# Metric, printed label, whether it is taken in the style encoder's space.
PANELS = (
    ("author_accuracy", "Author accuracy", True),
    ("target_similarity", "Target similarity", True),
    ("generated_auc", "Verif. AUC", True),
    ("distinct_samples", "Distinct-k", False),
)


def draw_temperature(data: FigureData, *paths: str | Path) -> None:
    """Draw the metrics of :data:`PANELS` over temperature to ``paths``; bars are the spread over seeds.

    ``sampling``: temperature and top_p by row. Rows of one method that draw from all tokens (top_p 1) make its line;
    the others are hollow points. Methods with one temperature alone are left out.
    """
    scores, sampling, methods = data.scores(), data.sampling, data.shown
    rows = pd.DataFrame(
        [
            (row, methods.bases.get(row, row), temperature, top_p < 1)
            for row, (temperature, top_p) in sampling.items()
            if row in methods.rows
        ],
        columns=["method", "base", "temperature", "nucleus"],
    )
    rows = rows[rows.groupby("base")["temperature"].transform("nunique") > 1]
    # A method is drawn and named as the row of its own name, or else as its first row.
    named: dict[str, str] = {}
    for base, row in zip(rows["base"], rows["method"], strict=True):
        named[base] = base if base == row else named.get(base, row)
    found = methods.identities(list(named.values()))
    said: dict[str, dict[Hashable, float]] = {}
    drawn: list[pd.DataFrame] = []
    with drawing(7.4, 5.4, rows=2, columns=2) as (figure, axes):
        for panel, (metric, label, spaced) in zip(axes, PANELS, strict=True):
            own = scores[
                (scores["metric"] == metric)
                & (scores["variant"] == "")
                & (scores["encoder"] == (data.style_encoder if spaced else ""))
            ]
            over_seeds = own.groupby("method")["value"].agg(["mean", "std"]).reset_index()
            values = rows.merge(over_seeds, on="method").dropna(subset="mean")
            drawn.append(values.assign(metric=metric))
            if values.empty:
                say(panel, f"No row has a value of {label}.")
            for base, row in named.items():
                for nucleus, part in values[values["base"] == base].sort_values("temperature").groupby("nucleus"):
                    line = {"linestyle": "none"} if nucleus else found[row].line
                    panel.errorbar(
                        part["temperature"],
                        part["mean"],
                        yerr=part["std"].fillna(0.0),
                        **{**line, **found[row].points, "markerfacecolor": "white" if nucleus else found[row].color},
                        elinewidth=1,
                        capsize=2,
                        label=methods.name(row) if panel is axes[0] and not nucleus else None,
                    )
            said[label] = values.set_index("method")["mean"].to_dict()
            panel.set(xlabel="Temperature (0: greedy)", ylabel=label)
            panel.margins(x=0.08)
            panel.grid(axis="y")
        if named:
            figure.legend(loc="outside upper center", ncols=len(named))
        columns = ["method", "metric", "temperature", "nucleus", "mean", "std"]
        numbers = pd.concat(drawn, ignore_index=True)[columns]
        save(figure, *paths, finding=methods.spans(said), data=methods.named(numbers))


FIGURE = FigureSpec(
    title="Scores over temperature",
    caption="Rows of one method that differ in generation alone, over the temperature that tokens are drawn with; at 0 "
    "the most probable token is taken, and Distinct-k needs several samples. Hollow: drawn among the most probable "
    "tokens alone (top-p). Bars are standard deviations over seeds.",
    inputs=("sampling",),
    scores=("prototypes", "verification", "samples"),
    place=55,
    draw=draw_temperature,
)
