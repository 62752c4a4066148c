"""Topic counts and same-topic negatives, by hand and against the pairs that verification draws."""

from dataclasses import replace

import pandas as pd
import pytest

from favor.scores import topics
from favor.scores.inputs import ScoreInputs
from favor.scores.verification import source_pairs

TOPICS = {"a": "Student", "b": "Student", "c": "indUnk", "d": "Arts"}


@pytest.fixture
def four_authors(inputs_maker) -> ScoreInputs:
    human = {name: [0, 5] for name in TOPICS}
    generated = {"a": [0, 20], "b": [90, None], "c": [1, 2], "d": [3, 4]}
    inputs = inputs_maker(train=human, gold=human, generated=generated, topics=TOPICS)
    texts = pd.DataFrame([pair for pair in TOPICS.items() for _ in range(4)], columns=["client", "topic"])
    texts.loc[0, "topic"] = "Arts"  # one of a's four texts
    return replace(inputs, client_texts=texts)


def test_counts_by_hand(four_authors, score_value) -> None:
    scores = topics.score(four_authors)
    assert score_value(scores, "evaluation_authors", method="source") == 4
    assert score_value(scores, "topic_authors", "Student", "source") == 2
    assert score_value(scores, "topic_authors", "indUnk", "source") == 1
    assert score_value(scores, "dominant_topic_share", method="source") == pytest.approx(3.75 / 4)
    assert score_value(scores, "dominant_topic_share", "minimum", "source") == pytest.approx(0.75)
    # the fixture asks everybody the same; a prompt of one author is not shared
    assert score_value(scores, "shared_prompts", method="source") == 1
    asked = four_authors.prompts.assign(prompt_text=["asked of one", *four_authors.prompts["prompt_text"][1:]])
    assert score_value(topics.score(replace(four_authors, prompts=asked)), "shared_prompts", method="source") == 1
    # Student alone has two authors: a's 2 outputs x b's 2 human texts + b's 1 output x a's 2; outputs: 2 x 1
    assert score_value(scores, "source_negatives") == 2 * 2 + 1 * 2
    assert score_value(scores, "generated_negatives") == 2 * 1


def test_protocol_a_counts_the_negatives_of_verification(four_authors, score_value) -> None:
    run = four_authors.runs[0]
    pairs = source_pairs(four_authors.vectors("e", run), run, four_authors.sources("e", "gold", 1))
    assert score_value(topics.score(four_authors), "source_negatives") == (~pairs.positive).sum()


def test_equal_topics_are_settled_by_name_in_any_order_of_posts(four_authors, score_value) -> None:
    texts = pd.DataFrame({"client": list("aaaabcd"), "topic": ["Student", "Arts", "Student", "Arts", *"xyz"]})
    for rows in (texts, texts[::-1]):
        scores = topics.score(replace(four_authors, client_texts=rows))
        assert score_value(scores, "topic_authors", "Arts", "source") == 1
        assert "Student" not in set(scores["variant"])
        assert score_value(scores, "dominant_topic_share", "minimum", "source") == pytest.approx(0.5)
