"""Style retention against utility: every method with its spread over seeds, references as lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.drawing import GREY, drawing, label_beside, save
from favor.figures.identity import Methods
from favor.figures.specs import FigureSpec


def draw_retention_utility(
    scores: pd.DataFrame,
    style_encoder: str,
    methods: Methods,
    *paths: str | Path,
    retention: str = "author_accuracy",
    utility: str = "semantic_similarity",
    utility_encoder: str = "",
) -> None:
    """Draw the ``scores`` of the ``methods`` (and of the controls, where scored) to each of ``paths``.

    ``style_encoder``: encoder key of ``retention``; ``utility_encoder``: of ``utility``. Methods without both values
    are left out of the drawing; where none has both, it says so.
    """
    across = _summary(scores, utility, utility_encoder)
    up = _summary(scores, retention, style_encoder)
    shown = [method for method in methods.rows if method in across.index and method in up.index]
    with drawing(6.6, 4.0) as (figure, axes):
        axis = axes[0]
        if not shown:
            # Every output of every method failed the filter: a result to see, not a reason to stop.
            message = f"No method has both {retention} and {utility}:\nno output passed the filter."
            axis.text(0.5, 0.5, message, ha="center", va="center", transform=axis.transAxes)
        labels = []
        for method, identity in methods.identities(shown).items():
            places = {"x": across["mean"][method], "y": up["mean"][method]}
            spreads = {"xerr": np.nan_to_num(across["std"][method]), "yerr": np.nan_to_num(up["std"][method])}
            axis.errorbar(
                **places,
                **spreads,
                **identity.points,
                linestyle="none",
                elinewidth=0.8,
            )
            labels.append((places["x"], places["y"], methods.name(method), identity.color))
        for control in ("gold", "shuffled"):
            if control in up.index:
                level = up.loc[control, "mean"]
                axis.axhline(level, color=GREY, linestyle=":", linewidth=1.2, zorder=1)
                place = {"xy": (0, level), "xycoords": ("axes fraction", "data"), "ha": "left", "va": "bottom"}
                axis.annotate(
                    methods.name(control), **place, size=7.5, color=GREY, xytext=(2, 1), textcoords="offset points"
                )
        axis.set(xlabel=_LABELS.get(utility, utility), ylabel=_LABELS.get(retention, retention))
        axis.margins(0.12)
        axis.grid()
        figure.draw_without_rendering()
        label_beside(axis, labels)
        said = (
            methods.extremes(_LABELS.get(name, name), found["mean"].reindex(shown).to_dict())
            for name, found in ((retention, up), (utility, across))
        )
        controls = [control for control in ("gold", "shuffled") if control in up.index]
        data = up.add_prefix(f"{retention}_").join(across.add_prefix(f"{utility}_")).reindex([*shown, *controls])
        finding = " ".join(filter(None, said))
        save(figure, *paths, finding=finding, data=methods.named(data.rename_axis(index="method")))


_LABELS = {
    "author_accuracy": "Author accuracy",
    "author_macro_f1": "Author macro-F1",
    "generated_auc": "Verification AUC",
    "semantic_similarity": "Semantic similarity",
    "bertscore_f1": "BERTScore F1",
}


def _summary(scores: pd.DataFrame, metric: str, encoder: str) -> pd.DataFrame:
    rows = scores[(scores["metric"] == metric) & (scores["encoder"] == encoder) & (scores["variant"] == "")]
    return rows.dropna(subset="value").groupby("method")["value"].agg(["mean", "std"])


FIGURE = FigureSpec(
    title="Style retention against utility",
    caption="Mean over seeds; bars are sample standard deviations. Dotted lines are references of retention alone.",
    scores=("prototypes", "utility"),
    place=20,
    draw=lambda data, *paths: draw_retention_utility(
        data.scores(),
        data.style_encoder,
        data.shown,
        *paths,
    ),
)
