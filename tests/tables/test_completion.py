"""What a run adds to a table: cautions about encoders, footnotes, and the panels of all metrics."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.plan.conftest import plan  # noqa: F401 - a fixture

from favor.report.page import write_html_report
from favor.report.pdf import latex_source
from favor.scores.author_retrieval import retrieval_scores
from favor.scores.inputs import Sources
from favor.scores.metric import SOURCE, Score, scores_frame
from favor.tables.build import build_table
from favor.tables.completion import EvaluationPosts, cautions, printed_spec
from favor.tables.html import html_document, html_table
from favor.tables.latex import latex_table
from favor.tables.settings import Point
from favor.tables.specs import Context
from favor.tables.sweeps import printed_at_points

ROLES = {"style": "asce_a", "semantic": "minilm", "independent": "asce_b"}


def texts(seed, separated) -> Sources:
    """Six texts of each of ten authors, around a centre of their own or around none."""
    generator = np.random.default_rng(seed)
    clients = np.repeat([f"client_{number:03d}" for number in range(10)], 6)
    vectors = generator.normal(size=(60, 12)) + np.repeat(np.eye(12)[:10], 6, axis=0) * (9 if separated else 0)
    frame = pd.DataFrame({"client": clients, "item": range(60), "topic": "Student"})
    return Sources(frame, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture(scope="module")
def retrieval() -> pd.DataFrame:
    """ASCE separates the authors; MiniLM and ASCE-B are random vectors."""
    spaces = {"asce_a": True, "asce_b": False, "minilm": False}
    found = (retrieval_scores(name, texts(1, apart), texts(2, apart), 300, 1) for name, apart in spaces.items())
    return scores_frame(score for scores in found for score in scores)


@pytest.mark.parametrize(
    ("label", "named"),
    [
        ("main_federated_results", []),  # ASCE alone, which is sound; MiniLM gives similarity of meaning there
        ("asce-b-audit", ["ASCE-B"]),
        ("phase1-main-external-verification", ["MiniLM"]),
        ("phase1-external-paired-auc", ["MiniLM"]),
        ("measure-agreement", ["ASCE-B", "MiniLM"]),
        ("all-metrics", ["ASCE-B", "MiniLM"]),
        ("communication-by-method", []),
    ],
)
def test_a_table_names_the_encoders_that_it_prints(retrieval, label, named) -> None:
    spec = printed_spec(label)
    printed = printed_spec(label, Context("trial", [], encoders=ROLES), retrieval=retrieval)
    found = printed.caption.removesuffix(spec.caption)
    assert found.count("Caution: ") == len(named)
    assert all(f"Caution: {name} is not shown to separate" in found for name in named)
    assert spec.prints_style == (label != "communication-by-method")


def test_a_sweep_says_of_which_points_it_is(retrieval) -> None:
    label, points = "imbalance-sweep", [Point(label="even", experiment="one"), Point(label="steep", experiment="two")]
    plain = printed_spec(label).caption

    def caption(one, two) -> str:
        known = {name: Context(name, [], encoders={"style": style}) for name, style in (("one", one), ("two", two))}
        specs = {name: printed_spec(label, own, retrieval=retrieval) for name, own in known.items()}
        return printed_at_points(label, points, specs).caption

    found = caption("asce_a", "minilm")
    assert found.startswith("steep: Caution: MiniLM is not shown to separate")
    assert "even" not in found.removesuffix(plain)
    found = caption("minilm", "minilm")
    assert found.startswith("Caution: MiniLM")
    assert found.count("Caution") == 1
    assert caption("asce_a", "asce_a") == plain


def test_the_report_names_it_before_the_headline(report, retrieval, tmp_path) -> None:
    said = cautions(retrieval, {"minilm"}, {})
    (experiment,) = report.experiments
    named = replace(report, experiments=[replace(experiment, cautions=said, findings=["The headline."])])
    write_html_report(tmp_path / "report.html", named)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("Caution: MiniLM is not shown to separate") < page.index("The headline.")
    source, _ = latex_source(named)
    assert source.index("Caution: MiniLM is not shown to separate") < source.index("The headline.")


def test_tables_of_style_wait_for_the_test_of_their_encoders(plan) -> None:  # noqa: F811
    assert "author_retrieval" in plan().evaluation.families("micro")


def prompts(*posts) -> pd.DataFrame:
    return pd.DataFrame({"client": "client_001", "document_id": list(posts)})


def test_shared_posts_and_missing_prompts_by_hand() -> None:
    posts = EvaluationPosts.of({1: prompts("a", "b", "c"), 2: prompts("b", "c"), 3: prompts("c", "d", "e")}, 3)
    # a b c d e; b and c in more than one seed
    assert (posts.posts, posts.shared) == (5, 2)
    assert posts.sharing.startswith("2 of the 5 evaluation posts are used in more than one seed")
    assert posts.shortfall == "Fewer prompts than asked for, as test posts are too short: 2 of 3 (seed 2)."
    apart = EvaluationPosts.of({1: prompts("a"), 2: prompts("b")}, 1)
    assert (apart.sharing, apart.shortfall) == ("", "")


def test_fewer_prompts_stand_below_a_table(scores, context) -> None:
    posts = EvaluationPosts.of({1: prompts("a", "b"), 2: prompts("c", "d", "e")}, 3)
    remarks = {"FAVoR": "On FAVoR.", "Other": "On another."}
    spec = printed_spec("main_federated_results", Context("trial", [], remarks=remarks), posts)
    cells = build_table(spec, scores, context)
    for text in (latex_table(spec, cells), html_table(spec, cells)):
        assert "Fewer prompts than asked for, as test posts are too short: 2 of 3 (seed 1)." in text
        assert "On FAVoR." in text
        assert "On another." not in text


@pytest.mark.parametrize("shared", [True, False])
def test_the_interval_over_authors_goes_first_where_seeds_share_posts(shared) -> None:
    posts = EvaluationPosts.of({1: prompts("a"), 2: prompts("a" if shared else "b")}, 1)
    plain, spec = (printed_spec("phase1-paired-significance", own, posts) for own in (None, Context("trial", [])))
    statistics = [column.statistic for column in spec.panels[0].columns]
    assert (statistics.index("author_interval") < statistics.index("interval")) == shared
    assert sorted(map(repr, spec.panels[0].columns)) == sorted(map(repr, plain.panels[0].columns))
    assert ("read the interval over authors first" in spec.footnotes[""]) == shared


@pytest.mark.parametrize(("texts", "reason"), [(9, "n = 9"), (10, "")])
def test_a_score_of_fewer_than_ten_texts_says_so(score, texts, reason) -> None:
    spec = printed_spec("main_federated_results")
    rows = [score("favor", "author_accuracy", 0.5, "asce_a") | {"n": texts}]
    cells = build_table(spec, pd.DataFrame(rows), Context("trial", ["favor"], encoders={"style": "asce_a"}))
    found = cells[(cells["row"] == "FAVoR") & (cells["value"] == 0.5)]
    assert found["reason"].tolist() == [reason]


def test_feddpas_rows_say_which_global_half_generates(plan) -> None:  # noqa: F811
    late = {"late": {"method": "feddpa", "global_half": "final", "title": "Late"}}
    planner = plan(change={"experiments": {"micro": {"methods": late}}})
    remarks = planner.tables.remarks("micro")
    last = planner.training.last_rounds("micro", "1", "coverage_first")
    initial = sum(number == 0 for number in last.values())
    assert f"which for {initial} (seed 1) of 4 clients is the untrained initial adapter" in remarks["FedDPA†"]
    assert remarks["Late"] == "Late: the global half of a client's pair is the final shared adapter."
    assert set(remarks) == {"feddpa", "feddpa_dynamic", "late", "FedDPA†", "FedDPA (dynamic gate)", "Late"}


def test_a_row_says_that_clients_without_a_half_of_their_own_generate_with_the_base(plan) -> None:  # noqa: F811
    rows = {"fedsa_lora": {}, "fedsa_b": {"method": "fedsa_lora", "uploads": "B"}}
    planner = plan(change={"experiments": {"micro": {"methods": rows, "federation": {"rounds": 1}}}})
    remarks = planner.tables.remarks("micro")
    sampled = len(planner.training.last_rounds("micro", "1", "coverage_first"))
    assert 0 < sampled < 4
    assert remarks["fedsa_lora"] == remarks["FedSA-LoRA"]
    assert f"{4 - sampled} (seed 1) clients that no round sampled generate with the base model" in remarks["fedsa_lora"]
    assert "fedsa_b" not in remarks  # B beside the initial A is an adapter of its own
    everybody = plan(change={"experiments": {"micro": {"methods": {"fedsa_lora": {}}}}})
    assert "fedsa_lora" not in everybody.tables.remarks("micro")


def test_a_remark_stands_where_a_column_is_its_method(scores, context) -> None:
    posts = EvaluationPosts.of({1: prompts("a")}, 1)
    remarks = {"feddpa": "On FedDPA.", "favor": "On FAVoR."}
    spec = printed_spec("feddpa-gate-sensitivity", Context("trial", [], remarks=remarks), posts)
    text = latex_table(spec, build_table(spec, scores, context))
    assert "On FedDPA." in text
    assert "On FAVoR." not in text


TITLES = {"display": {"mine": "Mine"}, "encoder_titles": {"e2": "My space"}}
ABOUT = Context("trial", ["favor", "mine"], **TITLES, seeds=(1,), marks="paper")
EVERY = scores_frame(
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


def of_all() -> tuple:
    spec = printed_spec("all-metrics", ABOUT, values=EVERY)
    return spec, build_table(spec, EVERY, ABOUT)


def test_every_default_value_is_printed_once() -> None:
    _, cells = of_all()
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
    spec, cells = of_all()
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
