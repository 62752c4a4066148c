"""How distinct a method's authors are against how faithful they are, by the unseen encoders and by the methods' own."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from favor.figures.data import FigureData
from favor.figures.drawing import BLACK, GREY, TAB, drawing, ink, save, say
from favor.figures.identity import point
from favor.figures.specs import FigureSpec
from favor.paper.names import unmarked
from favor.scores.metric import UNSEEN

# The metrics of an axis, and the variants of its value and its interval's ends.
AXES = {
    "x": ("distinct_auc", ("", "low", "high")),
    "y": ("kept_author_accuracy_failures_wrong", ("score", "score_low", "score_high")),
}
JUDGES = {UNSEEN: "by encoders that no method has seen"}
OWN = "by the methods' own encoder"
OTHERS = "#9aa3ad"
FLOOR = ("kept_author_accuracy_failures_wrong", "floor")


def places(scores: pd.DataFrame, encoder: str) -> pd.DataFrame:
    """Return x, y, their ends and chance by method, from ``scores`` of voice_kept in an encoder's space."""
    values = scores[scores["encoder"] == encoder].pivot_table(
        index="method", columns=["metric", "variant"], values="value", dropna=False
    )
    names = {f"{side}{end}": (metric, variant) for side, (metric, variants) in AXES.items()
             for end, variant in zip(("", "_low", "_high"), variants, strict=True)}  # fmt: skip
    names["chance"] = FLOOR
    found = values.reindex(columns=pd.MultiIndex.from_tuples(list(names.values())))
    return found.set_axis(list(names), axis=1).dropna()


def draw_distinct_faithful(data: FigureData, *paths: str | Path) -> None:
    """Draw the ``scores`` of the family ``voice_kept`` to each of ``paths``, a panel per method.

    The most faithful comes first. Judges are the unseen encoders and the methods' own; the first decides. Methods
    without both values are left out.
    """
    scores, methods = data.scores(), data.shown
    judges = [each for each in (UNSEEN, data.style_encoder) if (scores["encoder"] == each).any()] or [
        data.style_encoder
    ]
    found = {encoder: places(scores, encoder) for encoder in judges}
    first, values = next(iter(found.items()))
    shown = values.loc[[row for row in methods.rows if row in values.index], "y"]
    order = [str(row) for row in shown.sort_values(ascending=False, kind="stable").index]
    columns = max(1, min(5, len(order)))
    rows = max(1, math.ceil(len(order) / columns))
    size = (1.75 * columns + 0.6, 1.75 * rows + 0.9) if order else (5.4, 3.0)
    people = [row for row in ("gold", "shuffled") if row in values.index]
    with drawing(*size, rows=rows, columns=columns) as (figure, axes):
        looks = methods.identities([*order, *people])
        drawn = pd.concat([judged.reindex([*order, *people]) for judged in found.values()])
        limits = [(drawn[f"{side}_low"].min() - 0.03, drawn[f"{side}_high"].max() + 0.03) for side in AXES]
        for axis, method in zip(axes, order, strict=False):
            axis.set_title(methods.name(method), color=ink(looks[method].color), size=8.5)
            axis.axvline(0.5, color=GREY, linestyle=":", linewidth=1)
            axis.axhline(values["chance"].iloc[0], color=GREY, linestyle=":", linewidth=1)
            axis.plot(values.loc[shown.index, "x"], shown, "o", color=OTHERS, markersize=3, zorder=1)
            for row in people:
                axis.plot(*values.loc[row, ["x", "y"]], looks[row].marker, color=BLACK, markersize=4, zorder=1)
            for encoder, judged in found.items():
                if method in judged.index:
                    kind = "unseen" if encoder == UNSEEN else "own"
                    look = {"color": looks[method].color, "gid": f"{kind}{TAB}{unmarked(methods.name(method))}"}
                    mark = {"marker": "o", "markersize": 6} if encoder == first else {"marker": "D", "markersize": 3.5}
                    mark["markerfacecolor"] = look["color"] if encoder == first else "white"
                    point(axis, judged.loc[method], **look, **mark, elinewidth=1 if encoder == first else 0.6)
            axis.set(xlim=limits[0], ylim=limits[1])
            axis.locator_params(nbins=4)
            axis.tick_params(labelsize=7)
        for axis in axes[len(order) :] if order else ():
            axis.set_axis_off()
        if order:
            figure.supxlabel("Distinct: verification AUC among outputs", size=9)
            figure.supylabel("Faithful: right author, share of outputs", size=9)
            figure.legend(handles=_legend(list(found), people), loc="outside upper center", ncols=5, fontsize=7.5)
        else:
            say(axes[0], "No method has both values:\nno output passed the filter.")
        drawn_values = values.loc[order]
        said = {"Verification AUC among outputs": drawn_values["x"], "Right author": drawn_values["y"]}
        numbers = [
            judged.reindex([row for row in (*order, *people) if row in judged.index]).assign(encoder=encoder)
            for encoder, judged in found.items()
        ]
        named = pd.concat([methods.named(each.rename_axis(index="method")) for each in numbers], ignore_index=True)
        save(figure, *paths, finding=methods.spans(said), data=named)


def _legend(judges: Sequence[str], people: Sequence[str]) -> list[Line2D]:
    looks: list[dict[str, Any]] = [{"marker": "o"}, {"marker": "D", "markerfacecolor": "white", "markersize": 4}]
    entries = [(JUDGES.get(judge, OWN), BLACK, look) for judge, look in zip(judges, looks, strict=False)]
    entries += [("other methods", OTHERS, {"marker": "o", "markersize": 3})]
    entries += [
        (text, BLACK, {"marker": marker, "markersize": 4})
        for row, text, marker in (("gold", "own continuations", "d"), ("shuffled", "shuffled authors", "x"))
        if row in people
    ]
    return [Line2D([], [], linestyle="none", color=color, label=text, **look) for text, color, look in entries]


FIGURE = FigureSpec(
    title="Distinct against faithful",
    caption="A panel per method, the most faithful first. Further right, authors are easier to tell apart; further up, "
    "they are recognised as themselves. Dotted: chance. Bars are 95 % intervals over authors. Lower right: "
    "distinguishable, but not shown to be the authors' own.",
    scores=("voice_kept",),
    place=1,
    draw=draw_distinct_faithful,
)
