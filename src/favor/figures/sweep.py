"""Metrics over the points of a sweep: a line per method, or per series, with intervals or the spread over seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, drawing, save, say
from favor.figures.identity import Identity, Methods
from favor.foundation.errors import UserError
from favor.tables.cells import printed
from favor.tables.escape import minus
from favor.tables.settings import PointPlace

_COLUMNS = 3
_DRAWN = list(zip((BLACK, BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY), "osv^DPXh", strict=True))


def sweep_label(metric: str, labels: Mapping[str, str]) -> str:
    """Return what names a metric on its axis, and its variant where it has one, "Text AUC (upload)"."""
    name, _, variant = metric.partition(":")
    return f"{labels.get(name, name)} ({variant})" if variant else labels.get(name, name)


def draw_sweep(
    scores: pd.DataFrame,
    points: Sequence[PointPlace],
    metrics: Mapping[str, str],
    style_encoders: Mapping[str, str],
    methods: Methods,
    *paths: str | Path,
    axis: str = "",
    ordered: bool = True,
) -> None:
    """Draw the table ``sweep_scores`` to each of ``paths``: a panel for each of ``metrics`` (name -> printed label).

    Drawn are the methods that ran at two points or more. A name may carry a variant, "text_auc:upload". Bars of a panel
    are the 95 % intervals that were scored with its metric; of a metric without any, the standard deviation over seeds.

    Metrics with a space of their own are taken in that of the point's style encoder (``style_encoders``, by label).
    A panel says how many of its means lack seeds, and the SVG's title which.

    Points stand at their values where all have one, evenly spaced otherwise. Lines join them if they are ``ordered``.
    Where every point has a ``series`` and a ``value``, a panel is of one method and metric, and a line of a series.
    Raises ``UserError`` for a metric that was not scored.
    """
    if any(point.series for point in points):
        scores, points, metrics, methods = _in_series(scores, points, metrics, style_encoders, methods)
    numeric = all(point.value is not None for point in points)
    places = [float(point.value if numeric and point.value is not None else n) for n, point in enumerate(points)]
    labels = [point.label for point in points]
    # At 9 points a letter takes about 0.075 inches, and a panel leaves 2.4 to its names.
    crowded = not numeric and 0.075 * sum(len(label.split(" (")[0]) + 1 for label in labels) > 2.4
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
    # Points may have style encoders of their own, as draws of other authors do.
    in_space = (scores["encoder"] == "") | (scores["encoder"] == scores["point"].map(style_encoders))
    said: list[str] = []
    drawn: list[pd.DataFrame] = []
    with drawing(inches, height, rows, columns) as (figure, axes):
        for panel, (metric, label) in zip(axes, metrics.items(), strict=False):
            name, _, variant = metric.partition(":")
            everything = scores[(scores["metric"] == name) & in_space]
            own = everything[everything["variant"] == variant]
            if own.empty:
                raise UserError(f"sweeps: no table of the sweep scores the figure's metric '{metric}'; name another")
            if own["value"].isna().all():
                say(panel, f"No value of {label}:\n{own['note'].iloc[0]}.")
            summary = _summary(everything[everything["method"].isin(shown)], variant)
            intervals = bool(summary["low"].notna().any())
            for number, (method, identity) in enumerate(methods.identities(shown).items()):
                values = summary[summary["method"] == method].set_index("point").reindex(labels)
                known = values["mean"].notna().to_numpy()
                offset = 0.015 * width * (number - (len(shown) - 1) / 2)
                panel.errorbar(
                    [place + offset for place, there in zip(places, known, strict=True) if there],
                    values["mean"][known],
                    yerr=_bars(values.loc[known], intervals),
                    **{**identity.line, **identity.points, **({} if ordered else {"linestyle": "none"})},
                    elinewidth=1,
                    capsize=2,
                    label=methods.name(method) if panel is axes[0] else None,
                )
            drawn.append(summary.assign(metric=metric))
            said += _finding(label, own[own["method"].isin(shown)])
            fewer = _fewer_seeds(summary, methods)
            said += fewer and [f"{label}: {', '.join(fewer)}."]
            lack = f"{len(fewer)} {'mean lacks' if len(fewer) == 1 else 'means lack'} seeds" if fewer else ""
            turned = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
            panel.set_xticks(places, [label.replace(" (", "\n(") for label in labels], **turned)
            panel.set(ylabel=label, xlabel="\n".join(filter(None, (axis, lack))))
            panel.margins(x=0.08)
            panel.grid(axis="y")
        for panel in axes[len(metrics) :]:
            panel.set_axis_off()
        if shown:
            figure.legend(loc="outside upper center", ncols=beside)
        else:
            say(axes[0], "No method ran at two points.")
        save(figure, *paths, finding=" ".join(said), data=methods.named(pd.concat(drawn, ignore_index=True)))


def _summary(scores: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Return method, point, mean and std over seeds of a metric's ``variant``, and low and high, its interval's ends.

    Also ``seeds``, how many have a value, and ``of_seeds``, how many were scored. ``scores``: of one metric, with the
    variants that hold its ends. NaN where it has none.
    """
    start = f"{variant}_" if variant else ""
    values = scores[scores["variant"] == variant].groupby(["method", "point"])["value"]
    found = values.agg(["mean", "std", "count", "size"]).rename(columns={"count": "seeds", "size": "of_seeds"})
    for end in ("low", "high"):
        found[end] = scores[scores["variant"] == start + end].groupby(["method", "point"])["value"].mean()
    return found.reset_index()


