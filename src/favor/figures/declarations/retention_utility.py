"""Style retention against utility: how much of the voice is left, and how near the text is to what the author meant."""

import re
from pathlib import Path

from favor.figures.data import FigureData
from favor.figures.declarations.distinct_faithful import places
from favor.figures.drawing import GREY, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.scores.metric import UNSEEN


def draw_retention_utility(data: FigureData, *paths: str | Path) -> None:
    """Draw ``scores`` of voice_kept and utility to each of ``paths``, by the unseen encoders where there are any.

    Methods without both values are left out of the drawing; where none has both, it says so.
    """
    scores, methods = data.scores(), data.shown
    judge = UNSEEN if (scores["encoder"] == UNSEEN).any() else data.style_encoder
    likeness = scores[scores["metric"] == "semantic_similarity"].groupby(["variant", "method"])["value"].mean()
    across = {name: likeness.get(variant) for name, variant in (("x", ""), ("x_low", "low"), ("x_high", "high"))}
    values = places(scores, judge)[["y", "y_low", "y_high", "chance"]].assign(**across).dropna()
    shown = [method for method in methods.rows if method in values.index]
    with drawing(6.6, 4.0) as (figure, axes):
        axis = axes[0]
        if not shown:
            # Every output of every method failed the filter: a result to see, not a reason to stop.
            say(axis, "No method has both values:\nno output passed the filter.")
        else:
            axis.axhline(values["chance"].iloc[0], color=GREY, linestyle=":", linewidth=1)
        axis.set(xlabel="Semantic similarity", ylabel="Right author, share of outputs")
        axis.margins(0.12)
        methods.scatter(axis, values.loc[shown])
        found = values.loc[shown]
        said = {"Right author": found["y"], "Semantic similarity": found["x"]}
        numbers = found.rename(columns=lambda place: re.sub("^x", "semantic_similarity", re.sub("^y", "right", place)))
        save(figure, *paths, finding=methods.spans(said), data=methods.named(numbers.rename_axis(index="method")))


FIGURE = FigureSpec(
    title="Style retention against utility",
    caption="Up: more outputs are attributed to their author; right: nearer in meaning to the author's own text. Means "
    "over seeds. Bars are 95 % intervals over authors, the dotted line is chance.",
    scores=("voice_kept", "utility"),
    place=20,
    draw=draw_retention_utility,
)
