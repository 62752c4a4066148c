"""Validation loss over learning rates: what ``favor tune`` tried on other authors, and what it chose."""

from pathlib import Path

import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import drawing, save, say
from favor.figures.specs import FigureSpec


def draw_tuning(data: FigureData, *paths: str | Path) -> None:
    """Draw ``points`` (:class:`favor.federation.settings.TunedPoint`) to each of ``paths``, a panel per stage.

    A line is a row, at every rate with the passes of the lowest loss; a large point is what was chosen.
    """
    points, methods = data.tuned, data.shown
    tried = pd.DataFrame(points).rename(columns={"row": "method"})
    best = tried.loc[tried.groupby(["method", "stage", "learning_rate"])["loss"].idxmin()]
    with drawing(9.0, 3.9, columns=2) as (figure, axes):
        for panel, stage in zip(axes, ("shared", "personal"), strict=True):
            own = best[best["stage"] == stage]
            if own.empty:
                say(panel, f"No row has a {stage} stage.")
            shown = [row for row in methods.rows if row in set(own["method"])]
            for method, identity in methods.identities(shown).items():
                line = own[own["method"] == method]
                look = {**identity.line, **identity.points, "markersize": 4}
                panel.plot(line["learning_rate"], line["loss"], **look, label=methods.name(method))
                chosen = line[line["chosen"]]
                panel.plot(chosen["learning_rate"], chosen["loss"], **{**look, "markersize": 9, "linestyle": "none"})
            panel.set(xscale="log", xlabel="Learning rate", ylabel="Validation loss (nats per token)")
            rates = sorted(set(own["learning_rate"]))
            panel.set_xticks(rates, [f"{rate:g}" for rate in rates], rotation=45)
            panel.minorticks_off()
            panel.set_title(f"{stage.capitalize()} stage", size=9)
            panel.grid(axis="y")
        labels = {label: line for panel in axes for line, label in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(labels.values(), labels.keys(), loc="outside upper center", ncols=4)
        said = f"{len(tried)} points of {tried['method'].nunique()} methods were tried."
        save(figure, *paths, finding=said, data=methods.named(tried))


FIGURE = FigureSpec(
    title="Learning rates that were tried",
    caption="Mean validation loss over authors who are not this experiment's, at every learning rate with the best "
    "number of passes; large points were chosen. Losses of the two stages are of different models.",
    inputs=("tuned",),
    place=95,
    draw=draw_tuning,
)
