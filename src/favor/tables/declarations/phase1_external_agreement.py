"""How many external evaluators place FAVoR above Ditto."""

from favor.tables.derived import agreement, missing
from favor.tables.specs import Column, Derived, Roles, Row, Scores, TableSpec, one_panel


def _support(row: Row, scores: Scores, roles: Roles) -> Derived:
    found = agreement(scores, roles, "favor", "ditto")
    if not found.compared:
        return missing(found.reason)
    return Derived(f"{len(found.supporting)}/{found.compared}", reason=found.reason)


def _fraction(row: Row, scores: Scores, roles: Roles) -> Derived:
    found = agreement(scores, roles, "favor", "ditto")
    if not found.compared:
        return missing(found.reason)
    share = len(found.supporting) / found.compared
    return Derived(f"{share:.1f}", share, found.reason)


def _names(row: Row, scores: Scores, roles: Roles) -> Derived:
    found = agreement(scores, roles, "favor", "ditto")
    if not found.compared:
        return missing(found.reason)
    return Derived(", ".join(found.supporting) or "none", reason=found.reason)


TABLE = TableSpec(
    label="phase1-external-agreement",
    title="Cross-evaluator agreement",
    caption="Cross-evaluator agreement: external evaluators in whose space FAVoR's mean generated-to-source AUC is the "
    "higher one.",
    stub_headers=("Comparison", "Metric"),
    rows=(Row(("FAVoR > Ditto", "Gen→Src primary AUC"), method="favor"),),
    panels=one_panel(
        Column("Support", derive=_support),
        Column("Fraction", derive=_fraction, decimals=1),
        Column("Supporting evaluators", derive=_names),
    ),
    sources=("verification",),
    section="External verifiers",
    paper="Table 20",
    open_rows=False,
    with_controls=False,
)
