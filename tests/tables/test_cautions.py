"""An encoder that is not shown to separate the writers' own texts is named before its scores."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.plan.conftest import plan  # noqa: F401 - a fixture

from favor.report.page import write_html_report
from favor.report.pdf import latex_source
from favor.scores.author_retrieval import retrieval_scores
from favor.scores.inputs import Sources
from favor.scores.metric import scores_frame
from favor.tables.build import build_table
from favor.tables.completion import cautions, printed_spec
from favor.tables.html import html_table
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


def test_an_encoder_of_random_vectors_is_named_by_its_title(retrieval) -> None:
    (first,) = cautions(retrieval, {"asce_a", "minilm"}, {"minilm": "My MiniLM"})
    assert first.startswith("Caution: My MiniLM is not shown to separate the writers' own texts (AUC 0.")
    assert cautions(retrieval, {"asce_a"}, {}) == []


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


def test_the_sentence_stands_before_the_scores(retrieval, scores) -> None:
    context = Context("trial", ["fedavg", "favor"], encoders={**ROLES, "style": "minilm"})
    spec = printed_spec("main_federated_results", context, retrieval=retrieval)
    text = html_table(spec, build_table(spec, scores, context))
    assert text.index("Caution: MiniLM") < text.index("<tbody>")


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
