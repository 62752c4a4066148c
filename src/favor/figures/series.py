"""Points of a sweep that form several series: a panel per method and metric, a line per series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from favor.figures.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from favor.figures.identity import Identity, Methods
from favor.figures.sweep import draw_sweep
from favor.tables.settings import PointPlace

_DRAWN = list(zip((BLACK, BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY), "osv^DPXh", strict=True))


@dataclass(frozen=True)
class Series(Methods):
    """Series in the place of methods, told by colour and marker in their order; the ninth is drawn as the first is."""

    def identities(self, shown: Sequence[str]) -> dict[str, Identity]:
        """Return the identities of the series ``shown``, the same whichever others are shown."""
        found = {row: Identity(*_DRAWN[place % len(_DRAWN)]) for place, row in enumerate(self.rows)}
        return {row: one for row, one in found.items() if row in shown}


def draw_series(
    scores: pd.DataFrame,
    points: Sequence[PointPlace],
    metrics: Mapping[str, str],
    style_encoders: Mapping[str, str],
    methods: Methods,
    *paths: str | Path,
    axis: str = "",
    ordered: bool = True,
) -> None:
    """Draw what :func:`favor.figures.sweep.draw_sweep` draws where every point has a ``series`` and a ``value``."""
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
    shown = Series(series, {name: name for name in series})
    draw_sweep(split, places, panels, {}, shown, *paths, axis=axis, ordered=ordered)
