"""The table of all metrics prints what was computed, under the names that the metrics and encoders have."""

from favor.scores.metric import SOURCE, Score, scores_frame
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.html import html_document
from favor.tables.latex import latex_table
from favor.tables.specs import Context

NAMES = {"display": {"mine": "Mine"}, "encoder_titles": {"e2": "My space"}}
CONTEXT = Context("trial", ["favor", "mine"], **NAMES, seeds=(1,), marks="paper")
SCORES = scores_frame(
    [
        Score(1, "favor", "asce_a", "author_accuracy", "", 0.75, 4),
        Score(1, "mine", "asce_a", "author_accuracy", "", 0.5, 4),
        Score(1, "gold", "asce_a", "author_accuracy", "", 1.0, 4),
        Score(1, "favor", "asce_a", "author_accuracy", "failures_wrong", 0.25, 4),
        Score(1, "mine", "e2", "author_accuracy", "", float("nan"), 0, "no output passed the filter"),
        Score(1, "favor", "", "traffic_bytes", "", 2.0**20, 1),
        Score(0, SOURCE, "", "evaluation_authors", "", 8.0, 8),
    ]
)


def table() -> tuple:
    spec = printed_spec("all-metrics", CONTEXT, values=SCORES)
    return spec, build_table(spec, SCORES, CONTEXT)


def test_every_default_value_is_printed_once() -> None:
    _, cells = table()
    printed = cells[cells["value"].notna()].set_index(["panel", "row", "column"])["text"]
    assert dict(printed) == {
        ("Efficiency", "FAVoR", "Upload + broadcast per seed"): "1.0 MiB",
        ("Prototypes, ASCE-A", "FAVoR", "Author Acc."): "0.750",
        ("Prototypes, ASCE-A", "Mine", "Author Acc."): "0.500",
        ("Prototypes, ASCE-A", "Reference: own continuations", "Author Acc."): "1.000",
        ("Topics", "Human texts", "Evaluation authors"): "8.0",
    }
    missing = cells[cells["value"].isna()].set_index(["panel", "row"])["reason"]
    assert dict(missing) == {("Prototypes, My space", "Mine"): "no output passed the filter"}
    assert cells.set_index(["panel", "row"])["mark"]["Prototypes, ASCE-A", "FAVoR"] == "best"


def test_the_report_finds_the_panels_in_the_cells() -> None:
    spec, cells = table()
    again = printed_spec("all-metrics", Context("trial", []), values=cells)
    assert [panel.title for panel in again.panels] == [panel.title for panel in spec.panels]
    assert html_document(again, cells) == html_document(spec, cells)
    assert latex_table(again, cells) == latex_table(spec, cells)
    assert latex_table(spec, cells).count(r"\begin{table}") == 4


def test_an_encoder_of_your_own_name_is_printed_under_it() -> None:
    encoders = ("minilm", "stylometry")
    scores = scores_frame(Score(1, "favor", encoder, "generated_source_auc", "", 0.7, 4) for encoder in encoders)
    context = Context("trial", ["favor"], encoder_titles={"minilm": "My sentences", "stylometry": "Stylometry"})
    rows = set(build_table(printed_spec("phase1-external-evaluator-details"), scores, context)["row"])
    assert {"FAVoR · My sentences", "FAVoR · Stylometry", "FAVoR · StyleDistance"} <= rows
