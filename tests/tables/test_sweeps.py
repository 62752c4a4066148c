"""Tables and figures over the points of a sweep, from hand-made scores."""

import math
import re
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes

from favor.figures.identity import Methods
from favor.figures.sweep import draw_sweep, sweep_label
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.paper.values import load_paper_values
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.completion import EvaluationPosts, printed_spec
from favor.tables.html import html_table
from favor.tables.latex import latex_table
from favor.tables.marks import BY_EVIDENCE, EVEN, UNTESTED
from favor.tables.settings import Point
from favor.tables.specs import POINT, Column, Context, Panel, Row, TableSpec
from favor.tables.sweeps import at_points, build_sweep, printed_at_points

POINTS = [Point(label="even", experiment="balanced", paper="Balanced"), Point(label="Strong", experiment="strong")]
KEPT = ("author_margin", "generated_source_auc")
SPACES = {"even": "asce_a", "Strong": "asce_a"}


def contexts(**methods) -> dict[str, Context]:
    about = {"encoders": {"style": "asce_a"}, "seeds": (1, 2), "marks": "paper"}
    runs = {name: methods.get(name, ("ditto", "favor")) for name in ("balanced", "strong")}
    return {name: Context(name, rows, "Blogs", "BlogText", **about) for name, rows in runs.items()}


@pytest.fixture
def scores(score) -> pd.DataFrame:
    values = {
        ("even", "favor"): (0.70, 0.74), ("even", "ditto"): (0.60, 0.61),
        ("Strong", "favor"): (0.50, 0.52), ("Strong", "ditto"): (0.55, 0.551),
    }  # fmt: skip
    rows = [
        {**score(method, metric, value, encoder, seed), "point": point, "experiment": ""}
        for (point, method), both in values.items()
        for seed, value in enumerate(both, start=1)
        for metric, encoder in (("generated_auc", "asce_a"), ("generated_eer", "asce_a"), ("bertscore_f1", ""))
    ]
    return pd.DataFrame(rows)


def at_point(score, method, metric, point, values, encoder="", start="") -> list[dict]:
    """A metric with its interval, or what ``values`` has of it."""
    variants = [f"{start}{end}".strip("_") for end in ("", "_low", "_high")]
    known = zip(variants, values, strict=False)
    rows = (score(method, metric, value, encoder, 0, variant=variant) for variant, value in known)
    return [row | {"point": point, "experiment": ""} for row in rows]


def own(*columns, ranked=True, **others) -> TableSpec:
    rows = tuple(Row((name, POINT), method=name.lower(), ranked=ranked) for name in ("FAVoR", "Ditto"))
    stubs = {"stub_headers": ("Method", "Point"), "over_points": True}
    return TableSpec("own", "Own", "Caption.", rows, (Panel(columns),), ("verification",), **stubs, **others)


def test_gains_at_every_point_with_their_intervals(score) -> None:
    rows = [
        *at_point(score, "favor", "likelihood_own_gain", "even", (0.05, 0.03, 0.07)),
        *at_point(score, "favor", "likelihood_own_gain", "Strong", (-0.01, -0.02, 0.0)),
        *at_point(score, "ditto", "likelihood_own_gain", "even", (0.04, 0.02, 0.06)),
    ]
    cells = build_sweep(printed_spec("likelihood-sweep"), POINTS, pd.DataFrame(rows), contexts(), None)
    own = cells[cells["column"] == cells["column"].iloc[0]]
    # The order of the paper's methods; FAVoR forgets its own author at the second point.
    found = [text for text in own["text"] if "[" in text]
    assert found == ["+0.040 [0.020, 0.060]", "+0.050 [0.030, 0.070]", "−0.010 [−0.020, 0.000]"]


