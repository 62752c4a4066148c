"""Paired tests: FAVoR against the main baselines, and the component ablations."""

from favor.tables.specs import COMPARISON_NOTE, Comparisons, TableSpec, comparison_columns, comparison_rows, one_panel

_BASELINES = (("favor", "ditto"), ("favor", "pooled"), ("favor", "fedprox"), ("favor", "feddpa"))
_ABLATIONS = (("favor", "favor_without_asce"), ("favor", "global_asce"), ("favor_without_asce", "global_asce"))
_OUTPUTS = ("author_accuracy", "top1_cosine", "semantic_similarity", "bertscore_f1", "assistant_score")
_ABLATION_OUTPUTS = ("author_accuracy", "top1_cosine", "assistant_score", "bertscore_f1", "semantic_similarity")
_VERIFICATION = dict.fromkeys(
    ("generated_source_auc", "generated_source_eer"), ("styledistance", "minilm", "stylometry")
)

_SIGNIFICANCE = Comparisons(_BASELINES, dict.fromkeys(_OUTPUTS, ("style",)), exact=("author_accuracy",))
PAIRED_SIGNIFICANCE = TableSpec(
    label="phase1-paired-significance",
    title="Paired tests of the main comparisons",
    caption="Paired tests on outputs that survive in both methods; p is McNemar's for author accuracy and the "
    "sign-flip test's over seed-author pairs for the other metrics. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Metric"),
    comparisons=_SIGNIFICANCE,
    rows=comparison_rows(_SIGNIFICANCE),
    panels=one_panel(*comparison_columns("FAVoR", "Baseline", with_n=True)),
    section="Statistical testing",
    paper="Table 33",
)

_EXTERNAL = Comparisons(_BASELINES, _VERIFICATION)
EXTERNAL_PAIRED_AUC = TableSpec(
    label="phase1-external-paired-auc",
    title="External paired tests of the main comparisons",
    caption="Paired tests of the main comparisons by same-topic generated-to-source verification in spaces that "
    "no method is aligned to, unless style_encoder is one. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Evaluator", "Metric"),
    comparisons=_EXTERNAL,
    rows=comparison_rows(_EXTERNAL),
    panels=one_panel(*comparison_columns("FAVoR", "Baseline")),
    section="Statistical testing",
    paper="Table 34",
)

_ABLATED = Comparisons(_ABLATIONS, dict.fromkeys(_ABLATION_OUTPUTS, ("style",)), exact=_ABLATION_OUTPUTS)
ABLATION_PAIRED_TESTS = TableSpec(
    label="phase1-ablation-paired-tests",
    title="Paired component-ablation tests",
    caption="Paired component-ablation tests on outputs that survive in both methods; p is McNemar's for author "
    "accuracy and Wilcoxon's for the other metrics. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Metric"),
    comparisons=_ABLATED,
    rows=comparison_rows(_ABLATED),
    panels=one_panel(*comparison_columns("Left", "Right")),
    section="Component ablations",
    paper="Table 29",
)

_ABLATED_EXTERNALLY = Comparisons(_ABLATIONS, _VERIFICATION)
ABLATION_EXTERNAL_PAIRED = TableSpec(
    label="phase1-ablation-external-paired",
    title="External paired tests of the component ablations",
    caption="Paired tests of the component ablations by same-topic generated-to-source verification in spaces that "
    "no method is aligned to, unless style_encoder is one. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Evaluator", "Metric"),
    comparisons=_ABLATED_EXTERNALLY,
    rows=comparison_rows(_ABLATED_EXTERNALLY),
    panels=one_panel(*comparison_columns("Left", "Right")),
    section="Component ablations",
    paper="Table 30",
)
