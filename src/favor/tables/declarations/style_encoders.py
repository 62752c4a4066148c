"""What style encoders know of human text, and scores in the space of the author-disjoint one."""

import math
from collections.abc import Callable

from favor.paper.names import encoder_name
from favor.scores.metric import SOURCE, label_of
from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.specs import (
    Column,
    Derive,
    Derived,
    Roles,
    Row,
    Scores,
    TableSpec,
    encoder_rows,
    method_rows,
    one_panel,
    panel,
)

SIGNATURE_SPACE_NATIVE = TableSpec(
    label="signature-space-native",
    title="Native-dimensional source-space diagnostics",
    caption="Native-dimensional source-space diagnostics of human text. A class-balanced logistic-regression probe "
    "(accuracy, macro-F1 on test texts), variance explained by author within topics and by topic (ω², mean over "
    "coordinates; A/T is their ratio), cosine verification of same-author against same-topic different-author pairs of "
    "test texts.",
    stub_headers=("Representation space",),
    rows=encoder_rows(
        SOURCE,
        roberta="RoBERTa-base",
        styledistance="StyleDistance",
        luar="LUAR-MUD doc1",
        star="STAR",
        style="ASCE Author-Style Signature Space",
    )
    + encoder_rows(SOURCE, optional=True, minilm="MiniLM", stylometry="Stylometry"),
    panels=one_panel(
        Column("Dim.", "dimension", decimals=0),
        Column("Author\nAcc.", "probe_accuracy"),
        Column("Macro-\nF1", "probe_macro_f1"),
        Column("Author-in-topic\nω²", "author_effect", decimals=4),
        Column("Topic\nω²", "topic_effect", decimals=4),
        Column("A/T\nratio", "effect_ratio", decimals=2),
        Column("Strict\nAUC", "source_auc"),
        Column("EER", "source_eer"),
    ),
    section="Source-space controls",
    paper="Table 8",
)

DIMENSIONS = {
    "contraction": "Contractions",
    "nbr_substitution": "Number\nsubst.",
    "emotives": "Emotives",
    "em-subj-pronoun": "Subject\npronoun",
}


def encoder_rows_of(scores: Scores) -> tuple[Row, ...]:
    """Return a row for every encoder that was scored."""
    return tuple(
        Row((encoder_name(key),), SOURCE, key, ranked=False, encoder_place=0) for key in sorted(set(scores["encoder"]))
    )


def _by_dimension(metric: str) -> tuple[Column, ...]:
    return (Column("Mean", metric), *(Column(name, metric, variant=key) for key, name in DIMENSIONS.items()))


ENCODER_CERTIFICATES = TableSpec(
    label="encoder-certificates",
    title="Certified encoders",
    caption="What the encoders know of style. STEL: which of two sentences has the style of which of two others with "
    "another content (chance 0.5). STEL-or-Content: whether a sentence is nearer to one of its style with "
    "another content than to one of its content in another style; an encoder of content alone has 0. Ties count half. "
    "Human texts: whether held-out texts of the clients are nearest to their author's centroid of training texts, the "
    "AUC of own against other centroids, and whether the nearest other held-out text is the author's, with 95 % "
    "intervals over authors. Same topic: among authors of one topic.",
    stub_headers=("Encoder",),
    row_source=encoder_rows_of,
    panels=(
        panel("STEL", *_by_dimension("stel"), Column("Items", "stel_items", decimals=0)),
        panel("STEL-or-Content", *_by_dimension("stel_or_content")),
        panel(
            "Human texts",
            Column("AUC", "retrieval_auc", interval=True),
            Column("Author\nfound", "retrieval_accuracy", interval=True),
            Column("Chance", "retrieval_chance"),
            Column("MRR", "retrieval_mrr"),
            Column("Neighbour's\nauthor", "neighbour_accuracy", interval=True),
            Column("Chance,\nneighbour", "neighbour_chance"),
        ),
        panel(
            "Human texts, same topic",
            Column("AUC", "retrieval_auc", variant="same_topic", interval=True),
            Column("Author\nfound", "retrieval_accuracy", variant="same_topic", interval=True),
            Column("Chance", "retrieval_chance", variant="same_topic"),
        ),
    ),
    sources=("author_retrieval", "stel"),
)

ASCE_LEAKAGE_FREE_GENSOURCE = TableSpec(
    label="asce-leakage-free-gensource",
    title="Generated-to-source ASCE results",
    caption="Generated-to-source results in the style encoder's space, without its classifier head: "
    "nearest source-train prototype, and same-author against same-topic different-author pairs of an output and a "
    "held-out human continuation. Accuracy and F1 are those of the expanded author-style table: the paper defines both "
    "alike and prints other values here. Outputs that pass the quality filter; means over seeds.",
    rows=method_rows(
        *("fedavg", "fedprox", "pfedme", "ditto", "pooled", "local_only_asce", "global_asce", "ditto_asce"),
        *("favor_without_asce", "favor"),
    ),
    panels=one_panel(
        Column("Seeds", "@seeds", "style", decimals=0),
        Column("Proto. Acc.", "author_accuracy", "style", deviation="inline"),
        Column("Proto. F1", "author_macro_f1", "style", deviation="inline"),
        Column("Gen→Src\nAUC", "generated_source_auc", "style", deviation="inline"),
        Column("Gen→Src\nEER", "generated_source_eer", "style", deviation="inline"),
    ),
    section="Author-disjoint style encoder",
    paper="Table 21",
)

