"""Metrics over the points of a sweep: a line per method, with the spread over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from favor.foundation.errors import UserError
from favor.report.cells import printed
from favor.report.drawing import drawing, save, say
from favor.report.escape import minus
from favor.report.identity import Methods
from favor.report.sweeps import Point

_COLUMNS = 3


def sweep_label(metric: str, labels: Mapping[str, str]) -> str:
    """Return what names a metric on its axis, and its variant where it has one, "Text AUC (upload)"."""
    name, _, variant = metric.partition(":")
    return f"{labels.get(name, name)} ({variant})" if variant else labels.get(name, name)


def draw_sweep(
    scores: pd.DataFrame,
    points: Sequence[Point],
    metrics: Mapping[str, str],
    style_encoder: str,
    methods: Methods,
    *paths: str | Path,
    axis: str = "",
) -> None:
    """Draw the table ``sweep_scores`` to each of ``paths``: a panel for each of ``metrics`` (name -> printed label).

    Drawn are the methods that ran at two points or more. A name may carry a variant, "text_auc:upload".

    Metrics with a space of their own are taken in that of ``style_encoder``. Points stand at their values where all
    have one, evenly spaced otherwise. Raises ``UserError`` for a metric that was not scored.
    """
    numeric = all(point.value is not None for point in points)
    places = [float(point.value if numeric and point.value is not None else n) for n, point in enumerate(points)]
    labels = [point.label for point in points]
    width = (max(places) - min(places)) or 1.0
    several = scores.groupby("method")["point"].nunique() >= min(2, len(points))
    shown = [method for method in methods.rows if several.get(method, False)]
    columns = min(_COLUMNS, len(metrics))
    rows = -(-len(metrics) // columns)
    inches = 3.1 * columns + 0.6
    # As many names beside one another as the drawing is wide.
    longest = max((len(methods.name(method)) for method in shown), default=0)
    beside = max(1, min(len(shown), int(inches / (0.07 * longest + 0.6))))
    height = 2.7 * rows + 0.3 + 0.2 * -(-len(shown) // beside)
    said: list[str] = []
    drawn: list[pd.DataFrame] = []
    with drawing(inches, height, rows, columns) as (figure, axes):
        for panel, (metric, label) in zip(axes, metrics.items(), strict=False):
            name, _, variant = metric.partition(":")
            own = scores[(scores["metric"] == name) & (scores["variant"] == variant)]
            own = own[own["encoder"].isin([style_encoder, ""])]
            if own.empty:
                raise UserError(f"sweeps: no table of the sweep scores the figure's metric '{metric}'; name another")
            if own["value"].isna().all():
                say(panel, f"No value of {label}:\n{own['note'].iloc[0]}.")
            for number, (method, identity) in enumerate(methods.identities(shown).items()):
                values = own[own["method"] == method].groupby("point")["value"].agg(["mean", "std"]).reindex(labels)
                known = values["mean"].notna().to_numpy()
                offset = 0.015 * width * (number - (len(shown) - 1) / 2)
                panel.errorbar(
                    [place + offset for place, there in zip(places, known, strict=True) if there],
                    values["mean"][known],
                    yerr=values["std"][known].fillna(0.0),
                    **{**identity.line, **identity.points},
                    elinewidth=1,
                    capsize=2,
                    label=methods.name(method) if panel is axes[0] else None,
                )
            over_seeds = own[own["method"].isin(shown)].groupby(["method", "point"])["value"].agg(["mean", "std"])
            drawn.append(over_seeds.reset_index().assign(metric=metric))
            said += _finding(label, own[own["method"].isin(shown)], methods)
            panel.set_xticks(places, [label.replace(" (", "\n(") for label in labels])
            panel.set(ylabel=label, xlabel=axis)
            panel.margins(x=0.08)
            panel.grid(axis="y")
        for panel in axes[len(metrics) :]:
            panel.set_axis_off()
        if shown:
            figure.legend(loc="outside upper center", ncols=beside)
        else:
            say(axes[0], "No method ran at two points.")
        save(figure, *paths, finding=" ".join(said), data=methods.named(pd.concat(drawn, ignore_index=True)))


def _finding(label: str, values: pd.DataFrame, methods: Methods) -> list[str]:
    """Return a sentence on the highest and the lowest mean over seeds among methods and points, where there are two."""
    means = values.groupby(["method", "point"])["value"].mean().dropna()
    if len(means) < 2:
        return []
    places: list[tuple[str, str]] = list(means.index)
    ends = (
        f"{word} {methods.name(method)} at {point} ({minus(printed(means[method, point], 2))})"
        for word, (method, point) in (("highest", places[means.argmax()]), ("lowest", places[means.argmin()]))
    )
    return [f"{label}: {', '.join(ends)}."]
