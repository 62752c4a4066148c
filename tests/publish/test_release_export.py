"""Runs in the layout of the paper's release, validated against its own schemas (tests/data/release_schemas)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml
from tests.exports.conftest import refusal

from favor.corpora.schemas import PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import GENERATIONS
from favor.lm.settings import OutputFilter
from favor.paper.names import released_methods
from favor.publish.release_export import NO_SURVIVOR, SUMMARY, write_release
from favor.publish.settings import MINIMUM_RATIO, MINIMUM_WORDS, ReleasedRun, check, non_iid_level
from favor.scores.inputs import ScoreInputs
from favor.scores.schemas import SCORES, UTILITY

SCHEMAS = Path(__file__).resolve().parents[1] / "data" / "release_schemas"
SETTINGS: dict[str, Any] = {
    "clients": 50,
    "allocation": {"shape": "long_tail", "alpha": 0.7, "shots": None},
    "prompts": {"prefix_tokens": 96},
    "federation": {"rounds": 6, "clients_per_round": 12},
    "lora": {"rank": 16, "alpha": 32, "dropout": 0.05, "target_modules": ["q_proj", "v_proj"]},
    "generation": {"max_new_tokens": 220, "minimum_words": 20, "minimum_distinct_bigram_ratio": 0.15},
}
COMPONENTS = {"shared_stage": True, "proximal_term": True, "private_residual": True, "asce_alignment": True}
RUN = ReleasedRun(
    dataset="BlogText",
    generated=False,
    row="ours",
    title="FAVoR (ours)",
    method="favor",
    seed=2026,
    style_encoder="asce_a",
    style_encoder_title="ASCE",
    base_model="Qwen2.5-3B-Instruct",
    quantisation="nf4",
    hyperparameters={"lambda_align": 0.3},
    settings=SETTINGS,
    measured_with={"bertscore_model": "roberta-large", "assistant_classifier": None},
    components=COMPONENTS,
    method_components=COMPONENTS,
    local_epochs_shared=1,
    local_epochs_private=2,
    client_updates=72,
)


def inputs() -> ScoreInputs:
    """Three authors with two outputs each, the last of which failed the filter, in a 256-dimensional space."""
    generator = np.random.default_rng(0)
    prompts, generations, embeddings, sources, utility = [], [], [], [], []
    for author in range(1, 4):
        client = f"client_{author:03d}"
        centre = np.zeros(256)
        centre[author] = 5.0
        for number in (1, 2):
            prompt = f"{client}-2026-{number}"
            passed = (author, number) != (3, 2)
            prompts.append((2026, client, prompt, f"secret-{author}", "Arts", "secret prompt", [1], "secret gold", 30))
            generations.append((2026, "ours", client, prompt, 0, f"made {author}", 9, 25, 0.9, passed))
            embeddings.append((2026, "ours", client, prompt, 0, centre + generator.normal(size=256)))
            sources.append((client, prompt, "gold", "Arts", centre))
            utility.append((2026, "ours", client, prompt, 0, 0.8, 0.4))
        sources.append((client, f"secret-{author}-t", "train", "Arts", centre))
    return ScoreInputs(
        pd.DataFrame(generations, columns=GENERATIONS.names),
        pd.DataFrame(prompts, columns=["seed", *PROMPTS.names]),
        {"asce_a": pd.DataFrame(embeddings, columns=GENERATION_EMBEDDINGS.names)},
        {"asce_a": pd.DataFrame(sources, columns=SOURCE_EMBEDDINGS.names)},
        pd.DataFrame(utility, columns=UTILITY.names),
    )


def scores() -> pd.DataFrame:
    spaces = {"author_accuracy": 0.5, "author_macro_f1": 0.4, "generated_auc": 0.7, "generated_eer": 0.3}
    plain = {"bertscore_f1": 0.8, "semantic_similarity": 0.4, "pass_rate": 5 / 6}
    rows = [("asce_a", metric, "", value, 5, "") for metric, value in (spaces | {"silhouette": 0.2}).items()]
    rows += [("minilm", "author_accuracy", "", 0.1, 5, ""), ("asce_a", "author_accuracy", "failures_wrong", 0.2, 6, "")]
    rows += [("", metric, "", value, 5, "") for metric, value in plain.items()]
    rows += [("", "assistant_score", "", float("nan"), 0, "no assistant texts are configured")]
    return pd.DataFrame([(2026, "ours", *row) for row in rows], columns=SCORES.names)


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write_release(RUN, inputs(), scores(), folder)
    return folder


def validate(record, schema) -> None:
    jsonschema.validate(record, json.loads((SCHEMAS / f"{schema}.schema.json").read_text()))


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_file_is_there_and_nothing_else_and_none_holds_a_prompt_a_human_text_or_an_author(exported) -> None:
    assert sorted(path.name for path in exported.iterdir()) == [
        "README.md", "generations.jsonl", "method_config_resolved.yaml", "per_example_metrics.jsonl",
        "quality_filter_report.json", "seed_manifest.json", "summary_metrics.csv", "training_budget.csv",
    ]  # fmt: skip
    assert not any("secret" in path.read_text() for path in exported.iterdir())


def test_against_the_releases_schemas(exported) -> None:
    for name in ("generations", "per_example_metrics"):
        for record in lines(exported / f"{name}.jsonl"):
            validate(record, name)
    validate(json.loads((exported / "quality_filter_report.json").read_text()), "quality_filter_report")
    for name in ("summary_metrics", "training_budget"):
        for record in pd.read_csv(exported / f"{name}.csv").to_dict("records"):
            validate(record, name)
    names = json.loads((SCHEMAS / "method_names.json").read_text())["official_names_used_in_paper"]
    assert sorted(released_methods().values()) == sorted(names)
    record = lines(exported / "generations.jsonl")[0]
    with pytest.raises(jsonschema.ValidationError):
        validate(record | {"max_new_tokens": 96}, "generations")


def test_values_are_the_runs(exported) -> None:
    made, figures = lines(exported / "generations.jsonl"), lines(exported / "per_example_metrics.jsonl")
    assert len(made) == len(figures) == 5  # only outputs that passed
    assert [record["generation_id"] for record in made] == [record["generation_id"] for record in figures]
    assert all(record["asce_embedding_dim"] == 256 and record["author_correct"] for record in figures)
    summary = pd.read_csv(exported / "summary_metrics.csv").iloc[0]
    assert (summary["author_accuracy"], summary["macro_f1"], summary["eer"]) == (0.5, 0.4, 0.3)
    assert summary["pass_rate"] == pytest.approx(5 / 6)
    report = json.loads((exported / "quality_filter_report.json").read_text())
    assert (report["total_generated_samples"], report["passed_samples"]) == (6, 5)
    assert report["filter_fail_reason"] == {"min_output_words": 0, "min_distinct_bigram_ratio": 1}
    resolved = yaml.safe_load((exported / "method_config_resolved.yaml").read_text())
    assert resolved["hyperparameters"] == {"lambda_align": 0.3}
    assert resolved["experiment"]["lora"]["rank"] == 16
    assert tuple(OutputFilter().model_dump().values()) == (MINIMUM_WORDS, MINIMUM_RATIO)
    assert (summary["num_examples"], summary["silhouette"], summary["asce_embedding_model"]) == (5, 0.2, "ASCE")
    assert np.isnan(summary["assistant_score_mean"])
    assert summary["notes"] == "assistant_score_mean is missing: no assistant texts are configured"
    budget = pd.read_csv(exported / "training_budget.csv").iloc[0].to_dict()
    expected = {
        "dataset": "BlogText", "K": 50, "rounds": 6, "peft_rank": 16, "private_residual": True,
        "local_epochs_shared": 1, "local_epochs_private": 2, "total_client_updates": 72,
        "peft_target_modules": "q_proj,v_proj", "non_iid_level": "medium",
    }  # fmt: skip
    assert {key: budget[key] for key in expected} == expected
    for name in ("generations", "per_example_metrics"):
        assert all(record["filter_fail_reason"] is None for record in lines(exported / f"{name}.jsonl"))
    assert {record["asce_embedding_model"] for record in lines(exported / "per_example_metrics.jsonl")} == {"ASCE"}


def test_the_export_says_what_its_columns_mean_and_whose_clients_it_names(exported) -> None:
    readme = (exported / "README.md").read_text()
    assert all(f"| `{column}` | " in readme for column in SUMMARY)
    assert "bertscore model: roberta-large" in readme
    assert "client_001 is not the person" in readme
    assert "client_001 is not the person" in json.loads((exported / "seed_manifest.json").read_text())["clients"]


def test_a_run_without_survivors_says_so(tmp_path) -> None:
    made = inputs()
    empty = replace(made, generations=made.generations.assign(passed=False, words=3))
    reason = "no output passed the filter"
    missing = scores().assign(value=float("nan"), n=0, note=reason)
    notes = write_release(RUN, empty, missing, tmp_path)
    assert notes[0] == NO_SURVIVOR
    assert f"verification_auc is missing: {reason}" in notes
    assert lines(tmp_path / "generations.jsonl") == lines(tmp_path / "per_example_metrics.jsonl") == []
    assert all(f"- {note}\n" in (tmp_path / "README.md").read_text() for note in notes)
    assert NO_SURVIVOR in pd.read_csv(tmp_path / "summary_metrics.csv").iloc[0]["notes"]
    report = json.loads((tmp_path / "quality_filter_report.json").read_text())
    assert report["filter_fail_reason"] == {"min_output_words": 6, "min_distinct_bigram_ratio": 0}


def test_a_row_leaves_under_its_methods_name(tmp_path) -> None:
    write_release(RUN.model_copy(update={"method": "fedavg"}), inputs(), scores(), tmp_path)
    assert {record["method"] for record in lines(tmp_path / "generations.jsonl")} == {"FedAvg"}
    resolved = yaml.safe_load((tmp_path / "method_config_resolved.yaml").read_text())
    assert (resolved["method"], resolved["row"], resolved["title"]) == ("FedAvg", "ours", "FAVoR (ours)")


@pytest.mark.parametrize(
    ("allocation", "level"),
    [
        ({"shape": "long_tail", "alpha": 0.7}, "medium"),
        ({"shape": "long_tail", "alpha": 1.0}, "long_tail 1"),
        ({"shape": "balanced", "alpha": 0.7}, "balanced"),
        ({"shape": "long_tail", "alpha": 0.7, "shots": 8}, "equal number of texts"),
    ],
)
def test_the_level_of_imbalance_is_the_releases_where_it_has_one(allocation, level) -> None:
    assert non_iid_level(allocation) == level


def test_a_run_the_layout_cannot_hold_is_refused_in_one_line(tmp_path) -> None:
    demo = SETTINGS | {"prompts": {"prefix_tokens": 32}, "generation": SETTINGS["generation"] | {"max_new_tokens": 96}}
    run = RUN.model_copy(update={"settings": demo, "method": "global_asce"})
    assert refusal(write_release, run, inputs(), scores(), tmp_path) == (
        "the released layout cannot hold this run: prompts.prefix_tokens is 32, not 96; it has no place for method "
        "'global_asce'; generation.max_new_tokens is 96, not 220"
    )
    assert not list(tmp_path.iterdir())
    assert "the corpus is none of BlogText, Mythos-Reddit" in refusal(check, RUN.model_copy(update={"dataset": ""}))
