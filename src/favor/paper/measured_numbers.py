"""The numbers of the paper's running text that stand in no table: measured from the workflow's own files."""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from favor.corpora.allocation import gini
from favor.paper.numbers import entry
from favor.paper.settings import Entry
from favor.scores.metric import label_of
from favor.scores.validation import WORSE


def measured_numbers(
    allocation: pd.DataFrame,
    participation: float,
    effects: pd.DataFrame,
    gates: pd.DataFrame,
    encoders: Mapping[str, Mapping[str, float]],
    paper_dataset: str,
) -> list[Entry]:
    """Return the numbers that stand in no table; the paper's are BlogText's.

    ``participation``: expected participations of a client. ``effects``: table ``coordinate_effects``, empty
    without figures. ``gates``: table
    ``gates`` of the rows feddpa and feddpa_dynamic. ``encoders``: by role ("style", "independent") the manifest of
    a style encoder that was trained here.
    """
    setup, probe = "Experimental setup", "FedDPA gate sensitivity"
    target, allocated = (allocation[name].to_numpy() for name in ("target_words", "allocated_words"))
    entries = [
        entry("target_gini", "Gini coefficient of the target allocation", setup, gini(target), 0.25, decimals=2),
        entry("realised_gini", "Gini coefficient of the allocated words", setup, gini(allocated), 0.196),
        entry("allocated_words", "Allocated word units", setup, float(allocated.sum()), 904378.0, decimals=0),
        entry("participations", "Expected participations of a client", setup, participation, 1.44, decimals=2),
    ]
    for key, space, paper in (("features", "stylometric", 0.72), ("style_encoder", "style", 0.47)):
        rows = effects[effects["space"] == space]
        squares = float((rows["author_effect"] ** 2).sum())
        slope = float((rows["author_effect"] * rows["topic_effect"]).sum()) / squares if squares else math.nan
        what = f"Slope through the origin of topic on author effects, {space} coordinates"
        reason = "needs figures: true, and at least two topics with three authors each"
        value = slope if len(rows) else math.nan
        entries.append(entry(f"slope_{key}", what, "Introduction", value, paper, reason, decimals=2))
    keys = ["seed", "client", "prompt_id"]
    wide = gates.pivot(index=keys, columns="method", values="gate").reindex(columns=["feddpa", "feddpa_dynamic"])
    both = wide.dropna()
    difference = (both["feddpa_dynamic"] - both["feddpa"]).abs()
    for key, what, value, paper in (
        ("dynamic_mean", "Mean global-gate weight, dynamic", both["feddpa_dynamic"].mean(), 0.350),
        ("summary_mean", "Mean global-gate weight, exported mean gate", both["feddpa"].mean(), 0.429),
        ("mean_difference", "Mean absolute difference of the gates", difference.mean(), 0.083),
        ("median_difference", "Median absolute difference of the gates", difference.median(), 0.056),
        ("maximum_difference", "Largest absolute difference of the gates", difference.max(), 0.437),
    ):
        reason = "needs the rows feddpa and feddpa_dynamic"
        entries.append(entry(f"gate_{key}", what, probe, float(value), paper, reason))
    entries += _encoder_numbers(encoders)
    return _beside(entries, paper_dataset)


def _beside(entries: list[Entry], paper_dataset: str) -> list[Entry]:
    """The paper's numbers are BlogText's and stand beside no other corpus's."""
    return entries if paper_dataset == "BlogText" else [Entry(**{**made, "paper": None}) for made in entries]


def _encoder_numbers(encoders: Mapping[str, Mapping[str, float]]) -> Iterator[Entry]:
    for role, name, where, papers in (
        ("style", "ASCE", "Author-disjoint ASCE", (50, 4959, 742, 0.802, 0.673)),
        ("independent", "ASCE-B", "ASCE-B", (50, 6460, 982, 0.844, 0.784)),
    ):
        for (key, what, decimals), paper in zip(
            (
                ("authors", "training authors", 0),
                ("training_texts", "training texts", 0),
                ("validation_texts", "validation texts", 0),
                ("validation_accuracy", "validation accuracy", 3),
                ("validation_macro_f1", "validation macro-F1", 3),
            ),
            papers,
            strict=True,
        ):
            value = float(encoders.get(role, {}).get(key, math.nan))
            reason = f"{name} was not trained in this experiment"
            yield entry(f"{role}_{key}", f"{name}: {what}", where, value, float(paper), reason, decimals=decimals)


def validated_numbers(scores: pd.DataFrame) -> list[Entry]:
    """Return for how many authors every row's validation loss ended above its start; ``scores``: ``validation``."""
    found = scores[scores["metric"] == WORSE]
    what = "Authors whose validation loss ends above its start in the personal stage"
    return [
        entry(f"worse_authors_{row}", f"{what}, {row}", "Training", float(value), math.nan, str(note), decimals=0)
        for row, value, note in zip(found["method"], found["value"], found["note"], strict=True)
    ]


def judged_numbers(scores: pd.DataFrame, paper_dataset: str) -> list[Entry]:
    """Return the numbers of the language-model judge that stand in no table; ``scores``: family ``judges``."""
    voice, quality = "Main results; Voice-match judge", "Generic-quality judge"
    preferred = "Voice comparison: share of non-ties in which the judge prefers the first row's voice"
    entries = []
    for key, metric, variant, what, where, paper in (
        ("voice_preference", "voice_preference", "", preferred, voice, 0.612),
        ("voice_preference_low", "voice_preference", "low", f"{preferred}, 95 % interval from", voice, 0.518),
        ("voice_preference_high", "voice_preference", "high", f"{preferred}, 95 % interval to", voice, 0.702),
        ("voice_preference_p", "voice_preference", "p", "p of that share against a half", voice, 0.022),
        ("judge_repeated", "judge_repeated", "", "Exact agreement of repeated overall ratings", quality, 0.921),
    ):
        found = scores[(scores["metric"] == metric) & (scores["variant"] == variant)]
        # What is missing altogether has its reason in the row without variant.
        notes = scores.loc[(scores["metric"] == metric) & (scores["note"] != ""), "note"]
        reason = str(notes.iloc[0]) if len(notes) else f"{label_of(metric)} was not scored"
        entries.append(entry(key, what, where, float(found["value"].mean()), paper, reason))
    return _beside(entries, paper_dataset)
