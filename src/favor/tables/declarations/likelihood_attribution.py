"""What every row's adapters know of their authors, read off unseen texts without generating."""

import math

from favor.paper.names import METHODS
from favor.tables.cells import SAME
from favor.tables.derived import missing, score_of
from favor.tables.differences import minus, signed
from favor.tables.specs import Column, Derive, Derived, Panel, Roles, Row, Scores, TableSpec, method_rows

RIVAL = "favor"  # the row that the others are compared with
BY_CONSTRUCTION = "one model for all"  # what the note of an interval begins with where a row has one model


def _cell(metric: str, variant: str = "", decimals: int = 3, forgetting: bool = False, chance: bool = False) -> Derive:
    """Return what computes a column: the score with its interval.

    forgetting: a negative value is marked. chance: the column is followed by what chance gives.
    """

    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        value, _, note = score_of(scores, metric, variant, method=row.method)
        if note:
            return missing(note)
        ends = (f"{variant}_{end}".lstrip("_") for end in ("low", "high"))
        (low, _, fixed), (high, _, _) = (score_of(scores, metric, end, method=row.method) for end in ends)
        if low == high == value:
            fixed = fixed or SAME
        text = signed(value, decimals)
        if not fixed:
            text += f" [{signed(low, decimals)}, {signed(high, decimals)}]"
        elif chance and fixed.startswith(BY_CONSTRUCTION):
            text += " (chance)"
        if forgetting and value < 0:
            text += " ▼"
        return Derived(text, value, fixed)

    return derive


def _chance(metric: str, variant: str = "chance") -> Derive:
    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        value, _, _ = score_of(scores, metric, variant, method=row.method)
        return missing(f"{metric} was not scored") if math.isnan(value) else Derived(signed(value, 3), value)

    return derive


TABLE = TableSpec(
    label="likelihood-attribution",
    title="What the adapters know",
    caption="Every client's final model reads every client's held-out texts, of which none was trained on or prompted "
    "with; nothing is generated. Gain: log-likelihood under an adapter minus that under the base, in nats per token. "
    "Voice gain: the gain of an author's own adapter minus that of the others' on the same texts; it rises "
    "when others are forgotten, so read it where the own gain is above 0. Top-1, mean "
    "reciprocal rank and AUC: whether a text's gain, less each adapter's mean, points to its author's adapter. "
    "A method with one model for all is at chance by construction and has no interval. "
    "Same topic: among authors of one topic. "
    "Function words: content words are read and not counted. ▼: below 0, so forgotten. In brackets 95 % intervals over "
    "authors, who keep their texts of all seeds. Minus FAVoR: paired differences, Holm's p over the column.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            (
                Column("Own gain", derive=_cell("likelihood_own_gain", forgetting=True)),
                Column("Others' gain", derive=_cell("likelihood_others_gain", forgetting=True)),
                Column("Voice gain", derive=_cell("likelihood_voice_gain", chance=True)),
                Column("Voice gain,\nbits per character", derive=_cell("likelihood_voice_gain", "bits_per_character")),
                Column("Neutral\nsentences", derive=_cell("likelihood_neutral_gain", forgetting=True)),
            ),
            "Gain over the base",
        ),
        Panel(
            (
                Column("Top-1", derive=_cell("likelihood_top1", chance=True)),
                Column("Top-1\nby chance", derive=_chance("likelihood_top1")),
                Column("MRR", derive=_cell("likelihood_mrr", chance=True)),
                Column("MRR\nby chance", derive=_chance("likelihood_mrr")),
                Column("AUC", derive=_cell("likelihood_auc", chance=True)),
            ),
            "Attribution",
        ),
        Panel(
            (
                Column("Voice gain,\nsame topic", derive=_cell("likelihood_voice_gain", "same_topic")),
                Column("Top-1,\nsame topic", derive=_cell("likelihood_top1", "same_topic", chance=True)),
                Column("By chance,\nsame topic", derive=_chance("likelihood_top1", "same_topic_chance")),
                Column("Voice gain,\nfunction words", derive=_cell("likelihood_voice_gain", "function_words")),
                Column("Top-1,\nfunction words", derive=_cell("likelihood_top1", "function_words", chance=True)),
            ),
            "Controls for topic",
        ),
        Panel(
            (
                Column("Voice gain", derive=minus("likelihood_voice_gain", RIVAL)),
                Column("Own gain", derive=minus("likelihood_own_gain", RIVAL)),
                Column("Top-1", derive=minus("likelihood_top1", RIVAL)),
            ),
            "Minus FAVoR",
        ),
    ),
    sources=("likelihood",),
    section="Voice kept, diversity and copying",
    with_controls=False,
)
