"""Common prompts: by hand in two dimensions, and truths that are known without a computation."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem, skew
from tests.scores.conftest import direction
from tests.scores.copied_voices import as_common, by_method, copied_voices

from favor.lm.settings import OutputFilter
from favor.scores.common_prompts import bigram_overlaps, score
from favor.scores.inputs import ScoreInputs
from favor.scores.settings import CommonPrompts
from favor.scores.text_quality import quality_columns
from favor.statistics.bootstrap import resample_counts, skewed_limits

CLIENTS = ("a", "b", "c")
OWN = {client: [f"{client} one two three", f"{client} four five six"] for client in CLIENTS}


def with_common(inputs, texts, angles) -> ScoreInputs:
    """Add continuations of common prompts: texts and angles in degrees per client, one per prompt."""
    rows, vectors = [], []
    for client, own in texts.items():
        for number, text in enumerate(own):
            key = {"seed": 1, "method": "m", "client": client, "prompt_id": f"common-{number}", "sample": 0}
            rows.append({**key, "text": text})
            vectors.append({**key, "embedding": direction(angles[client][number])})
    frame = pd.DataFrame(rows)
    verdict = quality_columns(frame["text"].tolist(), OutputFilter(minimum_words=1, minimum_distinct_bigram_ratio=0.0))
    return replace(inputs, common_generations=frame.join(verdict), common_embeddings={"e": pd.DataFrame(vectors)})


def values(inputs) -> dict[tuple[str, str], float]:
    rows = score(inputs, CommonPrompts())
    rows = rows[rows["method"] == "m"]
    return {(row.metric, row.variant): row.value for row in rows.itertuples()}


def test_by_hand(three_authors) -> None:
    inputs = with_common(three_authors, OWN, {"a": [0, 10], "b": [90, 100], "c": [180, 170]})
    found = values(inputs)
    # Prompt 1: 90, 180 and 90 degrees apart; prompt 2: 90, 160 and 70.
    assert found["common_similarity", ""] == pytest.approx(np.mean(np.cos(np.radians([90, 180, 90, 90, 160, 70]))))
    other = np.cos(np.radians([100, 170, 80, 80, 170, 80]))  # a1-b2, a1-c2, a2-b1, b1-c2, a2-c1, b2-c1
    assert found["common_similarity", "other_prompt"] == pytest.approx(np.mean(other))
    # Within one author and two prompts the angle is 10 degrees: nearer than any negative.
    assert found["common_auc", ""] == found["common_auc", "other_prompt"] == 1.0
    assert found["common_accuracy", ""] == 1.0
    # Of 3 bigrams each, 2 are in common on one prompt: 2 of 4.
    assert found["common_overlap", ""] == pytest.approx(0.5)
    assert found["common_overlap", "other_prompt"] == 0.0
    assert found["author_share", ""] + found["prompt_share", ""] + found["remainder_share", ""] == pytest.approx(1.0)
    assert found["author_share", ""] > 0.95


def test_shares_of_variance_are_those_of_the_first_sample(three_authors) -> None:
    once = with_common(three_authors, OWN, {"a": [0, 40], "b": [90, 60], "c": [180, 150]})
    made, embedded = (
        pd.concat([table, table.assign(sample=1)], ignore_index=True)
        for table in (once.common_generations, once.common_embeddings["e"])
    )
    again = replace(once, common_generations=made, common_embeddings={"e": embedded})
    for share in ("author_share", "prompt_share", "remainder_share"):
        assert values(again)[share, ""] == values(once)[share, ""]


def test_one_text_for_all_authors_is_at_chance_without_an_interval_to_speak_of(three_authors) -> None:
    equal = ["one two three four", "five six seven eight", "a b c d"]
    inputs = with_common(three_authors, dict.fromkeys(CLIENTS, equal), {key: [5, 80, 140] for key in CLIENTS})
    found = values(inputs)
    for end in ("", "low", "high"):
        assert found["common_similarity", end] == found["common_overlap", end] == pytest.approx(1.0)
        assert found["common_auc", end] == 0.0
        assert found["common_auc", f"other_prompt_{end}".strip("_")] == pytest.approx(0.5)
    assert found["common_accuracy", ""] == pytest.approx(1 / 3)
    assert found["author_share", ""] == pytest.approx(0.0, abs=1e-12)
    assert found["prompt_share", ""] == pytest.approx(1.0)
    chance = score(inputs, CommonPrompts()).query("method == 'shuffled' and metric == 'common_accuracy'")
    assert chance[["value", "n"]].to_numpy().tolist() == [[pytest.approx(1 / 3), 0]]


def test_own_prompts_of_people_stand_beside(three_authors) -> None:
    inputs = with_common(three_authors, OWN, {key: [0, 1] for key in CLIENTS})
    rows = score(inputs, CommonPrompts()).query("metric == 'own_prompt_similarity'").set_index("method")["value"]
    gold = {"a": [0, 5], "b": [90, 95], "c": [180, 185]}
    apart = [x - y for p, q in (("a", "b"), ("a", "c"), ("b", "c")) for x in gold[p] for y in gold[q]]
    assert rows["gold"] == pytest.approx(np.mean(np.cos(np.radians(apart))))
    assert "m" in rows.index


def test_bigrams_stop_at_the_compared_words() -> None:
    texts = ["a b c d e", "a b x y z", ""]
    assert bigram_overlaps(texts, 5).tolist() == pytest.approx([1 / 7, 0.0, 0.0])
    assert bigram_overlaps(texts, 2).tolist() == pytest.approx([1.0, 0.0, 0.0])


def test_measures_rise_with_the_chance_of_the_own_voice() -> None:
    rows = score(as_common(copied_voices(one_voice=True)), CommonPrompts())
    accuracy, alike = by_method(rows, "common_accuracy"), by_method(rows, "common_similarity")
    assert accuracy["0.0"] < accuracy["0.5"] < accuracy["1.0"]
    assert accuracy["1.0"] > 0.5
    assert accuracy["same"] == pytest.approx(accuracy["shuffled"]) == pytest.approx(1 / 10)
    assert alike["same"] == pytest.approx(1.0)
    # A wrong voice that is always the same one is told from the others as well as the own: distinct, not faithful.
    share = by_method(rows, "author_share")
    assert share["0.5"] < min(share["0.0"], share["1.0"])


def test_intervals_are_those_of_drawing_authors(three_authors) -> None:
    angles = {"a": [0, 5], "b": [118, 122], "c": [241, 238]}
    found = values(with_common(three_authors, OWN, angles))
    for metric in ("common_similarity", "common_auc", "common_accuracy"):
        assert found[metric, "low"] <= found[metric, ""] <= found[metric, "high"]
    # The same draws, counted pair by pair: copies of an author are not compared with one another.
    counts = np.concatenate([np.ones((1, 3)), resample_counts(3, 2026, 2000)])
    drawn = []
    for times in counts:
        weights = {(x, y): times[x] * times[y] for x in range(3) for y in range(x)}
        pairs = [(angles[CLIENTS[x]][k], angles[CLIENTS[y]][k], w) for (x, y), w in weights.items() for k in (0, 1)]
        total = sum(weight for _, _, weight in pairs)
        if total:
            mean = sum(weight * np.cos(np.radians(one - other)) for one, other, weight in pairs) / total
            drawn.append([mean, *times])
    # What an author adds, by least squares on the draws; the error of a mean of three such, and t(.975, 2).
    table = np.array(drawn)
    slopes = np.linalg.lstsq(np.column_stack([np.ones(len(table)), table[:, 1:]]), table[:, 0])[0][1:]
    added = 3 * (slopes - slopes.mean())
    ends = skewed_limits(found["common_similarity", ""], sem(added), skew(added) / 3**0.5, 4.302653)
    assert -1 < ends[0] < ends[1] < 1
    assert [found["common_similarity", end] for end in ("low", "high")] == pytest.approx(ends)


def test_of_three_authors_limits_stay_where_a_cosine_can_be(three_authors) -> None:
    found = values(with_common(three_authors, OWN, {"a": [0, 40], "b": [90, 60], "c": [180, 150]}))
    assert (found["common_similarity", "low"], found["common_similarity", "high"]) == (-1.0, 1.0)
    assert 0 <= found["common_auc", "low"] < found["common_auc", "high"] <= 1


def test_of_one_author_no_interval_is_known(three_authors) -> None:
    """All outputs of a alone: one cluster of three, whose draws never differ."""
    inputs = with_common(three_authors, OWN, {"a": [0, 100], "b": [90, 100], "c": [180, 170]})
    made = inputs.common_generations
    found = values(replace(inputs, common_generations=made.assign(passed=made["client"] == "a")))
    assert found["common_accuracy", ""] == 0.5
    assert np.isnan([found["common_accuracy", "low"], found["common_accuracy", "high"]]).all()


def test_an_interval_needs_outputs_under_every_seed(three_authors) -> None:
    inputs = with_common(three_authors, OWN, {"a": [0, 10], "b": [90, 100], "c": [180, 170]})
    failed = inputs.common_generations.assign(seed=2, passed=False)
    both = replace(inputs, common_generations=pd.concat([inputs.common_generations, failed]))
    rows = score(both, CommonPrompts(draws=50))
    notes = rows[(rows["method"] == "m") & (rows["variant"] == "low")].set_index("metric")["note"]
    assert notes["common_accuracy"] == "needs outputs of two authors, and some under every seed"
    for metric in ("common_similarity", "author_share"):
        assert notes[metric].endswith("with outputs that passed the filter, under every seed")
