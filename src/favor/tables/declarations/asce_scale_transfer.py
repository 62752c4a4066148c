"""Style encoders trained on fewer authors: the same outputs in each one's space, and authors of another corpus."""

import math

from favor.scores.metric import SOURCE
from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.specs import Column, Derive, Derived, Roles, Row, Scores, TableSpec, one_panel

METHODS = {"favor": "FAVoR", "ditto": "Ditto", "fedavg": "FedAvg"}


def checkpoint_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row for every number of authors that an encoder was trained on."""
    numbers = scores.loc[scores["metric"] == "encoder_authors", "value"]
    return tuple(Row((f"{number:.0f}",)) for number in sorted(set(numbers)))


def _together(row: Row, scores: Scores, metric: str, variant: str = "") -> tuple[float, str]:
    """Return a value of all encoders of a row together and, where it is missing, why."""
    value, _, note = score_of(scores, metric, variant, method=SOURCE, encoder=f"authors={row.label}")
    return value, note


def _examples(row: Row, scores: Scores, roles: Roles) -> Derived:
    value, why = _together(row, scores, "encoder_examples")
    return missing(why) if why else Derived(f"{value:,.0f}", value)


def _methods(metric: str) -> Derive:
    """The mean over encoders and training seeds of a metric of every method."""

    def derive(row: Row, scores: Scores, roles: Roles) -> Derived:
        known = scores[(scores["metric"] == "encoder_authors") & (scores["value"] == float(row.label))]
        cells = scores[
            (scores["metric"] == metric) & (scores["variant"] == "") & scores["encoder"].isin(known["encoder"])
        ]
        found = cells.groupby("method")["value"].agg(["mean", "count"]).reindex(list(METHODS))
        means, counts = found["mean"], found["count"].fillna(0)
        absent = [METHODS[method] for method in METHODS if counts[method] == 0]
        if len(absent) == len(METHODS):
            return missing(f"{metric} has no score for any of these methods")
        text = " / ".join("–" if math.isnan(value) else printed(value, 3) for value in means)
        wanted = len(cells[["encoder", "seed"]].drop_duplicates())
        reasons = [f"no score of {', '.join(absent)}"] if absent else []
        reasons += [
            f"{METHODS[method]}: mean over {counts[method]:.0f} of {wanted} encoders and seeds"
            for method in METHODS
            if 0 < counts[method] < wanted
        ]
        return Derived(text, reason="; ".join(reasons))

    return derive


def _interval(metric: str) -> Derive:
    def derive(row: Row, scores: Scores, roles: Roles) -> Derived:
        value, why = _together(row, scores, metric)
        if why:
            return missing(why)
        low, high = (printed(_together(row, scores, metric, end)[0], 3) for end in ("low", "high"))
        return Derived(f"{printed(value, 3)} [{low}, {high}]", value)

    return derive


TABLE = TableSpec(
    label="asce-scale-transfer",
    title="ASCE evaluator scale and transfer",
    caption="Style encoders trained on fewer authors, of no other role, judge the same outputs: accuracy against "
    "source-train prototypes and generated-to-source AUC, mean over seeds. Transfer: held-out human texts of authors "
    "of a second corpus, which no encoder was trained on, against the prototypes and training texts of those authors; "
    "95 % intervals from resamples of authors.",
    stub_headers=("ASCE training\nauthors",),
    rows=(),
    row_source=checkpoint_rows,
    panels=one_panel(
        Column("Examples", derive=_examples),
        Column(
            "Own corpus Proto-\nAcc. FAVoR / Ditto / FedAvg",
            derive=_methods("author_accuracy"),
            paper="BlogText Proto-Acc. FAVoR / Ditto / FedAvg",
        ),
        Column(
            "Own corpus Gen→Src\nAUC FAVoR / Ditto / FedAvg",
            derive=_methods("generated_source_auc"),
            paper="BlogText Gen→Src AUC FAVoR / Ditto / FedAvg",
        ),
        Column(
            "Second corpus Proto-\nAcc. [95% CI]",
            derive=_interval("transfer_accuracy"),
            paper="Mythos Proto-Acc. [95% CI]",
        ),
        Column("Second corpus AUC\n[95% CI]", derive=_interval("transfer_auc"), paper="Mythos AUC [95% CI]"),
    ),
    sources=("prototypes", "verification", "transfer"),
    section="Author-disjoint style encoder",
    paper="Table 24",
    open_rows=False,
    with_controls=False,
)
