"""Exports a run in the artefact layout of the paper's public release: seven files for its validator, and a README."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from favor.foundation.errors import UserError
from favor.foundation.files import write_json, write_text
from favor.publish.pan_export import write_jsonl
from favor.publish.settings import (
    MAXIMUM_NEW_TOKENS,
    MINIMUM_RATIO,
    MINIMUM_WORDS,
    ReleasedRun,
    check,
    non_iid_level,
)
from favor.scores.inputs import OUTPUT_KEYS, ScoreInputs
from favor.scores.prototypes import run_figures

EMBEDDING_DIMENSION = 256
CLIENTS = (
    "Client names are this run's own: client_001 is not the person whom the authors' release calls client_001, so "
    "clients cannot be matched with it."
)
NO_SURVIVOR = "no output passed the filter: generations.jsonl and per_example_metrics.jsonl are empty"
# column of summary_metrics.csv -> its rule
SUMMARY = {
    "author_accuracy": "share of outputs whose nearest prototype (highest cosine) is their author's; a prototype is "
    "the normalised mean of the unit vectors of a client's training texts",
    "macro_f1": "unweighted mean of the F1 of every author with an output that passed, same predictions",
    "verification_auc": "AUC of the cosine over all pairs of outputs of the run, positive where both are one author's",
    "eer": "equal error rate over the same pairs, on the whole ROC without interpolation",
    "silhouette": "mean silhouette under cosine distance; clusters are authors",
    "bertscore_f1": "mean BERTScore F1 against the author's own continuation",
    "semantic_similarity": "mean cosine of sentence embeddings with the author's own continuation",
    "assistant_score_mean": "mean calibrated probability that a writing assistant wrote the output",
    "pass_rate": "share of all outputs that pass the filter",
}
# metrics of the table of scores by column: those of the style encoder's space, and another of another name
_IN_SPACE = {"author_accuracy": "author_accuracy", "macro_f1": "author_macro_f1", "verification_auc": "generated_auc"}
_IN_SPACE |= {"eer": "generated_eer", "silhouette": "silhouette"}
_OTHER = {"assistant_score_mean": "assistant_score"}


def write_release(run: ReleasedRun, inputs: ScoreInputs, scores: pd.DataFrame, folder: Path) -> list[str]:
    """Write the files of a run into ``folder``, and return what is missing in them, each with its reason.

    ``inputs`` holds this run and its utility table, ``scores`` the rows of the families in
    ``favor.publish.settings.FAMILIES``. generations.jsonl quotes what the model wrote, of outputs that pass the
    filter; prompts and human continuations stay out.
    """
    check(run)
    common = {"dataset": run.dataset, "method": run.released, "seed": run.seed}
    items = _items(run, inputs)
    write_jsonl((_generation(run, row) | common for row in items.to_dict("records")), folder / "generations.jsonl")
    examples = (_metrics(run, row) | common for row in items.to_dict("records"))
    write_jsonl(examples, folder / "per_example_metrics.jsonl")
    summary, missing = _summary(run, scores)
    notes = ([] if len(items) else [NO_SURVIVOR]) + missing
    counted = {"num_examples": len(items), "notes": "; ".join(notes)}
    _write_csv([common | summary | counted], folder / "summary_metrics.csv")
    _write_csv([_budget(run)], folder / "training_budget.csv")
    write_json(common | _quality(inputs.generations), folder / "quality_filter_report.json")
    resolved: dict[str, object] = {
        "row": run.row,
        "title": run.title,
        "non_iid_level": non_iid_level(run.settings["allocation"]),
        "hyperparameters": dict(run.hyperparameters),
        "experiment": dict(run.settings),
    }
    text = yaml.safe_dump(common | resolved, sort_keys=True, allow_unicode=True)
    write_text(text, folder / "method_config_resolved.yaml")
    seeds = {"training_seed": run.seed, "derivation": "BLAKE2b of (seed, purpose, identifiers), 63 bits"}
    write_json(common | seeds | {"clients": CLIENTS}, folder / "seed_manifest.json")
    write_text(_readme(run, notes), folder / "README.md")
    return notes


def _quality(made: pd.DataFrame) -> dict[str, object]:
    """Counts of the filter; an output that fails both limits counts under the first."""
    failed = ~made["passed"]
    short = failed & (made["words"] < MINIMUM_WORDS)
    return {
        "total_generated_samples": len(made),
        "passed_samples": int(made["passed"].sum()),
        "filter_config": {"min_output_words": MINIMUM_WORDS, "min_distinct_bigram_ratio": MINIMUM_RATIO},
        "filter_fail_reason": {
            "min_output_words": int(short.sum()),
            "min_distinct_bigram_ratio": int((failed & ~short).sum()),
        },
    }


def _items(run: ReleasedRun, inputs: ScoreInputs) -> pd.DataFrame:
    own = next(found for found in inputs.runs if (found.method, found.seed) == (run.row, run.seed))
    if inputs.utility is None:
        raise UserError("the released layout needs the utility table; make it first")
    utility = inputs.utility[(inputs.utility["method"] == run.row) & (inputs.utility["seed"] == run.seed)]
    predicted = run_figures(inputs, run.style_encoder, own)["predicted"].to_numpy()
    frame = own.survivors[OUTPUT_KEYS].assign(predicted=predicted)
    for part in (
        inputs.generations[[*OUTPUT_KEYS, "text", "words", "distinct_bigram_ratio"]],
        utility[[*OUTPUT_KEYS, "bertscore_f1", "semantic_similarity"]],
    ):
        frame = frame.merge(part, on=OUTPUT_KEYS, validate="one_to_one")
    frame["row"] = run.row
    frame["dimension"] = inputs.sources(run.style_encoder, "train").vectors.shape[1]
    return frame


def _identifiers(row: Mapping[Any, Any]) -> dict[str, object]:
    return {
        "generation_id": f"{row['row']}-{row['prompt_id']}" + (f"-{row['sample']}" if row["sample"] else ""),
        "author_id": row["client"],
        "client_id": row["client"],
        "output_word_count": int(row["words"]),
        "distinct_bigram_ratio": float(row["distinct_bigram_ratio"]),
        "passed_quality_filter": True,
        "filter_fail_reason": None,
    }


def _generation(run: ReleasedRun, row: Mapping[Any, Any]) -> dict[str, object]:
    return _identifiers(row) | {
        "continuation_id": row["prompt_id"],
        "prefix_token_count": run.settings["prompts"]["prefix_tokens"],
        "max_new_tokens": MAXIMUM_NEW_TOKENS,
        "output_text": row["text"],
        "prompt_text_redacted": True,
        "gold_continuation_redacted": True,
    }


def _metrics(run: ReleasedRun, row: Mapping[Any, Any]) -> dict[str, object]:
    figures = {
        "author_correct": bool(row["predicted"] == row["client"]),
        "bertscore_f1": float(row["bertscore_f1"]),
        "semantic_similarity": float(row["semantic_similarity"]),
        "asce_embedding_model": run.style_encoder_title,
    }
    if row["dimension"] == EMBEDDING_DIMENSION:
        figures["asce_embedding_dim"] = EMBEDDING_DIMENSION
    return _identifiers(row) | figures


def _summary(run: ReleasedRun, scores: pd.DataFrame) -> tuple[dict[str, float | str], list[str]]:
    """Return the columns of summary_metrics.csv, and a line for each whose value is missing."""
    rows = scores[(scores["method"] == run.row) & (scores["seed"] == run.seed) & (scores["variant"] == "")]
    found = {(row["metric"], row["encoder"]): (row["value"], row["note"]) for row in rows.to_dict("records")}
    values: dict[str, float | str] = {}
    missing = []
    for column in SUMMARY:
        unscored = (float("nan"), "the configuration leaves this score out (evaluation.scores)")
        place = (_IN_SPACE[column], run.style_encoder) if column in _IN_SPACE else (_OTHER.get(column, column), "")
        value, note = found.get(place, unscored)
        values[column] = value
        if note:
            missing.append(f"{column} is missing: {note}")
    return values | {"asce_embedding_model": run.style_encoder_title}, missing


def _budget(run: ReleasedRun) -> dict[str, object]:
    federation, lora = run.settings["federation"], run.settings["lora"]
    return {
        "dataset": run.dataset,
        "method": run.released,
        "seed": run.seed,
        "K": run.settings["clients"],
        "rounds": federation["rounds"],
        "clients_per_round": federation["clients_per_round"],
        "total_client_updates": run.client_updates,
        "local_epochs_shared": run.local_epochs_shared,
        "local_epochs_private": run.local_epochs_private,
        "peft_rank": lora["rank"],
        "peft_alpha": lora["alpha"],
        "peft_dropout": lora["dropout"],
        "peft_target_modules": ",".join(lora["target_modules"] or ["all-linear"]),  # PEFT's name of the default
        "base_model": run.base_model,
        "quantization": run.quantisation,
        "max_new_tokens": MAXIMUM_NEW_TOKENS,
        "non_iid_level": non_iid_level(run.settings["allocation"]),
        "private_residual": run.components["private_residual"],
        "asce_alignment": run.components["asce_alignment"],
    }


def _readme(run: ReleasedRun, notes: list[str]) -> str:
    models = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in run.measured_with.items() if value)
    rules = "\n".join(f"| `{column}` | {rule} |" for column, rule in SUMMARY.items())
    missing = "\nMissing in this export:\n\n" + "".join(f"- {note}\n" for note in notes) if notes else ""
    return f"""# {run.released} on {run.dataset}, seed {run.seed}

Row `{run.row}` ("{run.title}") of a run of FAVoR Workflow, in the layout of the paper's public release.
{CLIENTS}

Author metrics are taken in the space of {run.style_encoder_title}; {models}.
Every mean is over the `num_examples` outputs that pass the filter (at least {MINIMUM_WORDS} words, distinct
bigrams at least {MINIMUM_RATIO} of all); `pass_rate` is over all outputs.

| column of summary_metrics.csv | rule |
|---|---|
{rules}

In training_budget.csv, `K` is the number of clients; `local_epochs_shared` and `local_epochs_private` are passes over
a client's own text in the stage that is uploaded and in the one that is not, 0 without such a stage; and
`total_client_updates` counts uploads. `non_iid_level` is the release's "medium" for its long-tailed budgets, or else
the name of the allocation here. `filter_fail_reason` is null for outputs that pass; quality_filter_report.json counts
the others by the limit that they miss, the number of words first.
{missing}"""


def _write_csv(rows: list[dict[str, object]], path: Path) -> None:
    write_text(pd.DataFrame(rows).to_csv(index=False), path)
