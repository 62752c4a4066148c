"""PAN exports, read back and measured by an evaluator written from PAN's definitions with scikit-learn and loops."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, f1_score, roc_auc_score
from tests.exports.conftest import refusal

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.corpora.schemas import PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import GENERATIONS
from favor.publish.pan_export import pan_export, write_pan
from favor.scores.inputs import ScoreInputs
from favor.scores.verification import source_pairs
from favor.statistics.bootstrap import auc
from favor.statistics.pan_measures import MEASURES, answers_of, equal_error_threshold, pan_measures
from favor.statistics.roc import Roc


def evaluate(folder) -> dict[str, float]:
    read = lambda name: {r["id"]: r for r in map(json.loads, (folder / name).read_text().splitlines())}  # noqa: E731
    truth, answers = read("truth.jsonl"), read("answers.jsonl")
    assert truth.keys() == answers.keys()
    return measure([truth[name]["same"] for name in truth], [answers[name]["value"] for name in truth])


def measure(same, values) -> dict[str, float]:
    answered = [(truth, value > 0.5) for truth, value in zip(same, values, strict=True) if value != 0.5]
    count, n = Counter(answered), len(same)
    correct, unanswered, hits = count[True, True] + count[False, False], n - len(answered), count[True, True]
    return {
        "auc": float(roc_auc_score(same, values)),
        "c@1": (1 / n) * (correct + unanswered * correct / n),
        "f_05_u": 1.25 * hits / (1.25 * hits + 0.25 * (count[True, False] + unanswered) + count[False, True]),
        "F1": float(f1_score(*zip(*answered, strict=True))),
        "brier": 1 - float(brier_score_loss(same, values)),
    }


@pytest.fixture
def inputs() -> ScoreInputs:
    """Eight authors of two topics; outputs and human texts scattered around the author's direction."""
    generator = np.random.default_rng(4)
    names = [f"client_{number:03d}" for number in range(1, 9)]
    topics = {name: ("Student", "Arts")[at % 2] for at, name in enumerate(names)}
    prompts, generations, embeddings, sources = [], [], [], []
    for at, name in enumerate(names):
        centre = generator.normal(size=5)

        def near(centre=centre) -> np.ndarray:
            return centre + generator.normal(size=5)

        for number in range(4):
            prompt = f"{name}-1-{number}"
            prompts.append((1, name, prompt, "d", topics[name], "a prompt", [1], "gold " * 30, 30))
            generations.append((1, "m", name, prompt, 0, "text", 9, 25, 0.9, (at + number) % 7 != 0))
            embeddings.append((1, "m", name, prompt, 0, near()))
            sources.append((name, prompt, "gold", topics[name], near()))
        for kind in ("train", "test"):
            sources += [(name, f"{name}-{kind}{i}", kind, topics[name], near()) for i in range(3)]
    return ScoreInputs(
        pd.DataFrame(generations, columns=GENERATIONS.names),
        pd.DataFrame(prompts, columns=["seed", *PROMPTS.names]),
        {"e": pd.DataFrame(embeddings, columns=GENERATION_EMBEDDINGS.names)},
        {"e": pd.DataFrame(sources, columns=SOURCE_EMBEDDINGS.names)},
    )


def test_an_independent_evaluator_agrees(inputs, tmp_path) -> None:
    export = pan_export(inputs, "e", "m", 1)
    write_pan(export, tmp_path)
    assert evaluate(tmp_path) == pytest.approx(export.measures, abs=1e-12)
    assert json.loads((tmp_path / "measures.json").read_text()) == export.measures
    authors = {name for record in export.truth for name in record["authors"]}
    assert all(name.startswith("client_") for name in authors)


def test_the_order_of_answers_is_the_order_of_cosines(inputs) -> None:
    run = next(run for run in inputs.runs if run.method == "m")
    pairs = source_pairs(inputs.vectors("e", run), run, inputs.sources("e", "gold", 1))
    values = np.array([record["value"] for record in pan_export(inputs, "e", "m", 1).answers])
    assert auc(values, pairs.positive) == pytest.approx(auc(pairs.scores, pairs.positive), abs=1e-12)
    rate = Roc.of(pairs.scores, pairs.positive).equal_error_rate()
    assert Roc.of(values, pairs.positive).equal_error_rate() == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_measures_with_unanswered_pairs(seed) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.random(60) < 0.4
    answers = np.clip(np.round(generator.random(60), 1), 0, 1)  # a tenth of them is exactly 0.5
    assert (answers == 0.5).any()
    assert pan_measures(truth, answers) == pytest.approx(measure(truth.tolist(), answers.tolist()), abs=1e-12)


def test_the_threshold_accepts_at_the_equal_error_rate() -> None:
    # 0.9+ 0.7- 0.6+ 0.2-: accepting from 0.7 on, one of two positives is missed and one of two negatives is accepted
    scores, positive = np.array([0.9, 0.7, 0.6, 0.2]), np.array([True, False, True, False])
    assert equal_error_threshold(scores, positive) == 0.7
    assert Roc.of(scores, positive).equal_error_rate() == 0.5
    assert answers_of(np.array([-1.0, -0.15, 0.7, 0.85, 1.0]), 0.7).tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert np.isnan(equal_error_threshold(scores, np.ones(4, dtype=bool)))


def test_a_missing_run_is_named(inputs) -> None:
    assert "no run of method 'x' with seed 1" in refusal(pan_export, inputs, "e", "x", 1)


def test_a_run_without_survivors_leaves_empty_files_that_say_so(inputs, tmp_path) -> None:
    empty = replace(inputs, generations=inputs.generations.assign(passed=False))
    write_pan(pan_export(empty, "e", "m", 1), tmp_path)
    assert [(tmp_path / name).read_text() for name in ("truth.jsonl", "answers.jsonl")] == ["", ""]
    note = "no pairs: no output that passed the filter has a held-out text to be paired with"
    assert json.loads((tmp_path / "measures.json").read_text()) == dict.fromkeys(MEASURES) | {"note": note}


def test_unknown_topics_leave_no_auc_and_say_why(inputs, tmp_path) -> None:
    unknown = replace(inputs, prompts=inputs.prompts.assign(topic=UNKNOWN_TOPIC))
    write_pan(pan_export(unknown, "e", "m", 1), tmp_path)
    written = json.loads((tmp_path / "measures.json").read_text())
    assert written["auc"] is None
    assert written["c@1"] is not None
    assert written["note"].startswith("no auc: there are no pairs of two authors")
