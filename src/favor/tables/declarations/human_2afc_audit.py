"""The human two-alternative forced-choice audit: do people attribute a text to the author it was generated for?"""

from favor.paper.names import METHODS
from favor.tables.derived import audit_column
from favor.tables.specs import Column, Row, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="human_2afc_audit",
    title="Human 2AFC audit",
    caption="Human audit: annotators choose which of two authors a candidate matches in style. Vote accuracy is over "
    "single votes, majority accuracy over items, where a tie counts as wrong; confidence runs from 1 to 5. Outputs of "
    "all training seeds are pooled. In brackets 95 % intervals over authors, for these annotators.",
    rows=(
        *method_rows(*METHODS),
        Row(("Human ref.",), method="gold", group="human"),
        Row(("Overall",), group="overall"),
    ),
    panels=one_panel(
        Column("Items", derive=audit_column("audit_items", 0), decimals=0),
        Column("Votes", derive=audit_column("audit_votes", 0), decimals=0),
        Column("Vote\nacc.", derive=audit_column("vote_accuracy", 1, percent=True)),
        Column("Maj.\nacc.", derive=audit_column("majority_accuracy", 1, percent=True)),
        Column("Mean\nconf.", derive=audit_column("mean_confidence", 2), decimals=2),
    ),
    sources=("human_2afc",),
    section="Human audit and judges",
    paper="Table 15",
    stub_headers=("Source",),
    with_controls=False,
    scored_only=True,
)