def test_two_methods_in_one_cell_by_hand(scores, tmp_path) -> None:
    spec = printed_spec("imbalance-sweep")
    cells = build_sweep(spec, POINTS, scores, contexts(), load_paper_values(spec.label))
    # Means 0.72 and 0.605, difference 0.115; 0.51 and 0.5505, difference -0.0405, which prints as -0.041 (of 0.5505).
    assert cells["row"].tolist() == ["even"] * 3 + ["Strong"] * 3
    texts = cells["text"].tolist()
    assert texts[:3] == ["0.720 / 0.605 (+0.115)", "0.720 / 0.605 (+0.115)", "0.7200 / 0.6050"]
    assert texts[5] == "0.5100 / 0.5505"
    assert re.fullmatch(r"0\.510 / 0\.55\d \(−0\.04\d\)", texts[3])
    assert cells["paper_text"].tolist()[0] == "0.753 / 0.699 (+0.054)"  # under the row's name in the paper
    assert cells["paper_text"].tolist()[5] == "0.8154 / 0.8136"
    assert cells["n"].tolist() == [2] * 6
    assert set(cells["reason"]) == {""}
    write_parquet(cells, tmp_path / "cells.parquet", TABLE_CELLS)
    assert list(read_parquet(tmp_path / "cells.parquet", TABLE_CELLS).columns) == TABLE_CELLS.names
    wide = at_points(spec, POINTS)
    assert "0.720 / 0.605 (+0.115)" in html_table(wide, cells)
    assert "0.720 / 0.605 (+0.115)" in latex_table(wide, cells)


def test_a_missing_half_is_a_dash_with_its_reason(scores) -> None:
    known = scores[~((scores["point"] == "Strong") & (scores["method"] == "ditto"))]
    cells = build_sweep(printed_spec("imbalance-sweep"), POINTS, known, contexts(strong=("favor",)))
    reasons = cells[cells["column"] == "EER FAVoR / Ditto (Δ)"].set_index("row")["reason"]
    assert reasons.to_dict() == {"even": "", "Strong": "Ditto is not run in experiment strong"}
    once = known[(known["seed"] == 1) | (known["point"] == "Strong")]
    cells = build_sweep(printed_spec("imbalance-sweep"), POINTS, once, contexts(strong=("favor",)))
    assert cells["reason"].tolist()[0] == "mean over 1 of 2 seeds"


def test_rows_of_several_methods_are_grouped_and_ranked_by_point(scores) -> None:
    spec = own(Column("AUC", "generated_auc", "style", direction="up"), ranked_within="point")
    cells = build_sweep(spec, POINTS, scores, contexts())
    assert cells["row"].tolist() == ["FAVoR · even", "Ditto · even", "FAVoR · Strong", "Ditto · Strong"]
    assert cells["mark"].tolist() == ["best", "second", "second", "best"]
    assert cells["value"].tolist() == pytest.approx([0.72, 0.605, 0.51, 0.5505])
    assert cells["deviation"].tolist()[0] == pytest.approx(0.02 * math.sqrt(2))
    assert [row.group for row in at_points(spec, POINTS).rows] == ["even", "even", "Strong", "Strong"]
    # A method that a point's experiment does not run has no row there.
    fewer = build_sweep(spec, POINTS, scores, contexts(strong=("favor",)))
    assert fewer["row"].tolist() == ["FAVoR · even", "Ditto · even", "FAVoR · Strong"]


def test_rows_within_a_point_are_marked_by_its_own_evidence(scores) -> None:
    spec = own(Column("AUC", "generated_auc", "style", direction="up"), ranked_within="point")

    def differing(p) -> pd.DataFrame:
        keys = {"encoder": "asce_a", "metric": "generated_auc", "delta": 0.1, "low": 0.05, "high": 0.2}
        pairs = [("ditto", "favor", p), ("gold", "shuffled", 0.001)]
        return pd.DataFrame([{**keys, "left_method": a, "right_method": b, "p": value} for a, b, value in pairs])

    known = {name: replace(context, marks="evidence") for name, context in contexts().items()}
    evidence = {"balanced": differing(0.01), "strong": differing(0.4)}
    cells = build_sweep(spec, POINTS, scores, known, evidence=evidence)
    # FAVoR is better at the first point; at the second the two are not distinguishable.
    assert cells["mark"].tolist() == ["", "below", "", ""]
    assert cells["marking"].tolist() == [BY_EVIDENCE, BY_EVIDENCE, EVEN, EVEN]
    assert set(build_sweep(spec, POINTS, scores, known)["marking"]) == {UNTESTED}


