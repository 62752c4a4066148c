"""How far the annotators of the human audit agree; the paper gives these figures in its text."""

from favor.paper.names import METHODS
from favor.tables.derived import audit_column
from favor.tables.specs import Column, Row, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="human-2afc-agreement",
    title="Agreement of the annotators",
    caption="Agreement of the annotators of the human audit: items with a unanimous vote or a tie, votes for profile "
    "A, mean share of agreeing pairs of annotators, and Fleiss' κ with categories profile A and profile B. The "
    "paper reports 34 unanimous items of 50, no tie, pairwise agreement 0.787 and κ 0.558. In brackets 95 % limits "
    "over authors, for these annotators.",
    rows=(
        *method_rows(*METHODS),
        Row(("Human ref.",), method="gold", group="human"),
        Row(("Overall",), group="overall"),
    ),
    panels=one_panel(
        Column("Annotators", derive=audit_column("audit_annotators", 0), decimals=0),
        Column("Items", derive=audit_column("audit_items", 0), decimals=0),
        Column("Unanimous", derive=audit_column("unanimous_items", 0), decimals=0),
        Column("Ties", derive=audit_column("tied_items", 0), decimals=0),
        Column("Votes\nfor A", derive=audit_column("first_profile_votes", 0), decimals=0),
        Column("Pairwise\nagreement", derive=audit_column("pairwise_agreement", 3)),
        Column("Fleiss'\nκ", derive=audit_column("fleiss_kappa", 3)),
    ),
    sources=("human_2afc",),
    stub_headers=("Source",),
    with_controls=False,
    scored_only=True,
)
