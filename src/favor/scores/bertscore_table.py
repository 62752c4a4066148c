"""Makes the table of BERTScores: the F1 of every output with its gold continuation."""

import pandas as pd

from favor.running.jobs.progress import Progress
from favor.scores.bertscore import BertScorer
from favor.scores.bertscore_canary import check_canary
from favor.scores.inputs import RUN_KEYS
from favor.scores.settings import BertScore
from favor.scores.utility_table import pairs


def bertscores(generations: pd.DataFrame, prompts: pd.DataFrame, settings: BertScore) -> pd.DataFrame:
    """Return table ``bertscore`` for every generation and for the control ``shuffled``.

    ``prompts`` holds the prompts of all seeds with a column seed. Raises ``UserError`` for a generation without a
    prompt.
    """
    compared = pairs(generations, prompts)
    progress = Progress("BERTScore", len(compared), "pairs")
    scorer = BertScorer(settings.model, settings.layer, settings.maximum_tokens)
    check_canary(scorer, settings.model, settings.layer)
    f1 = scorer.f1(compared["text"].tolist(), compared["gold_text"].tolist(), progress)
    progress.close()
    return compared.assign(bertscore_f1=f1)[[*RUN_KEYS, "bertscore_f1"]]
