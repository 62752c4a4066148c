"""Sweeps: experiments that differ in one setting, side by side."""

from __future__ import annotations

from typing import Annotated

from favor.settings.section import DISTINCT, Filled, Number, Section, key, refuse, required


class Point(Section):
    """One point of a sweep."""

    label: Filled = required("Name printed in the tables.")
    experiment: str = required("Experiment behind the point.")
    paper: str = key("", "Name of the row in the paper's table, if it differs.")
    value: Number | None = key(None, "Place on the figure's axis; null spaces points evenly.")


class Sweep(Section):
    """Experiments that differ in one setting. Their scores, tables and figure are in `results/sweeps/<name>`."""

    title: Filled = key("Sweep", "Name printed in the report.")
    axis: str = key("Point", "What the points differ in; the label of the figure's axis.")
    points: list[Point] = required("The points in their order; each is an experiment of its own.", min_length=1)
    ordered: bool = key(True, "Whether the points have an order: the figure joins them by lines then.")
    tables: Annotated[list[str], DISTINCT] = key([], "Tables over the points, by label.")
    figure: list[str] = key(
        [], "Metrics drawn over the points, `metric` or `metric:variant`; the tables must score them."
    )

    def check(self, where: str) -> None:
        """Check labels and the figure. Raises ``UserError`` that names the key."""
        for name, values in (
            ("label", [" ".join(point.label.split()) for point in self.points]),
            ("experiment", [point.experiment for point in self.points]),
            ("value", [point.value for point in self.points if point.value is not None]),
        ):
            if len(set(values)) < len(values):
                refuse(f"{where}.points", f"two points have one {name}; give each its own")
        if self.figure and not self.tables:
            refuse(f"{where}.figure", "a figure draws what the sweep's tables score; name a table")
