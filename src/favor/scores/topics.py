"""Topics family: how many authors a metadata topic has, and how many same-topic negatives that leaves."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.inputs import Run, ScoreInputs
from favor.scores.metric import CONTROLS, SOURCE, Metric, Score, scores_frame

_REFERENCE = "paper, External Verifier Robustness"
_INFINITE = float("inf")
METRICS = (
    Metric("evaluation_authors", "Evaluation authors", 0.0, _INFINITE, "none", _REFERENCE, "authors"),
    Metric("topic_authors", "Authors of a topic", 0.0, _INFINITE, "none", f"{_REFERENCE}; the variant is the topic"),
    Metric("dominant_topic_share", "Dominant-topic fraction", 0.0, 1.0, "none", f"{_REFERENCE}; of an author's texts"),
    Metric("shared_prompts", "Prompts of several authors", 0.0, _INFINITE, "none", _REFERENCE, "prompts"),
    Metric("source_negatives", "Protocol A negatives", 0.0, _INFINITE, "none", f"{_REFERENCE}; output and human text"),
    Metric("generated_negatives", "Protocol C negatives", 0.0, _INFINITE, "none", f"{_REFERENCE}; two outputs"),
)


def score(inputs: ScoreInputs) -> pd.DataFrame:
    """Count authors and negatives; no settings.

    Of the roster (method "source"): authors, authors by dominant topic, the mean and the smallest share of an author's
    texts in the dominant topic (of equal ones the first by name), prompts that several authors answer. Of every run:
    pairs of a surviving output with a human continuation, and with another surviving output, of another author and the
    same known topic.
    """

    def roster(metric: str, value: float, n: int, variant: str = "") -> Score:
        return Score(0, SOURCE, "", metric, variant, value, n)

    shares = inputs.known_texts.groupby("client")["topic"].value_counts(normalize=True).reset_index(name="share")
    dominant = shares.sort_values(["share", "topic"], ascending=[False, True]).drop_duplicates("client")
    authors = len(dominant)
    scores = [roster("evaluation_authors", float(authors), authors)]
    for topic, count in dominant["topic"].value_counts().items():
        scores.append(roster("topic_authors", float(count), authors, str(topic)))
    scores.append(roster("dominant_topic_share", float(dominant["share"].mean()), authors))
    scores.append(roster("dominant_topic_share", float(dominant["share"].min()), authors, "minimum"))
    askers = inputs.prompts.groupby("prompt_text")["client"].nunique()
    scores.append(roster("shared_prompts", float((askers > 1).sum()), len(askers)))
    for run in inputs.runs:
        if run.method not in CONTROLS:
            scores += _negatives(inputs, run)
    return scores_frame(scores)


def _negatives(inputs: ScoreInputs, run: Run) -> Iterator[Score]:
    made = run.survivors[["client", "topic"]]
    human = inputs.prompts.loc[inputs.prompts["seed"] == run.seed, ["client", "topic"]]
    yield Score(run.seed, run.method, "", "source_negatives", "", float(same_topic_pairs(made, human)), len(made))
    # both orders of a pair are one pair
    yield Score(run.seed, run.method, "", "generated_negatives", "", same_topic_pairs(made, made) / 2, len(made))


def same_topic_pairs(left: pd.DataFrame, right: pd.DataFrame) -> int:
    """Pairs (row of ``left``, row of ``right``) of one known topic and two authors; columns client and topic."""
    total = 0
    for topic in sorted(set(left["topic"]) & set(right["topic"]) - {UNKNOWN_TOPIC}):
        first, second = (frame.loc[frame["topic"] == topic, "client"].to_numpy() for frame in (left, right))
        total += int(np.not_equal.outer(first, second).sum())
    return total
