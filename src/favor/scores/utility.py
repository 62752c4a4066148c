"""Utility family: likeness of an output to the author's own continuation of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from favor.foundation.errors import UserError
from favor.scores.inputs import ScoreInputs, read_settings
from favor.scores.metric import Metric, Score, scores_frame

METRICS = (
    Metric("bertscore_f1", "BERTScore", -1.0, 1.0, "higher", "Zhang et al. 2020, F1 without rescaling"),
    Metric("semantic_similarity", "SemSim", -1.0, 1.0, "higher", "cosine of all-MiniLM-L6-v2 embeddings"),
)


def score(inputs: ScoreInputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Mean over the surviving outputs of every run and of the control ``shuffled`` (random pairs of human texts).

    The control ``gold`` is 1 by definition: a continuation is compared with itself. Setting ``variants``:
    ``all_outputs`` (the mean over failed outputs too).
    """
    checked = read_settings("utility", settings, {"variants": ["all_outputs"]})
    if inputs.utility is None:
        raise UserError("scores: family 'utility' needs the utility table; make it first")
    keys = ["client", "prompt_id"]
    scores: list[Score] = []
    for run in inputs.runs:
        table = inputs.utility[(inputs.utility["seed"] == run.seed) & (inputs.utility["method"] == run.method)]
        chosen = {"": run.survivors[keys]}
        if "all_outputs" in checked["variants"]:
            chosen["all_outputs"] = run.items[keys]
        for variant, outputs in chosen.items():
            rows = outputs.merge(table, on=keys, how="inner")
            for metric in METRICS:
                value = 1.0 if run.method == "gold" else float(rows[metric.name].mean())
                n = len(outputs) if run.method == "gold" else len(rows)
                note = "" if value == value else "no output passed the filter"
                scores.append(Score(run.seed, run.method, "", metric.name, variant, value, n, note))
    return scores_frame(scores)
