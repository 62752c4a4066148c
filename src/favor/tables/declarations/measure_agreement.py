"""Which style measure to trust: whether they rank methods and authors alike, and what difference each could see."""

from favor.paper.names import encoder_name
from favor.scores.metric import SOURCE
from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.escape import minus
from favor.tables.specs import Column, Derive, Derived, Roles, Row, Scores, TableSpec, one_panel

MEASURES = {
    "author_accuracy": "Author accuracy",
    "output_auc": "Gen→Src AUC per output",
    "target_similarity": "Target similarity",
    "author_margin": "Margin",
    "profile_author_accuracy": "Profile accuracy",
    "profile_author_ratio": "Profile ratio",
    "likelihood_author_voice_gain": "Voice gain",
    "likelihood_author_top1": "Attribution top-1",
}


def space_name(encoder: str) -> str:
    """Return what a measure is taken in: an encoder's name, or the adapters that read without one."""
    return encoder_name(encoder) if encoder else "Adapters"


def measure_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row for every measure in every encoder's space, the measures of a space together."""
    known = set(zip(scores["encoder"], scores["variant"], strict=True))
    return tuple(
        Row((space_name(key), name), SOURCE, key, ranked=False, group=key, metric=measure, encoder_place=0)
        for key in sorted(set(scores["encoder"]), key=lambda key: (not key, key))
        for measure, name in MEASURES.items()
        if (key, measure) in known
    )


def _statistic(metric: str, decimals: int, interval: bool = False) -> Derive:
    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        value, _, note = score_of(scores, metric, row.metric, encoder=row.encoder)
        if note:
            return missing(note)
        text = printed(value, decimals)
        if interval:
            names = (f"{row.metric}_{end}" for end in ("low", "high"))
            low, high = (score_of(scores, metric, name, encoder=row.encoder)[0] for name in names)
            text += f" [{printed(low, decimals)}, {printed(high, decimals)}]"
        return Derived(minus(text), value)

    return derive


TABLE = TableSpec(
    label="measure-agreement",
    title="Which measure to trust",
    caption="Agreement: Spearman's rank correlation of a measure with the mean rank by the paper's measures (author "
    "accuracy, AUC, target similarity) of all other encoders, over methods and, within methods, over authors, with "
    "95 % intervals over authors. The margin (similarity to the own author minus the mean similarity to the others), "
    "profiles and what adapters know are in no mean rank. Target similarity is high for the average voice of all too; "
    "the margin is 0 for it. Own and others' text: what the measure says of human continuations. Detectable: the "
    "smallest true difference of two methods that this many authors and prompts show with power .8 at level .05, in "
    "the measure's units and as a share of what lies between others' text and own text. Its error comes from split "
    "halves of human text on different prompts; methods are compared on the same prompts, so the truth is rather "
    "smaller. A measure whose detectable share is near 1 sees no less than the loss of the whole voice.",
    stub_headers=("Encoder", "Measure"),
    rows=(),
    panels=one_panel(
        Column("Agreement\nover methods", derive=_statistic("agreement_over_methods", 2, interval=True)),
        Column("Agreement\nover authors", derive=_statistic("agreement_over_authors", 2, interval=True)),
        Column("Own text", derive=_statistic("human_own", 3)),
        Column("Others' text", derive=_statistic("human_shuffled", 3)),
        Column("Detectable\ndifference", derive=_statistic("detectable_difference", 3)),
        Column("Detectable\nshare", derive=_statistic("detectable_share", 2)),
    ),
    sources=("measure_agreement",),
    section="Voice kept, diversity and copying",
    open_rows=False,
    with_controls=False,
    row_source=measure_rows,
)
