"""Makes the table of BERTScores: the F1 of every output with its gold continuation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from favor.running.jobs.progress import Progress
from favor.scores.bertscore import BertScorer
from favor.scores.bertscore_canary import check_canary
from favor.scores.inputs import RUN_KEYS, read_settings
from favor.scores.utility_table import pairs

DEFAULTS: dict[str, Any] = {
    "bertscore_source": "roberta-large",
    "bertscore_layer": 17,
    "bertscore_tokens": 512,
    "batch_size": 32,
}


def bertscores(generations: pd.DataFrame, prompts: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return table ``bertscore`` for every generation and for the control ``shuffled``.

    ``prompts`` holds the prompts of all seeds with a column seed. Raises ``UserError`` for a generation without a
    prompt.
    """
    checked = read_settings("bertscore table", settings, DEFAULTS)
    compared = pairs(generations, prompts)
    progress = Progress("BERTScore", len(compared), "pairs")
    scorer = BertScorer(
        checked["bertscore_source"], checked["bertscore_layer"], checked["bertscore_tokens"], checked["batch_size"]
    )
    check_canary(scorer, checked["bertscore_source"], checked["bertscore_layer"])
    f1 = scorer.f1(compared["text"].tolist(), compared["gold_text"].tolist(), progress)
    progress.close()
    return compared.assign(bertscore_f1=f1)[[*RUN_KEYS, "bertscore_f1"]]