ASCE_LEAKAGE_FREE_PAIRWISE = TableSpec(
    label="asce-leakage-free-pairwise",
    title="Expanded author-style results",
    caption="Expanded author-style results in the style encoder's space. Accuracy and F1 use source-train "
    "prototypes; Gen-Gen AUC/EER compare generated continuations of the same and of different authors. Outputs that "
    "pass the quality filter; means over seeds.",
    rows=method_rows(
        *("fedavg", "fedprox", "pfedme", "ditto", "ditto_asce", "pooled", "local_only_asce", "global_asce"),
        *("favor_without_asce", "favor"),
    ),
    panels=one_panel(
        Column("Author Acc.", "author_accuracy", "style", deviation="inline"),
        Column("Macro-F1", "author_macro_f1", "style", deviation="inline"),
        Column("Silhouette", "silhouette", "style", deviation="inline"),
        Column("Gen-Gen AUC", "generated_auc", "style", deviation="inline"),
        Column("Gen-Gen EER", "generated_eer", "style", deviation="inline"),
    ),
    section="Author-disjoint style encoder",
    paper="Table 22",
)

ASCE_B_AUDIT = TableSpec(
    label="asce-b-audit",
    title="Independent ASCE-B re-evaluation",
    caption="Post-hoc evaluation under an independently trained ASCE-B, whose authors no other encoder and no client "
    "has; generations and pairs are those of the other tables. Means over seeds.",
    stub_headers=("Collaborative method",),
    rows=method_rows("favor", "favor_without_asce", "ditto", "feddpa", "pfedme", "fedavg", "fedprox"),
    panels=one_panel(
        Column("Source-prototype\nAcc.", "author_accuracy", "independent", deviation="inline"),
        Column("Gen→Src\nAUC", "generated_source_auc", "independent", deviation="inline"),
    ),
    section="Author-disjoint style encoder",
    paper="Table 23",
    collaborative=True,
)

_COMPARED = {"favor": "FAVoR", "ditto": "Ditto", "fedavg": "FedAvg"}


def checkpoint_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row for every number of authors that an encoder was trained on."""
    numbers = scores.loc[scores["metric"] == "encoder_authors", "value"]
    return tuple(Row((f"{number:.0f}",)) for number in sorted(set(numbers)))


def _methods(metric: str) -> Derive:
    """The mean over encoders and training seeds of a metric of every method."""

    def derive(row: Row, scores: Scores, roles: Roles) -> Derived:
        known = scores[(scores["metric"] == "encoder_authors") & (scores["value"] == float(row.label))]
        cells = scores[
            (scores["metric"] == metric) & (scores["variant"] == "") & scores["encoder"].isin(known["encoder"])
        ]
        found = cells.groupby("method")["value"].agg(["mean", "count"]).reindex(list(_COMPARED))
        means, counts = found["mean"], found["count"].fillna(0)
        absent = [_COMPARED[method] for method in _COMPARED if counts[method] == 0]
        if len(absent) == len(_COMPARED):
            return missing(f"{label_of(metric)} has no score for any of these methods")
        text = " / ".join("–" if math.isnan(value) else printed(value, 3) for value in means)
        wanted = len(cells[["encoder", "seed"]].drop_duplicates())
        reasons = [f"no score of {', '.join(absent)}"] if absent else []
        reasons += [
            f"{_COMPARED[method]}: mean over {counts[method]:.0f} of {wanted} encoders and seeds"
            for method in _COMPARED
            if 0 < counts[method] < wanted
        ]
        return Derived(text, reason="; ".join(reasons))

    return derive


def _together(show: Callable[..., str], metric: str, *variants: str) -> Derive:
    """Return what computes a column: ``show`` of a metric of all encoders of a row together, and of its variants."""

    def derive(row: Row, scores: Scores, roles: Roles) -> Derived:
        keys = {"method": SOURCE, "encoder": f"authors={row.label}"}
        found = [score_of(scores, metric, variant, **keys) for variant in ("", *variants)]
        value, _, why = found[0]
        return missing(why) if why else Derived(show(*(each for each, *_ in found)), value)

    return derive


def _with_interval(value: float, low: float, high: float) -> str:
    return f"{printed(value, 3)} [{printed(low, 3)}, {printed(high, 3)}]"


ASCE_SCALE_TRANSFER = TableSpec(
    label="asce-scale-transfer",
    title="ASCE evaluator scale and transfer",
    caption="Style encoders trained on fewer authors, of no other role, judge the same outputs: accuracy against "
    "source-train prototypes and generated-to-source AUC, mean over seeds. Transfer: held-out human texts of authors "
    "of a second corpus, which no encoder was trained on, against the prototypes and training texts of those authors; "
    "95 % intervals from resamples of authors.",
    stub_headers=("ASCE training\nauthors",),
    row_source=checkpoint_rows,
    panels=one_panel(
        Column("Examples", derive=_together("{:,.0f}".format, "encoder_examples")),
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
            derive=_together(_with_interval, "transfer_accuracy", "low", "high"),
            paper="Mythos Proto-Acc. [95% CI]",
        ),
        Column(
            "Second corpus AUC\n[95% CI]",
            derive=_together(_with_interval, "transfer_auc", "low", "high"),
            paper="Mythos AUC [95% CI]",
        ),
    ),
    sources=("prototypes", "verification", "transfer"),
    section="Author-disjoint style encoder",
    paper="Table 24",
)
