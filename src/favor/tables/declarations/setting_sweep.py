"""What one setting changes: each row of the paper at every point of a sweep."""

from favor.paper.names import METHODS, method_name
from favor.tables.specs import POINT, Column, Row, TableSpec, one_panel

TABLE = TableSpec(
    label="setting-sweep",
    title="One setting",
    caption="Each method at every value of one setting; means over seeds.",
    stub_headers=("Method", "Setting"),
    rows=tuple(Row((method_name(key), POINT), method=key) for key in METHODS),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Margin", "author_margin", "style"),
        Column("Gen–Gen\nAUC", "generated_auc", "style"),
        Column("BERTScore", "bertscore_f1", decimals=4),
    ),
    sources=("prototypes", "verification", "utility"),
    open_rows=False,
    with_controls=False,
    ranked_within="point",
    over_points=True,
)
