"""Verifiers that trained no method, one by one, and what their protocol can draw on."""

from collections.abc import Callable
from dataclasses import replace

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.metric import SOURCE
from favor.tables.derived import agreement, missing, row_values, spread
from favor.tables.specs import (
    Column,
    Derive,
    Derived,
    Roles,
    Row,
    Scores,
    TableSpec,
    evaluator_rows,
    method_rows,
    one_panel,
)

EXTERNAL_EVALUATOR_DETAILS = TableSpec(
    label="phase1-external-evaluator-details",
    title="External-verifier breakdown",
    caption="External-verifier breakdown. Source AUC checks the verifier on pairs of the clients' human test texts. In "
    "every column same-author pairs are compared with pairs of different authors of one topic.",
    stub_headers=("Method", "Evaluator"),
    rows=evaluator_rows(
        *("fedprox", "pooled", "ditto", "feddpa", "local_only_asce", "favor"),
        encoders=("styledistance", "minilm", "stylometry"),
    ),
    panels=one_panel(
        Column("Source AUC", "source_auc", method=SOURCE, deviation="inline"),
        Column("Gen→Src AUC", "generated_source_auc", deviation="inline"),
        Column("Gen→Src EER", "generated_source_eer", deviation="inline"),
        # Unlike the main table's generated pairs, whose negatives are of any topic.
        Column("Gen→Gen AUC", "generated_auc", variant="same_topic", deviation="inline"),
    ),
    section="External verifiers",
    paper="Table 17",
    open_rows=False,
    ranked_within="encoder",
)

LEGACY_COMPARISON = TableSpec(
    label="phase1-legacy-comparison",
    title="Additional compact metric summary",
    caption="Additional compact metric summary: accuracy, F1, distance between author centroids and silhouette in the "
    "style encoder's space, assistant score, likeness to the authors' own continuations. Outputs that pass the quality "
    "filter; means over seeds.",
    rows=method_rows("fedprox", "pooled", "ditto", "local_only_asce", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style", deviation="stacked"),
        Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
        Column("Centroid", "centroid_distance", "style", deviation="stacked"),
        Column("Silhouette", "silhouette", "style", deviation="stacked"),
        Column("Asst.", "assistant_score", deviation="stacked"),
        Column("BERTScore", "bertscore_f1", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
        Column("MAUVE", "mauve", "semantic", deviation="stacked"),
    ),
    section="External verifiers",
    paper="Table 18",
)

_Topics = dict[str, int]  # authors by topic, those of most authors first


def _share(name: str, count: int, topics: _Topics) -> Derived:
    authors = sum(topics.values())
    return Derived(f"{name}{count}/{authors} ({count / authors:.1%})")


def _usable(_scores: Scores, topics: _Topics) -> Derived:
    usable = sum(count >= 3 for topic, count in topics.items() if topic != UNKNOWN_TOPIC)
    return Derived(f"{usable} usable; {sum(count >= 3 for count in topics.values())} including all buckets")


def _dominant(scores: Scores, _topics: _Topics) -> Derived:
    mean, least = (row_values(scores, "dominant_topic_share", variant)[0] for variant in ("", "minimum"))
    return Derived(f"mean {mean:.1f}; min {least:.1f}")


def _negatives(scores: Scores, _topics: _Topics) -> Derived:
    found_any = sum(row_values(scores, "generated_negatives")) > 0
    return Derived("Same-topic cross-author" if found_any else "None: no topic has two authors")


def _same_prompt(scores: Scores, _topics: _Topics) -> Derived:
    return Derived("yes" if row_values(scores, "shared_prompts")[0] else "no")


_AGREEMENT = "External-evaluator agreement"
_ITEMS: dict[str, Callable[[Scores, _Topics], Derived]] = {
    "Evaluation authors": lambda _, topics: Derived(str(sum(topics.values())), float(sum(topics.values()))),
    "Topic source": lambda *_: Derived("Metadata of the corpus, by author"),
    "Topics with ≥ 3 authors": _usable,
    "Largest topic bucket": lambda _, topics: _share(f"{next(iter(topics))}: ", max(topics.values()), topics),
    "indUnk bucket": lambda _, topics: _share("", topics.get(UNKNOWN_TOPIC, 0), topics),
    "Dominant-topic fraction": _dominant,
    "Effective hard-negative mode": _negatives,
    "Protocol A same-prompt feasible": _same_prompt,
    "Protocol A same-topic negatives": lambda scores, _: spread(scores, "source_negatives"),
    "Protocol C same-prompt feasible": _same_prompt,
    "Protocol C same-topic negatives": lambda scores, _: spread(scores, "generated_negatives"),
}


def _agreed(show: Callable[[list[str], int], Derived]) -> Derive:
    """Return what computes a cell from which evaluators place FAVoR above Ditto."""

    def derive(row: Row, scores: Scores, roles: Roles) -> Derived:
        supporting, asked, reason = agreement(scores, roles, "favor", "ditto")
        return replace(show(supporting, asked), reason=reason) if asked else missing(reason)

    return derive


_SUPPORTING = _agreed(lambda supporting, asked: Derived(f"{len(supporting)}/{asked} support FAVoR > Ditto"))


def _item(row: Row, scores: Scores, roles: Roles) -> Derived:
    """Return the value of one audit item, by the row's printed name."""
    if row.label == _AGREEMENT:
        return _SUPPORTING(row, scores, roles)
    rows = scores[scores["metric"] == "topic_authors"].sort_values(["value", "variant"], ascending=[False, True])
    topics = {str(topic): int(authors) for topic, authors in zip(rows["variant"], rows["value"], strict=True)}
    return _ITEMS[row.label](scores, topics) if sum(topics.values()) else missing("topics were not scored")


TOPIC_AUDIT = TableSpec(
    label="phase1-topic-audit",
    title="Topics and negative sampling",
    caption="Topic and negative-sampling summary. Protocol A pairs an output with a human continuation of a prompt, "
    "Protocol C with another output, in either order once; a range runs over methods and seeds. Outputs that pass the "
    "filter. indUnk holds the authors of unknown topic and gives no negatives. Feasible: two authors share a prompt.",
    stub_headers=("Audit item",),
    rows=tuple(Row((item,), method=SOURCE) for item in (*_ITEMS, _AGREEMENT)),
    panels=one_panel(Column("Value", derive=_item, decimals=0)),
    sources=("topics", "verification"),
    section="External verifiers",
    paper="Table 19",
)


def _fraction(supporting: list[str], asked: int) -> Derived:
    share = len(supporting) / asked
    return Derived(f"{share:.1f}", share)


EXTERNAL_AGREEMENT = TableSpec(
    label="phase1-external-agreement",
    title="Cross-evaluator agreement",
    caption="Cross-evaluator agreement: external evaluators in whose space FAVoR's mean generated-to-source AUC is the "
    "higher one.",
    stub_headers=("Comparison", "Metric"),
    rows=(Row(("FAVoR > Ditto", "Gen→Src primary AUC"), method="favor"),),
    panels=one_panel(
        Column("Support", derive=_agreed(lambda supporting, asked: Derived(f"{len(supporting)}/{asked}"))),
        Column("Fraction", derive=_agreed(_fraction), decimals=1),
        Column("Supporting evaluators", derive=_agreed(lambda supporting, _: Derived(", ".join(supporting) or "none"))),
    ),
    sources=("verification",),
    section="External verifiers",
    paper="Table 20",
    open_rows=False,
    with_controls=False,
)
