"""How distinct a method's authors are against how faithful they are, by the unseen encoders and by the methods' own."""

from pathlib import Path

import pandas as pd

from favor.figures.drawing import GREY, TAB, drawing, save, say
from favor.figures.identity import Methods
from favor.figures.specs import FigureSpec
from favor.scores.metric import UNSEEN

# The metrics of an axis, and the variants of its value and its interval's ends.
AXES = {
    "x": ("distinct_auc", ("", "low", "high")),
    "y": ("kept_author_accuracy_failures_wrong", ("score", "score_low", "score_high")),
}
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


def draw_distinct_faithful(scores: pd.DataFrame, style_encoder: str, methods: Methods, *paths: str | Path) -> None:
    """Draw the ``scores`` of the family ``voice_kept`` to each of ``paths``, a panel per judge; the first one decides.

    Methods without both values are left out.
    """
    judges = {UNSEEN: "Encoders that no method has seen", style_encoder: "The methods' own encoder"}
    panels = {encoder: places(scores, encoder) for encoder in judges if (scores["encoder"] == encoder).any()}
    panels = panels or {style_encoder: places(scores, style_encoder)}
    said, data = "", []
    with drawing(5.4 * len(panels), 4.2, columns=len(panels)) as (figure, axes):
        for axis, (encoder, values) in zip(axes, panels.items(), strict=True):
            shown = [method for method in (*methods.rows, "gold", "shuffled") if method in values.index]
            if not shown:
                say(axis, "No method has both values:\nno output passed the filter.")
            axis.set_title(judges[encoder])
            axis.set_gid(f"{'unseen' if encoder == UNSEEN else 'own'}{TAB}")
            axis.set(
                xlabel="Distinct: verification AUC among outputs", ylabel="Faithful: right author, share of outputs"
            )
            axis.axvline(0.5, color=GREY, linestyle=":", linewidth=1)
            if shown:
                axis.axhline(values["chance"].iloc[0], color=GREY, linestyle=":", linewidth=1)
            methods.scatter(axis, values.loc[shown])
            said = said or " ".join(
                methods.span(what, values[side].reindex([row for row in methods.rows if row in values.index]).to_dict())
                for what, side in (("Verification AUC among outputs", "x"), ("Right author", "y"))
            )
            data.append(methods.named(values.loc[shown].rename_axis(index="method")).assign(encoder=encoder))
        save(figure, *paths, finding=said, data=pd.concat(data, ignore_index=True))


FIGURE = FigureSpec(
    title="Distinct against faithful",
    caption="Further right, authors are easier to tell apart; further up, they are recognised as themselves. Dotted: "
    "chance. Bars are 95 % intervals over authors. Lower right: distinguishable, but not shown to be the authors' own.",
    scores=("voice_kept",),
    place=1,
    draw=lambda data, *paths: draw_distinct_faithful(
        data.scores(),
        data.style_encoder,
        data.shown,
        *paths,
    ),
)
