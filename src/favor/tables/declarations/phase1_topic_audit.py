"""Topics and same-topic negatives: what the verification protocol can draw on."""

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.metric import SOURCE
from favor.tables.derived import agreement, missing, row_values, spread
from favor.tables.specs import Column, Derived, Roles, Row, Scores, TableSpec, one_panel

MINIMUM_AUTHORS = 3


def _topics(scores: Scores) -> dict[str, int]:
    rows = scores[scores["metric"] == "topic_authors"].sort_values(["value", "variant"], ascending=[False, True])
    return {str(topic): int(authors) for topic, authors in zip(rows["variant"], rows["value"], strict=True)}


def _share(name: str, count: int, authors: int) -> Derived:
    return Derived(f"{name}{count}/{authors} ({count / authors:.1%})")


def _value(row: Row, scores: Scores, roles: Roles) -> Derived:
    """Return the value of one audit item, by the row's printed name."""
    item, topics = row.label, _topics(scores)
    authors = sum(topics.values())
    if item == "External-evaluator agreement":
        found = agreement(scores, roles, "favor", "ditto")
        if not found.compared:
            return missing(found.reason)
        return Derived(f"{len(found.supporting)}/{found.compared} support FAVoR > Ditto", reason=found.reason)
    if not authors:
        return missing("topics were not scored")
    known = {topic: count for topic, count in topics.items() if topic != UNKNOWN_TOPIC}
    match item:
        case "Evaluation authors":
            return Derived(str(authors), float(authors))
        case "Topic source":
            return Derived("Metadata of the corpus, by author")
        case "Topics with ≥ 3 authors":
            usable, every = (sum(count >= MINIMUM_AUTHORS for count in each.values()) for each in (known, topics))
            return Derived(f"{usable} usable; {every} including all buckets")
        case "Largest topic bucket":
            return _share(f"{next(iter(topics))}: ", max(topics.values()), authors)
        case "indUnk bucket":
            return _share("", topics.get(UNKNOWN_TOPIC, 0), authors)
        case "Dominant-topic fraction":
            mean, least = (row_values(scores, "dominant_topic_share", variant)[0] for variant in ("", "minimum"))
            return Derived(f"mean {mean:.1f}; min {least:.1f}")
        case "Effective hard-negative mode":
            found_any = sum(row_values(scores, "generated_negatives")) > 0
            return Derived("Same-topic cross-author" if found_any else "None: no topic has two authors")
        case "Protocol A same-prompt feasible" | "Protocol C same-prompt feasible":
            return Derived("yes" if row_values(scores, "shared_prompts")[0] else "no")
        case "Protocol A same-topic negatives":
            return spread(scores, "source_negatives")
        case "Protocol C same-topic negatives":
            return spread(scores, "generated_negatives")
    raise ValueError(f"no audit item '{item}'")


_ITEMS = (
    "Evaluation authors",
    "Topic source",
    "Topics with ≥ 3 authors",
    "Largest topic bucket",
    "indUnk bucket",
    "Dominant-topic fraction",
    "Effective hard-negative mode",
    "Protocol A same-prompt feasible",
    "Protocol A same-topic negatives",
    "Protocol C same-prompt feasible",
    "Protocol C same-topic negatives",
    "External-evaluator agreement",
)

TABLE = TableSpec(
    label="phase1-topic-audit",
    title="Topics and negative sampling",
    caption="Topic and negative-sampling summary. Protocol A pairs an output with a human continuation of a prompt, "
    "Protocol C with another output, in either order once; a range runs over methods and seeds. Outputs that pass the "
    "filter. indUnk holds the authors of unknown topic and gives no negatives. Feasible: two authors share a prompt.",
    stub_headers=("Audit item",),
    rows=tuple(Row((item,), method=SOURCE) for item in _ITEMS),
    panels=one_panel(Column("Value", derive=_value, decimals=0)),
    sources=("topics", "verification"),
    section="External verifiers",
    paper="Table 19",
    open_rows=False,
    with_controls=False,
)
