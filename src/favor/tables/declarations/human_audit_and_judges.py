"""What people and a language model say of the outputs."""

import math
from collections.abc import Callable

from favor.paper.names import METHODS
from favor.tables.cells import printed
from favor.tables.derived import audit_column, missing, score_of
from favor.tables.escape import minus
from favor.tables.specs import Column, Derive, Derived, Roles, Row, Scores, TableSpec, method_rows, one_panel

_SOURCES = (
    *method_rows(*METHODS),
    Row(("Human ref.",), method="gold", group="human"),
    Row(("Overall",), group="overall"),
)
HUMAN_2AFC_AUDIT = TableSpec(
    label="human_2afc_audit",
    title="Human 2AFC audit",
    caption="Human audit: annotators choose which of two authors a candidate matches in style. Vote accuracy is over "
    "single votes, majority accuracy over items, where a tie counts as wrong; confidence runs from 1 to 5. Outputs of "
    "all training seeds are pooled. In brackets 95 % intervals over authors, for these annotators.",
    rows=_SOURCES,
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


HUMAN_2AFC_AGREEMENT = TableSpec(
    label="human-2afc-agreement",
    title="Agreement of the annotators",
    caption="Agreement of the annotators of the human audit: items with a unanimous vote or a tie, votes for profile "
    "A, mean share of agreeing pairs of annotators, and Fleiss' κ with categories profile A and profile B. The "
    "paper reports 34 unanimous items of 50, no tie, pairwise agreement 0.787 and κ 0.558. In brackets 95 % limits "
    "over authors, for these annotators.",
    rows=_SOURCES,
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

REFERENCE = "favor"


def _quality(row: Row, scores: Scores, roles: Roles) -> Derived:
    value, _, why = score_of(scores, "judge_overall", "pooled", f"{row.label} was not judged", method=row.method)
    return missing(why) if why else Derived(printed(value, 3), value)


def _compared(show: Callable[..., str], *variants: str) -> Derive:
    """Return what computes a column: what ``show`` makes of variants of the difference from ``REFERENCE``."""

    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        if row.method == REFERENCE:
            return missing("the method that the others are compared with")
        absent = f"{row.label} was not judged"
        found = [
            score_of(scores, "judge_difference", variant, absent, method=row.method) for variant in ("", *variants)
        ]
        # The difference's own reason comes first: it says why its interval is missing too.
        if reason := next((note for *_, note in found if note), ""):
            return missing(reason)
        values = [value for value, *_ in found[1:]]
        return Derived(show(*values), values[0] if len(values) == 1 else math.nan)

    return derive


def _signed(difference: float) -> str:
    return printed(difference, 3, signed=True)


def _interval(low: float, high: float) -> str:
    return minus(f"[{printed(low, 3)}, {printed(high, 3)}]")


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else printed(value, 3)


QWEN_GENERIC_QUALITY = TableSpec(
    label="qwen-generic-quality",
    title="Overall quality as a language model judges it",
    caption="Reference-free overall quality on a scale of 1 to 5, each output judged blind and more than once. One "
    "prompt per author and seed, common to all methods; intervals and p over authors, who keep "
    "all their seeds; Holm over the baselines.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        Column("Mean quality", derive=_quality),
        Column("FAVoR −\nmethod", derive=_compared(_signed, ""), paper="FAVoR - method"),
        Column("Unadjusted\n95% CI", derive=_compared(_interval, "low", "high")),
        Column("Holm-adjusted\np", derive=_compared(_p, "p_holm"), compared=False),
    ),
    sources=("judges",),
    section="Human audit and judges",
    paper="Table 16",
    open_rows=False,
    with_controls=False,
)