def test_the_spread_over_points_by_hand(scores) -> None:
    apart = Column("Δ", "generated_auc", "style", minus="favor", signed=True)
    spec = own(Column("AUC", "generated_auc", "style"), apart, ranked=False, spread="Mean ± SD")
    cells = build_sweep(spec, POINTS, scores, contexts()).set_index(["row", "column"])
    # FAVoR .72 and .51: mean .615, deviation .21 / sqrt 2. Ditto less FAVoR: -.115 and .0405, mean -.03725.
    last = cells.loc["FAVoR · Mean ± SD", "AUC"]
    assert (last["value"], last["deviation"], last["n"]) == (pytest.approx(0.615), pytest.approx(0.21 / 2**0.5), 2)
    assert (last["text"], last["mark"], last["marking"]) == ("0.615 ± 0.148", "", "")
    assert cells.loc["Ditto · Mean ± SD", "Δ"]["text"] == "−0.037 ± 0.110"
    assert cells.loc["Ditto · Mean ± SD", "Δ"]["deviation"] == pytest.approx(0.1555 / 2**0.5)
    assert cells.loc["FAVoR · Mean ± SD", "Δ"]["text"] == "+0.000 ± 0.000"
    assert [row.label for row in at_points(spec, POINTS).rows][4:] == ["FAVoR · Mean ± SD", "Ditto · Mean ± SD"]
    # Ditto at one point alone has no spread; FAVoR's stays.
    fewer = scores[~((scores["point"] == "Strong") & (scores["method"] == "ditto"))]
    cells = build_sweep(spec, POINTS, fewer, contexts(strong=("favor",))).set_index(["row", "column"])
    assert cells.loc["Ditto · Mean ± SD", "AUC"]["reason"] == "fewer than two points have a value"
    assert cells.loc["FAVoR · Mean ± SD", "AUC"]["text"] == "0.615 ± 0.148"
    one = build_sweep(spec, POINTS[:1], scores, contexts())
    assert one["row"].unique().tolist() == ["FAVoR · even", "Ditto · even"]


def test_the_figure_draws_every_metric_and_says_what_is_missing(scores, tmp_path) -> None:
    metrics = {"generated_auc": "Verif. AUC", "bertscore_f1": "BERTScore"}
    path, shown = tmp_path / "points.svg", Methods(["favor", "ditto", "fedavg"])
    draw_sweep(scores, POINTS, metrics, SPACES, shown, path, axis="Allocation")
    # Seed means: FAVoR .72 and .51, Ditto .605 and .5505.
    said = "Verif. AUC: 2 methods at 2 points, from 0.51 to 0.72."
    assert f"<dc:title>{said}" in path.read_text(encoding="utf-8")
    empty = scores.assign(value=float("nan"), note="no output passed the filter")
    draw_sweep(empty, POINTS, metrics, SPACES, Methods(["favor"]), tmp_path / "empty.svg")
    with pytest.raises(UserError, match="no table of the sweep scores the figure's metric 'mauve'"):
        draw_sweep(scores, POINTS, {"mauve": "MAUVE"}, SPACES, Methods(["favor"]), tmp_path / "none.svg")


def test_the_figure_says_which_means_lack_seeds(scores, tmp_path) -> None:
    lacks = scores["method"].eq("ditto") & scores["seed"].eq(2)
    shown, paths = Methods(["favor", "ditto"]), (tmp_path / "a.svg", tmp_path / "a.csv")
    for points, said in ((["Strong"], "1 mean lacks seeds"), (["Strong", "even"], "2 means lack seeds")):
        own = scores.assign(value=scores["value"].mask(lacks & scores["point"].isin(points)))
        draw_sweep(own, POINTS, {"generated_auc": "AUC"}, SPACES, shown, *paths, axis="Allocation")
        drawn = paths[0].read_text(encoding="utf-8")
        assert "Ditto at Strong: mean over 1 of 2 seeds" in drawn.split("</dc:title>")[0]
        assert f">{said}<" in drawn
        data = pd.read_csv(paths[1]).set_index(["method", "point"])
        assert data.loc[("ditto", "Strong"), ["mean", "seeds", "of_seeds"]].tolist() == [0.55, 1, 2]


