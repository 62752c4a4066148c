"""The experiment on another base model, number of authors, volume or shares of text, corpus, setting and draw."""

from favor.paper.names import METHODS, method_name
from favor.tables.specs import POINT, Column, Row, TableSpec, method_rows, one_panel, panel

BASE_MODEL_SENSITIVITY = TableSpec(
    label="phase1-7b-base-sensitivity",
    title="Base-model sensitivity",
    caption="Sensitivity to the base model: the held-out continuation protocol, adapters, decoding and evaluators of "
    "the main results on another base model. Base only is a non-collaborative reference.",
    rows=method_rows("base_only", "fedavg", "fedprox", "pfedme", "ditto", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("Verif.\nAUC", "generated_auc", "style"),
        Column("EER", "generated_eer", "style"),
        Column("Silhouette", "silhouette", "style"),
        Column("Asst.\nScore", "assistant_score"),
        Column("BERTScore", "bertscore_f1"),
        Column("SemSim", "semantic_similarity"),
        Column("MAUVE", "mauve", "semantic"),
        Column("Base model", setting="base_model", wide=True),
    ),
    section="Base-model sensitivity",
    paper="Table 9",
)

K100_SCALE_STRESS = TableSpec(
    label="k100-scale-stress",
    title="K=100 scale stress test",
    caption="Scale stress test with twice the authors, means over seeds. Marked among the collaborative methods; "
    "local-only is a reference that does not federate. Verification tells "
    "same-author from different-author pairs of generated continuations in the style encoder's space.",
    rows=(
        Row(("FedAvg shared",), method="fedavg"),
        Row(("Ditto",), method="ditto"),
        Row(("FAVoR",), method="favor"),
        Row(("Local-only (ref.)",), method="local_only", ranked=False),
    ),
    panels=one_panel(
        Column("Sep.\nAcc.", "author_accuracy", "style", deviation="stacked"),
        Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
        Column("Verif.\nAUC", "generated_auc", "style", deviation="stacked"),
        Column("EER", "generated_eer", "style", deviation="stacked"),
        Column("Centroid\nDist.", "centroid_distance", "style", deviation="stacked"),
        Column("Silhouette", "silhouette", "style", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
        Column("MAUVE", "mauve", "semantic", deviation="stacked"),
    ),
    section="100-author stress test",
    paper="Table 10",
    with_controls=False,
    open_rows=False,
)

TEXT_VOLUME_SWEEP = TableSpec(
    label="text-volume-sweep",
    title="Compute-normalised text-volume sweep",
    caption="Balanced nested subsets of the clients' texts, at the same optimiser steps; means over seeds.",
    stub_headers=("Allocated word-unit budget",),
    rows=(Row((POINT,)),),
    panels=one_panel(
        Column("Gen–Gen AUC\nFAVoR / Ditto", "generated_auc", "style", method="favor", beside="ditto"),
        Column("EER\nFAVoR / Ditto", "generated_eer", "style", method="favor", beside="ditto"),
        Column("BERTScore\nFAVoR / Ditto", "bertscore_f1", method="favor", beside="ditto", decimals=4),
    ),
    section="Data scale and imbalance",
    paper="Table 11",
    over_points=True,
)

IMBALANCE_SWEEP = TableSpec(
    label="imbalance-sweep",
    title="Author-data imbalance",
    caption="Balanced, moderate and strong allocations of exactly the same number of words to the same authors, at the "
    "same optimiser steps; means over seeds, Δ = FAVoR − Ditto.",
    stub_headers=("Allocation",),
    rows=(Row((POINT,)),),
    panels=one_panel(
        Column("Gen–Gen AUC\nFAVoR / Ditto (Δ)", "generated_auc", "style", "favor", beside="ditto", signed=True),
        Column("EER\nFAVoR / Ditto (Δ)", "generated_eer", "style", "favor", beside="ditto", signed=True),
        Column("BERTScore\nFAVoR / Ditto", "bertscore_f1", method="favor", beside="ditto", decimals=4),
    ),
    section="Data scale and imbalance",
    paper="Table 12",
    over_points=True,
)

_SEPARATION = (
    Column("Sep.\nAcc.", "author_accuracy", "style", deviation="stacked"),
    Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
    Column("Centroid", "centroid_distance", "style", deviation="stacked"),
    Column("Silhouette", "silhouette", "style", deviation="stacked"),
)
MYTHOS_REDDIT_EXTERNAL_MAIN = TableSpec(
    label="mythos-reddit-external-main",
    title="Mythos-Reddit external validation",
    caption="Mythos-Reddit external validation in the space of an encoder trained on other authors of that corpus; AUC "
    "and EER compare generated continuations with each other. Means over seeds.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        *_SEPARATION,
        Column("AUC", "generated_auc", "style", deviation="stacked"),
        Column("EER", "generated_eer", "style", deviation="stacked"),
        Column("BERTScore", "bertscore_f1", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
    ),
    section="Mythos-Reddit",
    paper="Table 25",
    dataset="Mythos-Reddit",
)

MYTHOS_REDDIT_EXTERNAL_DETAILS = TableSpec(
    label="mythos-reddit-external-details",
    title="Detailed Mythos-Reddit diagnostics",
    caption="Detailed Mythos-Reddit diagnostics. Phrase: assistant phrases per 1,000 words; gaps are the outputs' "
    "silhouette and centroid distance minus those of the human continuations of the same prompts. Means over seeds.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        *_SEPARATION,
        Column("Phrase", "assistant_phrase_rate", deviation="stacked"),
        Column("BERTScore", "bertscore_f1", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
        Column("Gap-\nSilh.", "silhouette_gap", "style", deviation="stacked"),
        Column("Gap-\nCent.", "centroid_gap", "style", deviation="stacked"),
    ),
    section="Mythos-Reddit",
    paper="Table 26",
    dataset="Mythos-Reddit",
)

SETTING_SWEEP = TableSpec(
    label="setting-sweep",
    title="One setting",
    caption="Each method at every value of one setting; means over seeds.",
    stub_headers=("Method", "Setting"),
    rows=tuple(Row((method_name(key), POINT), method=key) for key in METHODS),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Margin", "author_margin", "style"),
        Column("Gen–Gen\nAUC", "generated_auc", "style"),
        Column("BERTScore", "bertscore_f1", decimals=4),
    ),
    ranked_within="point",
    over_points=True,
)

_SCORES = (
    ("Author\nAcc.", "author_accuracy"),
    ("Gen–Gen\nAUC", "generated_auc"),
    ("Gen→Src\nAUC", "generated_source_auc"),
    ("Target\nSim.", "target_similarity"),
)
CORPUS_SEEDS = TableSpec(
    label="corpus-seeds",
    title="Other authors of the same corpus",
    caption="The experiment on several draws from one corpus: each has clients, splits, prompts and a style encoder of "
    "its own. The last lines are means over draws ± the sample standard deviation between them. It holds the choice of "
    "authors and posts, the encoder's own authors and the noise of training. With several training seeds, the ± of one "
    "draw is over these. Every draw has a style space of its own, so differences from FAVoR, which stay within a draw, "
    "are the safer reading.",
    stub_headers=("Method", "Draw"),
    rows=tuple(Row((method_name(key), POINT), method=key, ranked=False) for key in METHODS),
    panels=(
        panel("Scores", *(Column(header, metric, "style") for header, metric in _SCORES)),
        panel(
            "Minus FAVoR's of the same draw",
            *(Column(header, metric, "style", minus="favor", signed=True) for header, metric in _SCORES),
        ),
    ),
    over_points=True,
    spread="Mean ± SD",
)
