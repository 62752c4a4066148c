"""Measures of voice beside the paper's: author profiles, what adapters know, and which measure to trust."""

import math

from favor.paper.names import METHODS, encoder_name, method_name
from favor.scores.metric import SOURCE, label_of
from favor.tables.cells import SAME, printed
from favor.tables.derived import difference, missing, score_of, signed
from favor.tables.escape import minus
from favor.tables.specs import (
    POINT,
    Column,
    Derive,
    Derived,
    Panel,
    Roles,
    Row,
    Scores,
    TableSpec,
    method_rows,
    one_panel,
    panel,
)

VERIFIERS = ("lambdag", "style", "stylometry", "minilm")
RIVAL = "favor"  # the row that the others are compared with


def _columns(verifier: str) -> tuple[Column, ...]:
    return (
        Column("Accuracy,\nfailures wrong", "profile_accuracy", verifier, variant="failures_wrong", interval=True),
        Column("AUC", "profile_auc", verifier, interval=True),
        Column("Ratio\n(log10)", "profile_ratio", verifier, decimals=2, interval=True),
        Column("Accuracy,\ncommon prompts", "profile_accuracy", verifier, variant="common", interval=True),
        Column("Cllr", "profile_cost", verifier, decimals=2),
    )


def _minus(variant: str, title: str) -> Panel:
    columns = [Column(encoder_name(name), derive=difference("profile_auc", RIVAL, name, variant)) for name in VERIFIERS]
    return panel(title, *columns)


AUTHOR_PROFILES = TableSpec(
    label="author-profiles",
    title="Author profiles",
    caption="Every output against the profile of every author. LambdaG (Nini et al. 2025) compares the grammar of "
    "text without its content words; in the other panels the profile is the mean of the author's posts in an "
    "encoder's space. Profiles are made of posts that no adapter was trained on as far as there is enough, and never "
    "of posts behind prompts; the last panel says how much of them was trained on. Ten successive words that are in a "
    "training text or a prompt count nothing with LambdaG; encoders leave an output out where they are over a quarter "
    "of it. Accuracy: the own profile fits best. AUC: own profiles against others'. Ratio: mean log10 likelihood ratio "
    "of own against other author, calibrated on human text of other authors; Cllr above 1 means that the ratios "
    "mislead. LambdaG reads outputs cut to the words of the human continuation. Own continuations are the "
    "ceiling, shuffled ones the floor. Brackets are 95 % intervals over authors; common prompts "
    "are fixed. Minus FAVoR: paired differences over authors, Holm's p over the column.",
    rows=method_rows(*METHODS),
    panels=(
        *(panel(encoder_name(verifier), *_columns(verifier)) for verifier in VERIFIERS),
        _minus("", "AUC minus FAVoR"),
        _minus("common", "AUC minus FAVoR, common prompts"),
        panel(
            "Profiles, the same for all methods",
            Column("Words of\na profile", "profile_words", method=SOURCE, decimals=0),
            Column("Share\ntrained on", "profile_trained", method=SOURCE, decimals=2),
        ),
    ),
    section="Voice kept, diversity and copying",
)

BY_CONSTRUCTION = "one model for all"  # what the note of an interval begins with where a row has one model


def _cell(metric: str, variant: str = "", forgetting: bool = False, chance: bool = False) -> Derive:
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
        text = signed(value)
        if not fixed:
            text += f" [{signed(low)}, {signed(high)}]"
        elif chance and fixed.startswith(BY_CONSTRUCTION):
            text += " (chance)"
        if forgetting and value < 0:
            text += " ▼"
        return Derived(text, value, fixed)

    return derive


def _chance(metric: str, variant: str = "chance") -> Derive:
    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        value, _, _ = score_of(scores, metric, variant, method=row.method)
        return missing(f"{label_of(metric)} was not scored") if math.isnan(value) else Derived(signed(value), value)

    return derive


