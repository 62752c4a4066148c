"""A tiny experiment in a two-dimensional space, small enough to score by hand."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from favor.corpora.schemas import PROMPTS
from favor.federation.schemas import GENERATIONS
from favor.scores.inputs import ScoreInputs

GOLD_TEXT = "these are twenty one different words of a human text " + " ".join(f"word{i}" for i in range(12))


def direction(degrees) -> list[float]:
    """The unit vector at an angle in degrees."""
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


def make_inputs(train, gold, generated, topics=None, method="m") -> ScoreInputs:
    """Build inputs from angles in degrees per client; a generated None is an output that failed the filter."""
    topics = topics or dict.fromkeys(train, "Student")
    prompts, sources, generations, embeddings = [], [], [], []
    for client, angles in gold.items():
        for index, angle in enumerate(angles, start=1):
            prompt = f"{client}-1-{index}"
            prompts.append((1, client, prompt, f"{prompt}-doc", topics[client], "a prompt", [1, 2], GOLD_TEXT, 30))
            sources.append((client, prompt, "gold", topics[client], direction(angle)))
            made = generated[client][index - 1]
            generations.append(
                (1, method, client, prompt, 0, "text", 9, 25 if made is not None else 3, 0.9, made is not None)
            )
            if made is not None:
                embeddings.append((1, method, client, prompt, 0, direction(made)))
    for client, angles in train.items():
        sources += [(client, f"{client}-t{i:03d}", "train", topics[client], direction(a)) for i, a in enumerate(angles)]
    return ScoreInputs(
        pd.DataFrame(generations, columns=GENERATIONS.names),
        pd.DataFrame(prompts, columns=["seed", *PROMPTS.names]),
        {"e": pd.DataFrame(embeddings, columns=["seed", "method", "client", "prompt_id", "sample", "embedding"])},
        {"e": pd.DataFrame(sources, columns=["client", "item", "kind", "topic", "embedding"])},
    )


@pytest.fixture
def inputs_maker() -> Callable[..., ScoreInputs]:
    return make_inputs


@pytest.fixture
def three_authors() -> ScoreInputs:
    """A at 0, b at 90, c at 180 degrees; b's second output lands on a, c's second one failed the filter."""
    return make_inputs(
        train={"a": [-10, 10], "b": [80, 100], "c": [170, 190]},
        gold={"a": [0, 5], "b": [90, 95], "c": [180, 185]},
        generated={"a": [0, 20], "b": [90, 30], "c": [180, None]},
    )


def value(scores, metric, variant="", method="m") -> float:
    """The one value of a metric in a scores table."""
    rows = scores[(scores["metric"] == metric) & (scores["variant"] == variant) & (scores["method"] == method)]
    assert len(rows) == 1, rows
    return float(rows.iloc[0]["value"])


@pytest.fixture
def score_value() -> Callable[..., float]:
    return value
