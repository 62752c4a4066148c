"""Texts of the assistant classifier: the demo's generator, a user's table, and the two classes."""

import pandas as pd
import pytest

from favor.corpora.assistant_texts import classifier_texts, read_assistant
from favor.corpora.settings import DemoAssistant
from favor.demo.assistant import write_assistant
from favor.foundation.errors import UserError


def people(authors=20, each=3) -> pd.DataFrame:
    posts = [(author, number) for author in range(authors) for number in range(each)]
    texts = [" ".join(f"w{author}x{number}y{at}" for at in range(100)) for author, number in posts]
    names = [(f"p{author:02d}", f"p{author:02d}-{number}") for author, number in posts]
    return pd.DataFrame(names, columns=["author", "document_id"]).assign(text=texts)


ASSISTANT = [" ".join(f"a{number}b{at}" for at in range(90)) for number in range(30)]


def test_the_demo_writes_the_same_filled_texts_again(tmp_path) -> None:
    for name in ("one.csv", "two.csv"):
        write_assistant(tmp_path / name, DemoAssistant(texts=40))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    texts = read_assistant(tmp_path / "one.csv", "text")
    assert len(texts) == 40
    assert not any("{" in text or "}" in text for text in texts)
    write_assistant(tmp_path / "other.csv", DemoAssistant(texts=40, seed=1))
    assert not set(read_assistant(tmp_path / "other.csv", "text")) & set(texts)
    with pytest.raises(UserError, match="minimum_sentences"):
        write_assistant(tmp_path / "x.csv", DemoAssistant(minimum_sentences=9, maximum_sentences=3))


def test_a_table_is_read_by_column_cleaned_as_documents_are_and_without_repeats(tmp_path) -> None:
    path = tmp_path / "texts.csv"
    replies = [" b ", "a", "b", "Of course!\r\n\r\n1.  Rock &amp; roll\u200b ", "Of course!\n1. Rock & roll"]
    pd.DataFrame({"reply": replies, "other": 1}).to_csv(path, index=False)
    assert read_assistant(path, "reply") == ["b", "a", "Of course!\n1. Rock & roll"]
    with pytest.raises(UserError, match="text"):
        read_assistant(path, "text")


def test_people_are_not_split_and_texts_start_in_their_first_half() -> None:
    texts = classifier_texts(ASSISTANT, people(), 45, seed=3)
    human = texts[texts["author"] == "human"]
    assert len(human) == 45
    assert (texts["author"] == "assistant").sum() == 30
    person = human["document_id"].str[:3]
    assert human.groupby(person)["split"].nunique().max() == 1
    assert set(human["split"]) == {"train", "validation", "test"}
    starts = [int(text.split("y")[1].split(" ")[0]) for text in human["text"]]
    assert 0 <= min(starts) < 10
    assert 40 < max(starts) <= 50
    assert human["text"].str.endswith("y99").all()
    pd.testing.assert_frame_equal(texts, classifier_texts(ASSISTANT, people(), 45, seed=3))


def test_too_few_people_are_named() -> None:
    with pytest.raises(UserError, match="27 human texts of 80 words or more from 9 sources; at least 10 from 10"):
        classifier_texts(ASSISTANT, people(authors=9), 100, seed=3)
    with pytest.raises(UserError, match="0 assistant texts"):
        classifier_texts(["short"], people(), 100, seed=3)