LIKELIHOOD_ATTRIBUTION = TableSpec(
    label="likelihood-attribution",
    title="What the adapters know",
    caption="Every client's final model reads every client's held-out texts, of which none was trained on or prompted "
    "with; nothing is generated. Gain: log-likelihood under an adapter minus that under the base, in nats per token. "
    "Voice gain: the gain of an author's own adapter minus that of the others' on the same texts; it rises when others "
    "are forgotten, so read it where the own gain is above 0. Top-1, mean reciprocal rank and AUC: whether a text's "
    "gain, less each adapter's mean, points to its author's adapter. A method with one model for all is at chance by "
    "construction and has no interval. Same topic: among authors of one topic. Function words: content words are read "
    "and not counted. ▼: below 0, less likely than under the base. In brackets 95 % intervals over authors, who keep "
    "their texts of all seeds. Minus FAVoR: paired differences, Holm's p over the column.",
    rows=method_rows(*METHODS),
    panels=(
        panel(
            "Gain over the base",
            Column("Own gain", derive=_cell("likelihood_own_gain", forgetting=True)),
            Column("Others' gain", derive=_cell("likelihood_others_gain", forgetting=True)),
            Column("Voice gain", derive=_cell("likelihood_voice_gain", chance=True)),
            Column("Voice gain,\nbits per character", derive=_cell("likelihood_voice_gain", "bits_per_character")),
            Column("Neutral\nsentences", derive=_cell("likelihood_neutral_gain", forgetting=True)),
        ),
        panel(
            "Attribution",
            Column("Top-1", derive=_cell("likelihood_top1", chance=True)),
            Column("Top-1\nby chance", derive=_chance("likelihood_top1")),
            Column("MRR", derive=_cell("likelihood_mrr", chance=True)),
            Column("MRR\nby chance", derive=_chance("likelihood_mrr")),
            Column("AUC", derive=_cell("likelihood_auc", chance=True)),
        ),
        panel(
            "Controls for topic",
            Column("Voice gain,\nsame topic", derive=_cell("likelihood_voice_gain", "same_topic")),
            Column("Top-1,\nsame topic", derive=_cell("likelihood_top1", "same_topic", chance=True)),
            Column("By chance,\nsame topic", derive=_chance("likelihood_top1", "same_topic_chance")),
            Column("Voice gain,\nfunction words", derive=_cell("likelihood_voice_gain", "function_words")),
            Column("Top-1,\nfunction words", derive=_cell("likelihood_top1", "function_words", chance=True)),
        ),
        panel(
            "Minus FAVoR",
            Column("Voice gain", derive=difference("likelihood_voice_gain", RIVAL)),
            Column("Own gain", derive=difference("likelihood_own_gain", RIVAL)),
            Column("Top-1", derive=difference("likelihood_top1", RIVAL)),
        ),
    ),
    sources=("likelihood",),
    section="Voice kept, diversity and copying",
    with_controls=False,
)

LIKELIHOOD_SWEEP = TableSpec(
    label="likelihood-sweep",
    title="What the adapters know, at every value of one setting",
    caption="Log-likelihood of held-out texts under a client's final model minus that under the base, in nats per "
    "token: of the client's own author, of the others, and of neutral sentences. Voice gain: own minus others'; it "
    "rises when others are forgotten, so read it where the own gain is above 0. In brackets 95 % intervals over "
    "authors.",
    stub_headers=("Method", "Setting"),
    rows=tuple(Row((method_name(key), POINT), method=key, ranked=False) for key in METHODS),
    panels=one_panel(
        Column("Own gain", "likelihood_own_gain", interval=True, signed=True),
        Column("Others' gain", "likelihood_others_gain", interval=True, signed=True),
        Column("Voice gain", "likelihood_voice_gain", interval=True, signed=True),
        Column("Neutral\nsentences", "likelihood_neutral_gain", interval=True, signed=True),
    ),
    section="Voice kept, diversity and copying",
    over_points=True,
)

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
            (low, _, why), (high, *_) = (score_of(scores, metric, name, encoder=row.encoder) for name in names)
            if why:
                return Derived(minus(text), value, f"no interval: {why}")
            text += f" [{printed(low, decimals)}, {printed(high, decimals)}]"
        return Derived(minus(text), value)

    return derive


MEASURE_AGREEMENT = TableSpec(
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
    row_source=measure_rows,
)
