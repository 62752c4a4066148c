"""Continuations of one prompt by every method, side by side. Quotes the corpus: not for publication."""

from dataclasses import replace

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="qualitative-appendix",
    title="Matched qualitative comparison",
    caption="Not for publication: this table quotes the corpus's authors and models trained on them. Shortened "
    "continuations of the same prompts by every method, drawn with a fixed seed from the outputs that pass the filter "
    "in all of them.",
    stub_headers=("Example", "Method"),
    # favor.tables.excerpts repeats these rows for every example and fills the column.
    rows=tuple(
        replace(row, stub=("", *row.stub))
        for row in method_rows("fedavg", "pooled", "fedprox", "ditto", "favor", "local_only_asce")
    ),
    panels=one_panel(Column("Shortened continuation", fixed={"": ""}, wide=True)),
    sources=(),
    section="Qualitative examples",
    paper="Table 6",
    with_controls=False,
    publishable=False,
)
