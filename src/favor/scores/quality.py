"""Quality family: the share of outputs that pass the filter, and the two counts behind it."""

import pandas as pd

from favor.scores.inputs import ScoreInputs
from favor.scores.metric import Metric, Score, scores_frame

_REFERENCE = "paper, Data preprocessing and metrics"
METRICS = (
    Metric("pass_rate", "Pass rate", 0.0, 1.0, "higher", _REFERENCE),
    Metric("mean_words", "Words", 0.0, float("inf"), "none", _REFERENCE, "words"),
    Metric("distinct_bigram_ratio", "Distinct-2", 0.0, 1.0, "higher", _REFERENCE),
)


def score(inputs: ScoreInputs) -> pd.DataFrame:
    """Score every run and the gold control over all of its outputs, failed ones included. No settings."""
    gold = inputs.prompts
    frames = [inputs.generations, gold.assign(method="gold", **inputs.gold_quality(gold))]
    scores = []
    for frame in frames:
        for seed, method in sorted(set(zip(frame["seed"].tolist(), frame["method"].tolist(), strict=True))):
            run = frame[(frame["seed"] == seed) & (frame["method"] == method)]
            for metric, column in zip(METRICS, ("passed", "words", "distinct_bigram_ratio"), strict=True):
                value = float(run[column].mean())
                scores.append(Score(seed, method, "", metric.name, "", value, len(run)))
    return scores_frame(scores)
