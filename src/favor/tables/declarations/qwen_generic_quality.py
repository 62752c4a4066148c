"""Overall quality as a language model judges it, and FAVoR against each collaborative baseline."""

from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.specs import Column, Derived, Roles, Row, Scores, TableSpec, method_rows, one_panel

REFERENCE = "favor"


def _score(row: Row, scores: Scores, metric: str, variant: str = "") -> tuple[float, str]:
    """Return a value over all seeds and, where it is missing, why."""
    value, _, note = score_of(scores, metric, variant, f"{row.label} was not judged", method=row.method)
    return value, note


def _quality(row: Row, scores: Scores, roles: Roles) -> Derived:
    value, why = _score(row, scores, "judge_overall", "pooled")
    return missing(why) if why else Derived(printed(value, 3), value)


def _difference(row: Row, scores: Scores, roles: Roles) -> Derived:
    value, why = _compared(row, scores, "")
    return missing(why) if why else Derived(printed(value, 3, signed=True), value)


def _interval(row: Row, scores: Scores, roles: Roles) -> Derived:
    (low, why), (high, _) = (_compared(row, scores, end) for end in ("low", "high"))
    if why:
        return missing(why)
    return Derived(f"[{printed(low, 3)}, {printed(high, 3)}]".replace("-", "−"))


def _holm(row: Row, scores: Scores, roles: Roles) -> Derived:
    value, why = _compared(row, scores, "p_holm")
    return missing(why) if why else Derived("<.001" if value < 0.001 else printed(value, 3), value)


def _compared(row: Row, scores: Scores, variant: str) -> tuple[float, str]:
    if row.method == REFERENCE:
        return float("nan"), "the method that the others are compared with"
    found = _score(row, scores, "judge_difference", variant)
    # Where the difference itself is missing, its note says why.
    return found if variant == "" or not found[1] else (found[0], _score(row, scores, "judge_difference")[1])


TABLE = TableSpec(
    label="qwen-generic-quality",
    title="Overall quality as a language model judges it",
    caption="Reference-free overall quality on a scale of 1 to 5, each output judged blind and more than once. One "
    "prompt per author and seed, common to all methods; intervals and p over authors, who keep "
    "all their seeds; Holm over the baselines.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        Column("Mean quality", derive=_quality),
        Column("FAVoR −\nmethod", derive=_difference, paper="FAVoR - method"),
        Column("Unadjusted\n95% CI", derive=_interval),
        Column("Holm-adjusted\np", derive=_holm, compared=False),
    ),
    sources=("judges",),
    section="Human audit and judges",
    paper="Table 16",
    open_rows=False,
    with_controls=False,
)
