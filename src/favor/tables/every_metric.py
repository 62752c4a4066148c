"""The panels of a table that prints every computed metric: one per family and encoder, a column per metric.

The job makes them from the scores. The report makes them again from the printed cells, which name the same panels.
"""

import math
from collections.abc import Callable, Sequence

import pandas as pd

from favor.foundation.registry import METRIC_FAMILIES
from favor.paper.names import CONTROLS, METHODS, method_name
from favor.scores.metric import SOURCE, Metric, metrics_of
from favor.tables.specs import DIRECTIONS, Column, Panel, Row

SOURCE_ROW = "Human texts"


def method_rows_of(scores: pd.DataFrame) -> tuple[Row, ...]:
    """Return a row per method that has scores, the paper's methods first; the human texts by themselves come last."""
    scored = [method for method in dict.fromkeys(scores["method"]) if method not in (*CONTROLS, SOURCE)]
    rows = [Row((method_name(method),), method) for method in sorted(scored, key=[*METHODS, *scored].index)]
    human = [Row((SOURCE_ROW,), SOURCE, ranked=False)] if (scores["method"] == SOURCE).any() else []
    return (*rows, *human)


def panels_of(values: pd.DataFrame, encoder_title: Callable[[str], str]) -> tuple[Panel, ...]:
    """Return the panels of ``values``: scores, or the printed cells of such a table, which name the same panels.

    Of scores, families stand in name order, each of their encoders by itself. ``encoder_title``: of an encoder's key.
    """
    return _of_cells(values) if "panel" in values else _of_scores(values, encoder_title)


def _of_scores(scores: pd.DataFrame, encoder_title: Callable[[str], str]) -> tuple[Panel, ...]:
    default = scores[scores["variant"] == ""]
    panels = []
    for family in METRIC_FAMILIES.names():
        own = {metric.name: metric for metric in metrics_of(family)}
        found = default[default["metric"].isin(list(own))]
        for encoder in sorted(set(found["encoder"])):
            computed = set(found.loc[found["encoder"] == encoder, "metric"])
            title = f"{_heading(family)}, {encoder_title(encoder)}" if encoder else _heading(family)
            panels.append(_panel(title, [metric for name, metric in own.items() if name in computed], encoder))
    return tuple(panels)


def _of_cells(cells: pd.DataFrame) -> tuple[Panel, ...]:
    families = {_heading(family): family for family in METRIC_FAMILIES.names()}
    panels = []
    for title, own in cells.groupby("panel", sort=False):
        metrics = {metric.label: metric for metric in metrics_of(families[str(title).partition(", ")[0]])}
        panels.append(_panel(str(title), [metrics[label] for label in dict.fromkeys(own["column"])]))
    return tuple(panels)


def _panel(title: str, metrics: Sequence[Metric], encoder: str = "") -> Panel:
    return Panel(tuple(_column(metric, encoder) for metric in metrics), title)


def _column(metric: Metric, encoder: str) -> Column:
    return Column(
        metric.label,
        metric.name,
        encoder,
        direction=DIRECTIONS[metric.direction],
        decimals=3 if math.isfinite(metric.maximum) else 1,
        deviation="inline",
        unit="bytes" if metric.unit == "bytes" else "seconds" if metric.unit == "seconds" else "",
    )


def _heading(family: str) -> str:
    return family.replace("_", " ").capitalize()
