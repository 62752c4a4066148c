"""Loading, alignment checks and the control methods."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from favor.corpora.schemas import PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import GENERATIONS
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet
from favor.foundation.registry import METRIC_FAMILIES
from favor.scores.inputs import RUN_KEYS, ScoreInputs, shuffled_attribution
from favor.scores.metric import Metric, Score, metrics_of, scores_frame
from favor.scores.settings import Scores


def test_files_round_trip(three_authors, tmp_path) -> None:
    human = three_authors.source_embeddings["e"]
    tables = {
        "generations": (three_authors.generations, GENERATIONS),
        "prompts": (three_authors.prompts.drop(columns="seed"), PROMPTS),
        "embeddings": (three_authors.generation_embeddings["e"], GENERATION_EMBEDDINGS),
        "sources": (human[human["kind"] != "gold"], SOURCE_EMBEDDINGS),
        "golds": (human[human["kind"] == "gold"], SOURCE_EMBEDDINGS),
    }
    for name, (frame, table) in tables.items():
        write_parquet(frame, tmp_path / name, table)
    loaded = ScoreInputs.load({name: str(tmp_path / name) for name in tables}, [1], ["e"])
    assert [(run.seed, run.method) for run in loaded.runs] == [(1, "m"), (1, "gold"), (1, "shuffled")]
    for left, right in zip(loaded.runs, three_authors.runs, strict=True):
        pd.testing.assert_frame_equal(left.items, right.items, check_dtype=False)
        np.testing.assert_allclose(loaded.vectors("e", left), three_authors.vectors("e", right), atol=1e-7)


def test_row_order_does_not_matter(three_authors) -> None:
    mixed = ScoreInputs(
        three_authors.generations.iloc[::-1],
        three_authors.prompts.iloc[::-1],
        {"e": three_authors.generation_embeddings["e"].sample(frac=1, random_state=1)},
        {"e": three_authors.source_embeddings["e"].sample(frac=1, random_state=2)},
    )
    for left, right in zip(mixed.runs, three_authors.runs, strict=True):
        np.testing.assert_array_equal(mixed.vectors("e", left), three_authors.vectors("e", right))


def test_missing_rows_are_named(three_authors) -> None:
    made, human = three_authors.generation_embeddings["e"], three_authors.source_embeddings["e"]
    missing = pd.DataFrame(columns=RUN_KEYS).astype({"seed": int})
    for changed, words in (
        ({"generation_embeddings": {"e": made.iloc[1:]}}, r"'e': 1 of the generations have no row.*prompt_id a-1-1"),
        (
            {"source_embeddings": {"e": human[human["item"] != "b-1-2"]}},
            "1 of the gold continuations have no row",
        ),
        (
            {"source_embeddings": {"e": human[(human["kind"] != "train") | (human["client"] != "c")]}},
            "clients' training texts have no row, first client c",
        ),
        ({"generations": three_authors.generations.assign(seed=2)}, "6 of the generations have no row, first seed 2"),
        ({"source_embeddings": {"other": human}}, "embed both with the same encoders"),
        ({"utility": missing}, "the utility table: 5 of the generations"),
    ):
        with pytest.raises(UserError, match=words):
            replace(three_authors, **changed)


def test_shuffled_attribution_is_a_derangement_of_authors() -> None:
    clients = np.repeat([f"client_{i:03d}" for i in range(9)], 4)
    giver = shuffled_attribution(clients, 3)
    assert sorted(giver) == list(range(36))  # every text is used once
    assert (clients[giver] != clients).all()
    np.testing.assert_array_equal(giver, shuffled_attribution(clients, 3))
    assert (giver != shuffled_attribution(clients, 4)).any()
    # an author's texts come from several authors, so that pairs of them are not same-author pairs in disguise
    assert np.mean([len(set(clients[giver][i * 4 : i * 4 + 4])) for i in range(9)]) > 2
    # b's second text has no partner of its rank
    assert shuffled_attribution(np.array(["a", "b", "b"]), 1).tolist() == [1, 0, -1]


def test_families_are_found_by_file() -> None:
    found = METRIC_FAMILIES.names()
    assert {"quality", "prototypes", "verification", "utility"} <= set(found)
    assert "metric" not in found
    declared = {family: metrics_of(family) for family in found}
    assert all(declared.values())
    metrics = [metric for own in declared.values() for metric in own]
    assert all(isinstance(metric, Metric) and metric.label and metric.reference for metric in metrics)
    assert len(metrics) == len({metric.name for metric in metrics})
    with pytest.raises(UserError, match="family 'prototype' is unknown"):
        metrics_of("prototype")


@pytest.mark.parametrize("family", ["copying", "drift", "profiles", "topics"])
def test_families_that_read_the_clients_texts_ask_for_them(three_authors, family) -> None:
    with pytest.raises(UserError, match=r"^scores: .* the clients' texts; give the client_texts table$"):
        METRIC_FAMILIES.load(family).score(three_authors, *Scores().of(family))


def test_declarations_are_checked() -> None:
    with pytest.raises(ValueError, match="is not below"):
        Metric("x", "X", 1.0, 0.0, "higher", "r")
    with pytest.raises(ValueError, match="needs a note"):
        scores_frame([Score(1, "m", "", "x", "", float("nan"), 0)])
    score = Score(1, "m", "", "x", "", 1.0, 1, "why")
    ends = score.ends((0.5, float("nan")), "no end"), replace(score, variant="v").ends((float("nan"), 2.0))
    found = scores_frame([score, *ends[0], *ends[1]])
    assert found["variant"].tolist() == ["", "low", "high", "v_low", "v_high"]
    assert found["note"].tolist() == ["", "", "no end", "why", ""]
