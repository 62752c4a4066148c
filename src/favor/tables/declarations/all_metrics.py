"""Every metric that is computed for the experiment: no table of the paper, and no family left out."""

from favor.tables.specs import TableSpec

TABLE = TableSpec(
    label="all-metrics",
    title="All metrics",
    caption="Every metric of the experiment in its default variant, a panel per metric family and encoder. "
    "Means over seeds.",
    rows=(),
    panels=(),
    sources=(),
    open_rows=False,
    every_metric=True,
)
