"""Exports a run in the artefact layout of the paper's public release: seven files a run, for its validator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from favor.foundation.errors import UserError
from favor.foundation.files import write_json, write_text
from favor.paper.names import released_methods
from favor.report.pan_export import write_jsonl
from favor.scores.inputs import ScoreInputs
from favor.scores.prototypes import predictions

PREFIX_TOKENS = {"BlogText": 96, "Mythos-Reddit": 192}
MAXIMUM_NEW_TOKENS = 220
EMBEDDING_DIMENSION = 256
MINIMUM_WORDS, MINIMUM_RATIO = 20, 0.15
# column of summary_metrics.csv -> (metric of the scores table, whether it is taken in the style encoder's space)
SUMMARY = {
    "author_accuracy": ("author_accuracy", True),
    "macro_f1": ("author_macro_f1", True),
    "verification_auc": ("generated_auc", True),
    "eer": ("generated_eer", True),
    "bertscore_f1": ("bertscore_f1", False),
    "semantic_similarity": ("semantic_similarity", False),
    "pass_rate": ("pass_rate", False),
}


@dataclass(frozen=True)
class ReleasedRun:
    """What is exported beside the tables.

    ``dataset``: the release's name of the corpus. ``method``: key. ``style_encoder``: key. ``settings``: resolved
    values of the experiment. ``private_residual``, ``asce_alignment``: what the method's stages have.
    """

    dataset: str
    method: str
    seed: int
    style_encoder: str
    base_model: str
    quantisation: str
    hyperparameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    private_residual: bool
    asce_alignment: bool


def check(run: ReleasedRun) -> None:
    """Raise ``UserError`` naming everything the release's validator would refuse."""
    generation = run.settings["generation"]
    prefix = run.settings["prompts"]["prefix_tokens"]
    wrong = []
    if run.dataset not in PREFIX_TOKENS:
        wrong.append(f"the corpus is none of {', '.join(PREFIX_TOKENS)} (paper_dataset)")
    elif prefix != PREFIX_TOKENS[run.dataset]:
        wrong.append(f"prompts.prefix_tokens is {prefix}, not {PREFIX_TOKENS[run.dataset]}")
    if run.method not in released_methods():
        wrong.append(f"it has no place for method '{run.method}'")
    for key, fixed in (
        ("max_new_tokens", MAXIMUM_NEW_TOKENS),
        ("minimum_words", MINIMUM_WORDS),
        ("minimum_distinct_bigram_ratio", MINIMUM_RATIO),
    ):
        if generation[key] != fixed:
            wrong.append(f"generation.{key} is {generation[key]}, not {fixed}")
    if wrong:
        raise UserError(f"the released layout cannot hold this run: {'; '.join(wrong)}")


def write_release(run: ReleasedRun, inputs: ScoreInputs, scores: pd.DataFrame, folder: Path) -> None:
    """Write the seven files of a run into ``folder``.

    ``inputs`` holds this run and its utility table, ``scores`` the rows of the families prototypes, verification,
    utility and quality. generations.jsonl quotes what the model wrote, of outputs that pass the filter; prompts and
    human continuations stay out.
    """
    check(run)
    name = released_methods()[run.method]
    common = {"dataset": run.dataset, "method": name, "seed": run.seed}
    items = _items(run, inputs)
    write_jsonl((_generation(run, row) | common for row in items.to_dict("records")), folder / "generations.jsonl")
    write_jsonl((_metrics(row) | common for row in items.to_dict("records")), folder / "per_example_metrics.jsonl")
    _write_csv([common | _summary(run, scores)], folder / "summary_metrics.csv")
    _write_csv([_budget(run, name)], folder / "training_budget.csv")
    made = inputs.generations
    report = {
        "total_generated_samples": len(made),
        "passed_samples": int(made["passed"].sum()),
        "filter_config": {"min_output_words": MINIMUM_WORDS, "min_distinct_bigram_ratio": MINIMUM_RATIO},
    }
    write_json(common | report, folder / "quality_filter_report.json")
    resolved = common | {"hyperparameters": dict(run.hyperparameters), "experiment": dict(run.settings)}
    write_text(yaml.safe_dump(resolved, sort_keys=True, allow_unicode=True), folder / "method_config_resolved.yaml")
    seeds = {"training_seed": run.seed, "derivation": "BLAKE2b of (seed, purpose, identifiers), 63 bits"}
    write_json(common | seeds, folder / "seed_manifest.json")


