"""The point of a sweep that validation losses choose, from hand-made scores."""

import pandas as pd
import pytest
from tests.reports import make_score

from favor.scores.validation import validation_scores
from favor.tables.completion import printed_spec
from favor.tables.html import html_table
from favor.tables.latex import latex_table
from favor.tables.settings import Point
from favor.tables.specs import Context
from favor.tables.sweeps import Choice, at_points, build_sweep, choices, chosen_points, with_choice

POINTS = [Point(label=name, experiment=f"rank_{name}") for name in ("4", "16", "64")]
# Of two authors. FAVoR: means 3, 2 and 2.5; Ditto: 2, 2 and 4, of which the first is taken.
LOSSES = {
    "favor": {"4": (2.0, 4.0), "16": (1.0, 3.0), "64": (2.0, 3.0)},
    "ditto": {"4": (1.0, 3.0), "16": (2.0, 2.0), "64": (4.0, 4.0)},
}
TESTED = ("author_accuracy", "author_margin", "generated_auc")


def sweep_scores(losses=LOSSES, best="64") -> pd.DataFrame:
    """The losses, and test scores that are all best at one point."""
    found = []
    for point in ("4", "16", "64"):
        runs = {method: [dict(zip("ab", own[point], strict=False))] for method, own in losses.items() if point in own}
        rows = [validation_scores(runs, {}, {}, 7, 500)]
        value = 0.9 if point == best else 0.1
        tested = [make_score(method, metric, value, "asce_a") for method in losses for metric in TESTED]
        tested += [make_score(method, "bertscore_f1", value) for method in losses]
        found.append(pd.concat([*rows, pd.DataFrame(tested)]).assign(point=point, experiment=f"rank_{point}"))
    return pd.concat(found, ignore_index=True)


def contexts() -> dict[str, Context]:
    methods, roles = ("base_only", "favor", "ditto"), {"style": "asce_a"}
    names = [point.experiment for point in POINTS]
    return {name: Context(name, methods, "Blogs", "", roles, seeds=(1,), marks="paper") for name in names}


def test_the_lowest_mean_loss_is_chosen_and_the_first_of_equal_ones() -> None:
    assert choices(sweep_scores(), POINTS) == {"favor": Choice("16"), "ditto": Choice("4")}
    assert chosen_points(choices(sweep_scores(), POINTS), {"ditto": "Ours†"}) == "FAVoR: 16; Ours: 4"


def test_no_score_of_test_texts_enters_the_choice() -> None:
    """Whatever the test texts say, the same cells are marked: only validation losses are read."""
    marked = []
    for best in ("4", "16", "64"):
        scores = sweep_scores(best=best)
        spec = with_choice(printed_spec("setting-sweep"), scores, POINTS, {})
        cells = build_sweep(spec, POINTS, scores, contexts())
        marked.append(cells.loc[cells["text"].str.endswith("(chosen)"), "row"].tolist())
        without = scores[scores["metric"].str.contains("validation")]
        assert choices(without, POINTS) == choices(scores, POINTS)
    assert marked == [["Ditto · 4", "FAVoR · 16"]] * 3
    better = {**LOSSES, "favor": {**LOSSES["favor"], "64": (0.5, 0.5)}}
    assert choices(sweep_scores(better), POINTS)["favor"] == Choice("64")


def test_the_table_prints_the_loss_with_its_interval_beside_the_scores() -> None:
    scores = sweep_scores()
    spec = with_choice(printed_spec("setting-sweep"), scores, POINTS, {})
    assert "without a look at any test text or score. FAVoR: 16; Ditto: 4." in spec.caption
    cells = build_sweep(spec, POINTS, scores, contexts())
    losses = cells[cells["column"] == "Validation loss"].set_index("row")
    # Two authors at 1 and 3: mean 2, standard error 1, t of 1 degree 12.7. No loss is below 0.
    assert losses.loc["FAVoR · 16", "text"].startswith("2.000 [0.000, 14.")
    assert losses.loc["FAVoR · 16", "text"].endswith("] (chosen)")
    assert losses.loc["FAVoR · 16", "value"] == 2.0
    assert losses.loc["FAVoR · 4", "text"].startswith("3.000 [")
    assert "chosen" not in losses.loc["FAVoR · 4", "text"]
    assert "Base" in losses.index[0]
    assert cells.loc[cells["row"] == "FAVoR · 64", "text"].tolist()[:4] == ["0.900", "0.900", "0.900", "0.9000"]
    wide = at_points(spec, POINTS)
    assert "(chosen)" in html_table(wide, cells)
    assert "(chosen)" in latex_table(wide, cells)


def test_a_table_of_columns_by_method_has_a_column_of_losses_for_each() -> None:
    scores = sweep_scores()
    spec = with_choice(printed_spec("text-volume-sweep"), scores, POINTS, {})
    cells = build_sweep(spec, POINTS, scores, contexts())
    chosen = cells[cells["text"].str.endswith("(chosen)")]
    assert chosen["row"].tolist() == ["4", "16"]
    assert chosen["column"].tolist() == ["Ditto validation loss", "FAVoR validation loss"]
    # Tables of paired tests print no scores of points: they say what was chosen.
    tests = with_choice(printed_spec("cold-start-nested-k"), scores, POINTS, {})
    assert tests.panels == printed_spec("cold-start-nested-k").panels
    assert "FAVoR: 16" in tests.caption


@pytest.mark.parametrize(
    ("losses", "reason"),
    [
        ({"4": (2.0, 4.0), "16": (1.0,), "64": (2.0, 3.0)}, "its points have the losses of different authors"),
        ({"4": (2.0, 4.0)}, "it runs at one point"),
    ],
)
def test_nothing_is_chosen_of_what_cannot_be_compared(losses, reason) -> None:
    found = choices(sweep_scores({"favor": losses}), POINTS)
    assert found == {"favor": Choice(reason=reason)}
    assert chosen_points(found, {}) == f"FAVoR: none, as {reason}"
