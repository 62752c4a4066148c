"""Assistant family: how much a run's outputs sound like a writing assistant, by a classifier and by phrases."""

import re

import pandas as pd

from favor.foundation.words import output_words
from favor.scores.assistant_phrases import PHRASES
from favor.scores.inputs import Run, ScoreInputs
from favor.scores.metric import CONTROLS, Metric, Score, scores_frame
from favor.scores.settings import AssistantScore

METRICS = (
    Metric("assistant_score", "Asst. score", 0.0, 1.0, "lower", "calibrated probability of a second ArcFace encoder",
        per_output="real"),
    Metric("assistant_phrase_rate", "Asst. phrases", 0.0, float("inf"), "lower", "phrase list of this project",
        "matches per 1,000 words"),
)  # fmt: skip


# The longer phrase first, so that no text counts twice.
_SORTED = [re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(PHRASES, key=len, reverse=True)]
_WHOLE = re.compile("|".join(rf"(?<!\w){phrase}(?!\w)" for phrase in _SORTED), re.IGNORECASE)


def phrase_matches(text: str, substring: bool = False) -> int:
    """Matches of the phrases in ``text``, at word boundaries and without overlap.

    ``substring``: as the released protocol counts, every phrase apart and inside words too.
    """
    plain = " ".join(text.replace("’", "'").lower().split())
    if substring:
        return sum(plain.count(phrase) for phrase in PHRASES)
    return len(_WHOLE.findall(plain))


def score(inputs: ScoreInputs, settings: AssistantScore) -> pd.DataFrame:
    """Mean assistant score over the surviving outputs of every run and control, and phrases per 1,000 words of them.

    Settings: ``variants``, of ``all_outputs`` (the score over failed outputs too) and ``substring`` (phrases).
    """
    scores: list[Score] = []
    for run in inputs.runs:
        for variant in ("", *(name for name in settings.variants if name == "all_outputs")):
            value, n, note = float("nan"), 0, "no assistant texts are configured (evaluation.assistant)"
            if inputs.assistant is not None:
                found = output_scores(inputs.assistant, run, run.items if variant else run.survivors)
                value, n, note = float(found.mean()), len(found), "no output passed the filter"
            scores.append(Score(run.seed, run.method, "", "assistant_score", variant, value, n, note))
        texts = inputs.texts(run)
        words = sum(map(output_words(inputs.words).count, texts))
        for variant in ("", *(name for name in settings.variants if name == "substring")):
            matches = sum(phrase_matches(text, bool(variant)) for text in texts)
            value = 1000 * matches / words if words else float("nan")
            note = "no output passed the filter"
            scores.append(Score(run.seed, run.method, "", "assistant_phrase_rate", variant, value, len(texts), note))
    return scores_frame(scores)


def output_scores(table: pd.DataFrame, run: Run, items: pd.DataFrame) -> pd.Series:
    """Return from table ``assistant`` the scores of the outputs ``items``; a control's are those of people's texts."""
    control = run.method in CONTROLS
    table = table[(table["seed"] == run.seed) & (table["method"] == ("gold" if control else run.method))]
    wanted = items.assign(prompt_id=items["text_item"]) if control else items
    keys = ["prompt_id", "sample"]
    return wanted[keys].merge(table, on=keys, validate="many_to_one")["assistant_score"]
