"""Utility family: likeness of an output to the author's own continuation of the prompt."""

import math
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError
from favor.scores.inputs import OUTPUT_KEYS, ScoreInputs, authors_of
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.scores.settings import BertScoreModel, Utility
from favor.statistics.bootstrap import interval, mean_draws, observed_and_resampled

METRICS = (
    Metric("bertscore_f1", "BERTScore", -1.0, 1.0, "higher", "Zhang et al. 2020, F1 without rescaling",
        per_output="real"),
    Metric("semantic_similarity", "SemSim", -1.0, 1.0, "higher", "cosine of all-MiniLM-L6-v2 embeddings",
        per_output="real"),
)  # fmt: skip


def published_baseline(model: str, layer: int) -> float | None:
    """Return the mean F1 of random sentence pairs that bert-score ships for an English model and layer, if it does.

    ``model`` is a Hugging Face id, or a folder of that name.
    """
    name = f"bert_score/rescale_baseline/en/{Path(model).name}.tsv"
    path = Path(str(distribution("bert-score").locate_file(name)))
    if not path.is_file():
        return None
    rows = pd.read_csv(path).set_index("LAYER")["F"]
    return float(rows[layer]) if layer in rows.index else None


def score(inputs: ScoreInputs, settings: Utility) -> pd.DataFrame:
    """Mean over the surviving outputs of every run and of the control ``shuffled`` (random pairs of human texts).

    The control ``gold`` is 1 by definition: a continuation is compared with itself. Setting ``variants``:
    ``all_outputs`` (the mean over failed outputs too) and ``rescaled`` (BERTScore only: (F1 - b) / (1 - b), b the
    library's baseline of random pairs for ``inputs.bertscore``). ``low`` and ``high`` are the 95 % interval over
    authors of the mean over seeds.
    """
    if inputs.utility is None:
        raise UserError("scores: family 'utility' needs the utility table; make it first")
    counts = observed_and_resampled(len(inputs.clients), settings.seed, settings.draws)
    scores: list[Score] = []
    drawn: dict[tuple[str, str], list[tuple[np.ndarray, int]]] = {}  # (method, metric) -> its mean in every draw, and n
    for run in inputs.runs:
        table = inputs.utility[(inputs.utility["seed"] == run.seed) & (inputs.utility["method"] == run.method)]
        chosen = {"": run.survivors[OUTPUT_KEYS]}
        if "all_outputs" in settings.variants:
            chosen["all_outputs"] = run.items[OUTPUT_KEYS]
        for variant, outputs in chosen.items():
            rows = outputs.merge(table, on=OUTPUT_KEYS, how="inner")
            for metric in METRICS:
                value = 1.0 if run.method == "gold" else float(rows[metric.name].mean())
                n = len(outputs) if run.method == "gold" else len(rows)
                note = "no output passed the filter"
                scores.append(Score(run.seed, run.method, "", metric.name, variant, value, n, note))
                if not variant and run.method != "gold":
                    means = mean_draws(rows[metric.name].to_numpy(), inputs.places(rows["client"]), counts)
                    drawn.setdefault((run.method, metric.name), []).append((means, n))
    authors = authors_of(inputs.runs)
    for (method, name), seeds in drawn.items():
        ends = np.clip(interval(np.stack([means for means, _ in seeds]), authors[method]), -1, 1)
        few = "needs two authors with outputs that passed the filter, and some under every seed"
        scores += Score(ALL_SEEDS, method, "", name, "", np.nan, sum(n for _, n in seeds), few).ends(ends)
    if "rescaled" in settings.variants:
        scores += _rescaled(scores, inputs.bertscore)
    return scores_frame(scores)


def _rescaled(scores: list[Score], bertscore: BertScoreModel | None) -> list[Score]:
    baseline = None if bertscore is None else published_baseline(bertscore.model, bertscore.layer)
    model = "an unnamed model" if bertscore is None else Path(bertscore.model).name
    missing = f"bert-score ships no baseline for {model}"
    rows = []
    for row in scores:
        if row.metric == "bertscore_f1" and not row.variant:
            value = float("nan") if baseline is None else (row.value - baseline) / (1 - baseline)
            note = row.note if math.isnan(row.value) else missing
            rows.append(replace(row, variant="rescaled", value=value, note=note))
    return rows