def test_the_figure_takes_every_point_in_its_own_space(scores, tmp_path) -> None:
    """Draws of other authors have encoders of their own; the first one's has no score at the others."""
    other = scores["point"].eq("Strong") & scores["encoder"].ne("")
    own = scores.assign(encoder=scores["encoder"].mask(other, "asce_2"))
    foreign = own[other].assign(encoder="asce_a", value=0.9)  # of an encoder that is another point's
    spaces, metrics = {"even": "asce_a", "Strong": "asce_2"}, {"generated_auc": "AUC"}
    draw_sweep(pd.concat([own, foreign]), POINTS, metrics, spaces, Methods(["favor"]), tmp_path / "points.csv")
    drawn = pd.read_csv(tmp_path / "points.csv").set_index("point")["mean"]
    assert drawn.to_dict() == {"even": pytest.approx(0.72), "Strong": pytest.approx(0.51)}


def test_bars_are_the_intervals_of_a_metric_or_else_deviations_over_seeds(score, tmp_path, monkeypatch) -> None:
    """Two seeds at each point: losses have an interval at the first one alone, margins have none."""
    rows = at_point(score, "fedavg", "validation_loss", "even", (math.nan, 3.0, 3.5))[1:]
    rows += [
        score("fedavg", metric, value, "", seed) | {"point": point, "experiment": ""}
        for metric, point in product(("validation_loss", "author_margin"), SPACES)
        for seed, value in ((1, 3.2), (2, 3.4))
    ]
    found, draw = [], Axes.errorbar

    def noted(*given, **look) -> Any:
        found.append(look["yerr"].tolist())
        return draw(*given, **look)

    monkeypatch.setattr(Axes, "errorbar", noted)
    metrics = {"validation_loss": "L", "author_margin": "M"}
    draw_sweep(pd.DataFrame(rows), POINTS, metrics, SPACES, Methods(["fedavg"]), tmp_path / "a.csv")
    spread = [pytest.approx(0.1 * 2**0.5)] * 2
    assert found == [[[pytest.approx(0.3), 0.0], [pytest.approx(0.2), 0.0]], [spread, spread]]


def test_crowded_names_are_turned_and_points_without_order_are_not_joined(scores, tmp_path, monkeypatch) -> None:
    names = ["none", "sum only", "clipped", "noise 0.1", "noise 1", "rank 1", "A frozen"]
    many = [Point(label=name, experiment="") for name in names]
    again = pd.concat([scores[scores["point"] == "even"].assign(point=name) for name in names])
    drawn: list[Axes] = []
    monkeypatch.setattr("favor.figures.sweep.save", lambda figure, *paths, **said: drawn.extend(figure.axes))
    metrics, spaces = {"generated_auc": "Verif. AUC"}, dict.fromkeys([*names, *SPACES], "asce_a")
    for frame, points, ordered in ((scores, POINTS, True), (again, many, False)):
        draw_sweep(frame, points, metrics, spaces, Methods(["favor"]), tmp_path / "a.svg", ordered=ordered)
    few, crowded = drawn
    assert [few.get_lines()[0].get_linestyle(), crowded.get_lines()[0].get_linestyle()] == ["-", "None"]
    assert {label.get_rotation() for label in crowded.get_xticklabels()} == {35.0}
    assert {label.get_rotation() for label in few.get_xticklabels()} == {0.0}


def test_the_figure_has_a_panel_per_method_and_metric_and_a_line_per_series(score, tmp_path) -> None:
    places = [(rule, share) for rule in ("mean", "Krum") for share in (0, 20)]
    points = [Point(label=f"{rule}, {share} %", experiment="", series=rule, value=share) for rule, share in places]
    made = [
        {**score(method, "poisoning_lost", place + share, "", 0, variant=variant), "point": point.label}
        for method, place in (("fedavg", 1.0), ("favor", 2.0))
        for point in points
        for variant, share in (("", 0.1 * len(point.series)), ("low", 0.0), ("high", 1.0))
    ]
    shown = Methods(["fedavg", "favor", "local_only"])
    frame = pd.DataFrame(made)
    draw_sweep(frame, points, {"poisoning_lost": "Lost"}, {}, shown, tmp_path / "a.svg", tmp_path / "a.csv")
    drawn = pd.read_csv(tmp_path / "a.csv")
    lost = drawn.set_index(["metric", "method", "point"])["mean"]
    assert lost["poisoning_lost of fedavg", "Krum", 20] == pytest.approx(1.4)
    assert lost["poisoning_lost of favor", "mean", 0] == pytest.approx(2.4)
    assert len(lost) == 8
    text = (tmp_path / "a.svg").read_text()
    assert all(name in text for name in ("Lost, FedAvg", "Lost, FAVoR", "Krum"))


