"""Which style measure to trust: whether they rank methods and authors alike, and what difference each could see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from favor.paper.names import encoder_name
from favor.scores.metric import SOURCE
from favor.tables.cells import printed
from favor.tables.derived import missing
from favor.tables.specs import Column, Derived, Row, TableSpec, one_panel

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd

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


def measure_rows(scores: pd.DataFrame) -> tuple[Row, ...]:
    """Return a row for every measure in every encoder's space, the measures of a space together."""
    known = set(zip(scores["encoder"], scores["variant"], strict=True))
    return tuple(
        Row((space_name(key), name), SOURCE, key, ranked=False, group=key, metric=measure, encoder_place=0)
        for key in sorted(set(scores["encoder"]), key=lambda key: (not key, key))
        for measure, name in MEASURES.items()
        if (key, measure) in known
    )


def _statistic(metric: str, decimals: int, interval: bool = False) -> Callable[..., Derived]:
    def derive(row: Row, scores: pd.DataFrame, roles: Mapping[str, str]) -> Derived:
        own = scores[(scores["encoder"] == row.encoder) & (scores["metric"] == metric)]
        values = dict(zip(own["variant"], own["value"].astype(float), strict=True))
        notes = dict(zip(own["variant"], own["note"], strict=True))
        note = notes.get(row.metric, f"{metric} was not scored")
        if note:
            return missing(str(note))
        text = printed(values[row.metric], decimals)
        if interval:
            low, high = (printed(values[f"{row.metric}_{end}"], decimals) for end in ("low", "high"))
            text += f" [{low}, {high}]"
        return Derived(text.replace("-", "−"), values[row.metric])

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
