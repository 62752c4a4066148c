"""How distinct a method's authors are against how faithful they are: human text, shuffled authors and every method."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from favor.figures.drawing import GREY, drawing, label_beside, save, say
from favor.figures.identity import Methods
from favor.figures.specs import FigureSpec

# (metric, variants of its value and its interval's ends), and the columns of the figure's data
AXES = {
    "x": ("distinct_auc", ("", "low", "high"), "verification_auc"),
    "y": ("kept_author_accuracy", ("score", "score_low", "score_high"), "author_accuracy"),
}


def draw_distinct_faithful(
    scores: pd.DataFrame,
    style_encoder: str,
    methods: Methods,
    *paths: str | Path,
) -> None:
    """Draw the ``scores`` of the family ``voice_kept`` in the style encoder's space to each of ``paths``.

    Methods without both values are left out.
    """
    styled = scores[scores["encoder"] == style_encoder]
    values = styled.pivot_table(index="method", columns=["metric", "variant"], values="value", dropna=False)
    places = {axis: [(metric, variant) for variant in variants] for axis, (metric, variants, _) in AXES.items()}
    wanted = [place for axis in places.values() for place in axis]
    values = values.reindex(columns=pd.MultiIndex.from_tuples(wanted)).dropna()
    with drawing(6.6, 4.2) as (figure, axes):
        axis = axes[0]
        shown = [method for method in (*methods.rows, "gold", "shuffled") if method in values.index]
        if not shown:
            say(axis, "No method has both values:\nno output passed the filter.")
        labels = []
        for method, identity in methods.identities(shown).items():
            own = values.loc[method]
            found = {side: own[places[side]].to_numpy() for side in AXES}
            axis.errorbar(
                found["x"][0],
                found["y"][0],
                **{
                    f"{side}err": [[max(0.0, mean - low)], [max(0.0, high - mean)]]
                    for side, (mean, low, high) in found.items()
                },
                **identity.points,
                linestyle="none",
                elinewidth=0.6,
            )
            labels.append((found["x"][0], found["y"][0], methods.name(method), identity.color))
        axis.axvline(0.5, color=GREY, linestyle=":", linewidth=1)
        axis.set(xlabel="Distinct: verification AUC among outputs (0.5: chance)", ylabel="Faithful: author accuracy")
        axis.grid()
        figure.draw_without_rendering()
        label_beside(axis, labels)
        auc, accuracy = (values[places[side][0]].reindex(shown).to_dict() for side in ("x", "y"))
        said = (methods.extremes("Verification AUC", auc), methods.extremes("Author accuracy", accuracy))
        flat = values.reindex(shown).rename_axis(index="method")
        flat.columns = pd.Index([f"{name}{end}" for *_, name in AXES.values() for end in ("", "_low", "_high")])
        save(figure, *paths, finding=" ".join(filter(None, said)), data=methods.named(flat))


FIGURE = FigureSpec(
    title="Distinct against faithful",
    caption="To the right a method's authors are told from each other; above they are told to be the right ones. Bars "
    "are 95 % intervals over authors. A method to the right of the human text and below it writes in "
    "voices that differ and are not the authors'.",
    scores=("voice_kept",),
    place=1,
    draw=lambda data, *paths: draw_distinct_faithful(
        data.scores(),
        data.style_encoder,
        data.shown,
        *paths,
    ),
)
