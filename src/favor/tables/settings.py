"""The settings of sweeps, experiments that differ in one setting, and what the jobs read that print and draw."""

from typing import Annotated, Literal

from favor.corpora.settings import WordKind
from favor.foundation.section import DISTINCT, Filled, Number, Section, key, refuse, required
from favor.tables.specs import Context


class PointLabel(Section):
    """What one point of a sweep is called."""

    label: Filled = required("Name printed in the tables.")


class PointRun(PointLabel):
    """A point, and what it rests on."""

    experiment: str = required("Experiment behind the point.")


class TablePoint(PointRun):
    """A point as tables print it."""

    paper: str = key("", "Name of the row in the paper's table, if it differs.")


class PointPlace(PointLabel):
    """A point as the figure draws it."""

    value: Number | None = key(None, "Place on the figure's axis; null spaces points evenly.")
    series: str = key("", "Line of the figure that the point is on; all points have a series and a value, or none.")


class Point(PointPlace, TablePoint):
    """One point of a sweep."""


class SweepAxis(Section):
    """What the figure of a sweep shows."""

    axis: str = key("Point", "What the points differ in; the label of the figure's axis.")
    ordered: bool = key(True, "Whether the points have an order: the figure joins them by lines then.")
    figure: list[str] = key(
        [], "Metrics drawn over the points, `metric` or `metric:variant`; the tables must score them."
    )


class SweepChoice(Section):
    """What chooses a point of a sweep."""

    choose_by: Literal["validation_loss"] | None = key(
        None,
        "Marks the point of the lowest mean loss on the clients' validation texts, for each row; no test text takes "
        "part. Every point needs `training.validation`. null chooses none.",
    )


class Sweep(SweepAxis, SweepChoice):
    """Experiments that differ in one setting. Their scores, tables and figure are in `results/sweeps/<name>`."""

    title: Filled = key("Sweep", "Name printed in the report.")
    points: list[Point] = required("The points in their order; each is an experiment of its own.", min_length=1)
    tables: Annotated[list[str], DISTINCT] = key([], "Tables over the points, by label.")

    def check(self, where: str) -> None:
        """Check labels and the figure. Raises ``UserError`` that names the key."""
        for name, values in (
            ("label", [" ".join(point.label.split()) for point in self.points]),
            ("experiment", [point.experiment for point in self.points]),
            ("value", [(point.series, point.value) for point in self.points if point.value is not None]),
        ):
            if len(set(values)) < len(values):
                refuse(f"{where}.points", f"two points have one {name}; give each its own")
        alone = [point.label for point in self.points if not point.series or point.value is None]
        if alone and any(point.series for point in self.points):
            refuse(f"{where}.points", f"others are in series, so point '{alone[0]}' needs a series and a value")
        if self.figure and not self.tables:
            refuse(f"{where}.figure", "a figure draws what the sweep's tables score; name a table")
        if self.choose_by and not self.tables:
            refuse(f"{where}.choose_by", "the choice is printed in the sweep's tables; name a table")


class SweepScores(Section):
    """Settings of the job that joins the scores of points. ``families``: of metrics, in the order of files."""

    points: list[PointRun]
    families: list[str]


class SweepFigure(SweepAxis):
    """Settings of the job that draws a sweep: its rows ``methods``, and the printed names of those that have one.

    ``style_encoders``: by the label of the point.
    """

    points: list[PointPlace]
    methods: list[str]
    display: dict[str, str]
    families: list[str]
    style_encoders: dict[str, str]


class SweepPrinting(SweepChoice):
    """Settings of the job that prints a table over points.

    ``contexts``: by experiment; ``display``: the printed names of the rows that have one.
    """

    points: list[TablePoint]
    contexts: dict[str, Context]
    display: dict[str, str]


class PrintedTable(Section):
    """Settings of the job that prints a table."""

    context: Context


class Excerpts(PrintedTable, WordKind):
    """Settings of the job that prints excerpts of texts."""