def _items(run: ReleasedRun, inputs: ScoreInputs) -> pd.DataFrame:
    """Survivors with their texts and per-example metrics."""
    own = next(found for found in inputs.runs if (found.method, found.seed) == (run.method, run.seed))
    if inputs.utility is None:
        raise UserError("the released layout needs the utility table; make it first")
    keys = ["client", "prompt_id"]
    utility = inputs.utility[(inputs.utility["method"] == run.method) & (inputs.utility["seed"] == run.seed)]
    frame = predictions(inputs, run.style_encoder, own)[[*keys, "predicted"]]
    for part in (
        inputs.generations[[*keys, "text", "words", "distinct_bigram_ratio"]],
        utility[[*keys, "bertscore_f1", "semantic_similarity"]],
    ):
        frame = frame.merge(part, on=keys, validate="one_to_one")
    frame["method"] = run.method
    frame["dimension"] = inputs.sources(run.style_encoder, "train").vectors.shape[1]
    return frame


def _identifiers(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "generation_id": f"{row['method']}-{row['prompt_id']}",
        "author_id": row["client"],
        "client_id": row["client"],
        "output_word_count": int(row["words"]),
        "distinct_bigram_ratio": float(row["distinct_bigram_ratio"]),
        "passed_quality_filter": True,
    }


def _generation(run: ReleasedRun, row: Mapping[Any, Any]) -> dict[str, Any]:
    return _identifiers(row) | {
        "continuation_id": row["prompt_id"],
        "prefix_token_count": run.settings["prompts"]["prefix_tokens"],
        "max_new_tokens": MAXIMUM_NEW_TOKENS,
        "output_text": row["text"],
        "prompt_text_redacted": True,
        "gold_continuation_redacted": True,
    }


def _metrics(row: Mapping[Any, Any]) -> dict[str, Any]:
    figures = {
        "author_correct": bool(row["predicted"] == row["client"]),
        "bertscore_f1": float(row["bertscore_f1"]),
        "semantic_similarity": float(row["semantic_similarity"]),
    }
    if row["dimension"] == EMBEDDING_DIMENSION:
        figures["asce_embedding_dim"] = EMBEDDING_DIMENSION
    return _identifiers(row) | figures


def _summary(run: ReleasedRun, scores: pd.DataFrame) -> dict[str, float]:
    rows = scores[(scores["method"] == run.method) & (scores["seed"] == run.seed) & (scores["variant"] == "")]
    values = rows.set_index(["metric", "encoder"])["value"]
    return {
        column: float(values[metric, run.style_encoder if own_space else ""])
        for column, (metric, own_space) in SUMMARY.items()
    }


def _budget(run: ReleasedRun, name: str) -> dict[str, Any]:
    federation, lora = run.settings["federation"], run.settings["lora"]
    return {
        "method": name,
        "seed": run.seed,
        "rounds": federation["rounds"],
        "clients_per_round": federation["clients_per_round"],
        "peft_rank": lora["rank"],
        "peft_alpha": lora["alpha"],
        "peft_dropout": lora["dropout"],
        "base_model": run.base_model,
        "quantization": run.quantisation,
        "max_new_tokens": MAXIMUM_NEW_TOKENS,
        "private_residual": run.private_residual,
        "asce_alignment": run.asce_alignment,
    }


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    write_text(pd.DataFrame(rows).to_csv(index=False), path)
