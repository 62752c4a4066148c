"""Outputs, people or common prompts of which nothing passes the filter: dashes with a reason, never a traceback."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from tests.scores.copied_voices import as_common, copied_voices

from favor.foundation.registry import METRIC_FAMILIES
from favor.scores.inputs import RUN_KEYS, ScoreInputs
from favor.scores.settings import Scores

pytestmark = pytest.mark.slow(55)

METHOD = "0.5"
# Families that read the runs' outputs; the others have inputs of their own.
FAMILIES = sorted(name for name in METRIC_FAMILIES.names() if hasattr(METRIC_FAMILIES.load(name), "score"))
FAMILIES.remove("cold_start")


@cache
def complete() -> ScoreInputs:
    """Ten authors, with the tables that only some families read."""
    inputs, generator = as_common(copied_voices(), prompts=2), np.random.default_rng(1)
    own = inputs.generations
    gold = inputs.prompts.assign(method="gold", sample=0)
    utility = pd.concat([table[RUN_KEYS] for table in (own, gold, gold.assign(method="shuffled"))])
    assistant = pd.concat([table[RUN_KEYS] for table in (own, gold)])
    return replace(
        inputs,
        utility=utility.assign(
            bertscore_f1=generator.random(len(utility)), semantic_similarity=generator.random(len(utility))
        ),
        assistant=assistant.assign(assistant_score=generator.random(len(assistant))),
    )


@cache
def failing(case) -> ScoreInputs:
    """The inputs, of which ``case`` fails the filter."""
    inputs, changed = complete(), {}
    own, common = inputs.generations, inputs.common_generations
    if case == "a method":
        changed = {"generations": own["method"] != METHOD, "common_generations": common["method"] != METHOD}
    elif case == "every output":
        changed = {"generations": False, "common_generations": False}
    elif case == "all authors but one":
        changed = {"generations": own["client"] == "author_03"}
    for name, kept in changed.items():
        table = getattr(inputs, name)
        changed[name] = table.assign(passed=table["passed"] & kept)
    if case == "every person":
        changed["prompts"] = inputs.prompts.assign(gold_text="x")
    return replace(inputs, **changed)


@pytest.mark.parametrize("case", ["a method", "every output", "every person", "all authors but one"])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_not_there_has_no_score(family, case) -> None:
    module = METRIC_FAMILIES.load(family)
    settings = [each.model_copy(update={"draws": 50}) for each in Scores().of(family)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = module.score(failing(case), *settings)
    missing = scores["value"].isna()
    assert (scores["note"] != "").equals(missing)
    if case == "a method":
        # How many texts fail, and how many pairs there are, is a number without any text; so is a share of failures.
        counted = scores["metric"].str.endswith(("negatives", "failures_wrong")) | (family == "quality")
        values = scores["variant"].isin(["", "low", "high"]) & ~counted
        assert missing[values & (scores["method"] == METHOD)].all()