def _fewer_seeds(summary: pd.DataFrame, methods: Methods) -> list[str]:
    """Return "FedAvg at Strong: mean over 1 of 2 seeds" of every mean that lacks seeds."""
    lacking = summary[(summary["seeds"] > 0) & (summary["seeds"] < summary["of_seeds"])]
    return [
        f"{methods.name(row['method'])} at {row['point']}: mean over {row['seeds']} of {row['of_seeds']} seeds"
        for row in lacking.to_dict("records")
    ]


def _bars(values: pd.DataFrame, intervals: bool) -> np.ndarray:
    """Return how far the bars of a method's points reach down and up, [2, points]: to the interval's ends or by std."""
    lengths = (values["mean"] - values["low"], values["high"] - values["mean"]) if intervals else (values["std"],) * 2
    return np.fmax(np.stack(lengths), 0.0)  # no bar where there is none


def _finding(label: str, values: pd.DataFrame) -> list[str]:
    """Return a sentence on how far the means over seeds of methods and points reach; it names none of them."""
    of_points = values.groupby(["method", "point"])["value"].mean().dropna()
    if len(of_points) < 2:
        return []
    rows, points = (of_points.index.get_level_values(level).nunique() for level in (0, 1))
    low, high = (minus(printed(float(end), 2)) for end in (of_points.min(), of_points.max()))
    counted = f"{rows} {'method' if rows == 1 else 'methods'} at {points} {'point' if points == 1 else 'points'}"
    return [f"{label}: {counted}, from {low} to {high}."]


@dataclass(frozen=True)
class Series(Methods):
    """Series in the place of methods, told by colour and marker in their order; the ninth is drawn as the first is."""

    def identities(self, shown: Sequence[str]) -> dict[str, Identity]:
        """Return the identities of the series ``shown``, the same whichever others are shown."""
        found = {row: Identity(*_DRAWN[place % len(_DRAWN)]) for place, row in enumerate(self.rows)}
        return {row: one for row, one in found.items() if row in shown}


def _in_series(
    scores: pd.DataFrame,
    points: Sequence[PointPlace],
    metrics: Mapping[str, str],
    style_encoders: Mapping[str, str],
    methods: Methods,
) -> tuple[pd.DataFrame, list[PointPlace], dict[str, str], Methods]:
    """Return scores, points, metrics and methods with a metric per method and metric, and series as the methods."""
    of_point = {point.label: point for point in points}
    values = sorted({float(point.value or 0) for point in points})
    places = [PointPlace(label=f"{value:g}", value=value) for value in values]
    own = scores[(scores["encoder"] == "") | (scores["encoder"] == scores["point"].map(style_encoders))]
    split = own.assign(
        encoder="",
        metric=own["metric"] + " of " + own["method"],
        method=own["point"].map(lambda label: of_point[label].series),
        point=own["point"].map(lambda label: f"{of_point[label].value:g}"),
    )
    panels = {}
    for row in methods.identities([row for row in methods.rows if row in set(own["method"])]):
        for metric, label in metrics.items():
            name, colon, variant = metric.partition(":")
            panels[f"{name} of {row}{colon}{variant}"] = f"{label}, {methods.name(row)}"
    series = list(dict.fromkeys(point.series for point in points))
    return split, places, panels, Series(series, {name: name for name in series})
