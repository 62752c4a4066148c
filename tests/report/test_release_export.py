"""Runs in the layout of the paper's release, validated against its own schemas (tests/data/release_schemas)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml

from favor.corpora.tables import PROMPTS
from favor.encoders.tables import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.tables import GENERATIONS
from favor.foundation.errors import UserError
from favor.paper.names import released_methods
from favor.report.release_export import MINIMUM_RATIO, MINIMUM_WORDS, ReleasedRun, write_release
from favor.scores import text_quality
from favor.scores.inputs import ScoreInputs
from favor.scores.tables import SCORES, UTILITY

SCHEMAS = Path(__file__).resolve().parents[1] / "data" / "release_schemas"
SETTINGS: dict[str, Any] = {
    "prompts": {"prefix_tokens": 96},
    "federation": {"rounds": 6, "clients_per_round": 12},
    "lora": {"rank": 16, "alpha": 32, "dropout": 0.05},
    "generation": {"max_new_tokens": 220, "minimum_words": 20, "minimum_distinct_bigram_ratio": 0.15},
}
RUN = ReleasedRun(
    "BlogText", "favor", 2026, "asce_a", "Qwen2.5-3B-Instruct", "nf4", {"lambda_align": 0.3}, SETTINGS, True, True
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
            generations.append((2026, "favor", client, prompt, f"made {author}", 9, 25, 0.9, passed))
            embeddings.append((2026, "favor", client, prompt, centre + generator.normal(size=256)))
            sources.append((client, prompt, "gold", "Arts", centre))
            utility.append((2026, "favor", client, prompt, 0.8, 0.4))
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
    rows = [(2026, "favor", "asce_a", metric, "", value, 5, "") for metric, value in spaces.items()]
    rows += [(2026, "favor", "minilm", "author_accuracy", "", 0.1, 5, "")]
    rows += [(2026, "favor", "asce_a", "author_accuracy", "failures_wrong", 0.2, 6, "")]
    rows += [(2026, "favor", "", metric, "", value, 5, "") for metric, value in plain.items()]
    return pd.DataFrame(rows, columns=SCORES.names)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write_release(RUN, inputs(), scores(), folder)
    return folder


def validate(record: Any, schema: str) -> None:
    jsonschema.validate(record, json.loads((SCHEMAS / f"{schema}.schema.json").read_text()))


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_file_is_there_and_nothing_else(exported: Path) -> None:
    assert sorted(path.name for path in exported.iterdir()) == [
        "generations.jsonl", "method_config_resolved.yaml", "per_example_metrics.jsonl", "quality_filter_report.json",
        "seed_manifest.json", "summary_metrics.csv", "training_budget.csv",
    ]  # fmt: skip


def test_against_the_releases_schemas(exported: Path) -> None:
    for record in lines(exported / "generations.jsonl"):
        validate(record, "generations")
    for record in lines(exported / "per_example_metrics.jsonl"):
        validate(record, "per_example_metrics")
    validate(json.loads((exported / "quality_filter_report.json").read_text()), "quality_filter_report")
    for name in ("summary_metrics", "training_budget"):
        for record in pd.read_csv(exported / f"{name}.csv").to_dict("records"):
            validate(record, name)
    names = json.loads((SCHEMAS / "method_names.json").read_text())["official_names_used_in_paper"]
    assert sorted(released_methods().values()) == sorted(names)


def test_the_schemas_refuse_what_they_should(exported: Path) -> None:
    record = lines(exported / "generations.jsonl")[0]
    with pytest.raises(jsonschema.ValidationError):
        validate(record | {"max_new_tokens": 96}, "generations")


def test_values_are_the_runs(exported: Path) -> None:
    made, figures = lines(exported / "generations.jsonl"), lines(exported / "per_example_metrics.jsonl")
    assert len(made) == len(figures) == 5  # only outputs that passed
    assert [record["generation_id"] for record in made] == [record["generation_id"] for record in figures]
    assert all(record["asce_embedding_dim"] == 256 and record["author_correct"] for record in figures)
    summary = pd.read_csv(exported / "summary_metrics.csv").iloc[0]
    assert (summary["author_accuracy"], summary["macro_f1"], summary["eer"]) == (0.5, 0.4, 0.3)
    assert summary["pass_rate"] == pytest.approx(5 / 6)
    budget = pd.read_csv(exported / "training_budget.csv").iloc[0]
    assert (budget["rounds"], budget["peft_rank"], bool(budget["private_residual"])) == (6, 16, True)
    report = json.loads((exported / "quality_filter_report.json").read_text())
    assert (report["total_generated_samples"], report["passed_samples"]) == (6, 5)
    resolved = yaml.safe_load((exported / "method_config_resolved.yaml").read_text())
    assert resolved["hyperparameters"] == {"lambda_align": 0.3}
    assert resolved["experiment"]["lora"]["rank"] == 16
    assert (MINIMUM_WORDS, MINIMUM_RATIO) == (text_quality.MINIMUM_WORDS, text_quality.MINIMUM_DISTINCT_BIGRAM_RATIO)


def test_no_prompt_no_human_text_no_author(exported: Path) -> None:
    assert not any("secret" in path.read_text() for path in exported.iterdir())


def test_a_run_the_layout_cannot_hold_is_refused_in_one_line(tmp_path: Path) -> None:
    demo = SETTINGS | {"prompts": {"prefix_tokens": 32}, "generation": SETTINGS["generation"] | {"max_new_tokens": 96}}
    with pytest.raises(UserError) as caught:
        write_release(replace(RUN, settings=demo, method="global_asce"), inputs(), scores(), tmp_path)
    assert str(caught.value) == (
        "the released layout cannot hold this run: prompts.prefix_tokens is 32, not 96; it has no place for method "
        "'global_asce'; generation.max_new_tokens is 96, not 220"
    )
    with pytest.raises(UserError, match="the corpus is none of BlogText, Mythos-Reddit"):
        write_release(replace(RUN, dataset=""), inputs(), scores(), tmp_path)
    assert not list(tmp_path.iterdir())