def test_what_is_said_below_a_table_names_the_points_it_is_true_of(scores) -> None:
    known = {
        name: replace(context, remarks={"FAVoR": "On FAVoR.", "favor": f"In {name}."}, clients=4)
        for name, context in contexts().items()
    }
    posts = {
        "balanced": EvaluationPosts(posts=8, shared=0, prompts={1: 4, 2: 4}, asked=4),
        "strong": EvaluationPosts(posts=5, shared=2, prompts={1: 4, 2: 3}, asked=4),
    }

    def printed(label) -> TableSpec:
        specs = {name: printed_spec(label, own, posts[name]) for name, own in known.items()}
        return printed_at_points(label, POINTS, specs)

    spec = printed("imbalance-sweep")
    assert spec.footnotes["FAVoR"] == "On FAVoR."
    assert spec.footnotes["favor"] == "even: In balanced. Strong: In strong."
    chance = "Chance: AUC and EER 0.5."
    assert spec.footnotes[""].startswith(f"even: {chance} Strong: {chance} Fewer prompts")
    cells = build_sweep(spec, POINTS, scores, known)
    for text in (latex_table(at_points(spec, POINTS), cells), html_table(at_points(spec, POINTS), cells)):
        assert "3 of 4 (seed 2)" in text
    tests = printed("phase1-paired-significance")
    statistics = [column.statistic for column in tests.panels[0].columns]
    assert statistics.index("author_interval") < statistics.index("interval")


def test_a_figure_draws_a_variant_and_methods_that_miss_a_point(score, tmp_path) -> None:
    values = [("fedavg", "even", 0.9), ("fedavg", "Strong", 0.6), ("favor", "even", 0.8)]
    rows = [at_point(score, method, "text_auc", point, (value,), start="upload")[0] for method, point, value in values]
    labels = {"text_auc": "Text AUC"}
    assert sweep_label("text_auc", labels) == "Text AUC"
    metrics = {"text_auc:upload": sweep_label("text_auc:upload", labels)}
    draw_sweep(pd.DataFrame(rows), POINTS, metrics, SPACES, Methods(["fedavg", "favor"]), tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert "Text AUC (upload)" in drawn
    assert "FedAvg" in drawn
    assert "FAVoR" not in drawn  # at one of the two points alone
    with pytest.raises(UserError, match="text_auc:final"):
        draw_sweep(pd.DataFrame(rows), POINTS, {"text_auc:final": "x"}, SPACES, Methods(["fedavg"]), tmp_path / "b.svg")


def test_a_row_per_defence_and_a_dash_for_a_method_that_one_does_not_run(score) -> None:
    points = [Point(label="none", experiment="balanced"), Point(label="A frozen", experiment="strong")]
    attacks = [(metric, "upload") for metric in ("upload_norm", "sender_top1", "link_top1", "text_auc")]
    attacks += [("text_auc", "mean"), ("member_auc", "final"), ("empirical_epsilon", "mean")]
    rows = [
        row
        for point, methods in (("none", ("fedavg", "favor")), ("A frozen", ("fedavg",)))
        for name, metric, start, values, encoder in (
            *(("fedavg", metric, view, (0.75, 0.5, 1.0), "") for metric, view in attacks),
            *((name, f"kept_{metric}", "", (0.4, 0.3, 0.5), "asce_a") for name in methods for metric in KEPT),
        )
        for row in at_point(score, name, metric, point, values, encoder, start)
    ]
    known = contexts(balanced=("fedavg", "favor"), strong=("fedavg",))
    cells = build_sweep(printed_spec("privacy-defences"), points, pd.DataFrame(rows), known)
    found = cells.set_index(["row", "column"])
    for row, column, text in (
        ("none", "Whose is it? Top-1, each upload", "0.75 [0.50, 1.00]"),
        ("none", "Norm of uploads", "0.75"),
        ("none", "Canary client ε, at least", "0.8"),
        ("none", "FAVoR margin", "0.40 [0.30, 0.50]"),
        ("A frozen", "FedAvg margin", "0.40 [0.30, 0.50]"),
    ):
        assert found.loc[(row, column), "text"] == text
    assert "not run" in found.loc[("A frozen", "FAVoR margin"), "reason"]
