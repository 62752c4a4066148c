"""The demo corpus: reproducible, dirty, and through the same reader as the real one."""

import random
from pathlib import Path

import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tests.corpora.made import built

from favor.corpora.settings import DemoCorpus, Splitting
from favor.corpora.splits import split_documents
from favor.demo.habits import Habits
from favor.demo.sentences import Voice
from favor.demo.vocabulary import SUBJECTS
from favor.demo.writer import post_counts, topic_of, write_demo

SMALL = DemoCorpus(authors=24, minimum_posts=12, maximum_posts=60)


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[Path, dict[str, int], pd.DataFrame]:
    """The folder of a small demo, the rows of its corpus by reason, and the documents."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder / "demo.csv", SMALL)
    return folder, *built(folder / "demo.csv", "blog_csv", folder)


def test_same_settings_same_bytes(tmp_path, demo) -> None:
    write_demo(tmp_path / "again.csv", SMALL)
    assert (tmp_path / "again.csv").read_bytes() == (demo[0] / "demo.csv").read_bytes()
    write_demo(tmp_path / "other.csv", SMALL.model_copy(update={"seed": 7}))
    assert (tmp_path / "other.csv").read_bytes() != (demo[0] / "demo.csv").read_bytes()


def test_dirt_is_there_and_goes(demo) -> None:
    folder, counts, frame = demo
    raw = (folder / "demo.csv").read_text(encoding="utf-8")
    assert raw.startswith("id,gender,age,topic,sign,date,text\n")
    for dirt in ("urlLink", "&nbsp;", "&amp;", "     \n"):
        assert dirt in raw
    assert counts["empty"] > 0
    assert counts["duplicate_same_author"] > 0
    assert counts["shared_author"] >= 24  # one pair of accounts with twelve posts each
    assert counts["duplicate_other_author"] == 0
    assert not frame["text"].str.contains("urlLink|&nbsp;|&amp;|  ", regex=True).any()


def test_authors_posts_and_topics(demo) -> None:
    folder, _, frame = demo
    volumes = frame.groupby("author").size()
    assert len(volumes) == 26  # 24 and the two tiny ones; the shared pair is dropped
    assert sorted(volumes)[:2] == [3, 3]
    assert volumes.max() == 60
    assert frame["words"].between(50, 340).mean() > 0.99
    topics = frame[frame["author"].isin(volumes[volumes > 3].index)].groupby("topic")["author"].nunique()
    assert topics.to_dict() == dict.fromkeys([topic_of(number) for number in range(6)], 4)
    assert "indUnk" in topics
    assert [topic_of(number, 2) for number in range(4)] == ["Technology", "Arts", "indUnk", "Technology"]
    assert split_documents(folder / "documents.parquet", Splitting()).excluded == 2


def test_stories_have_writing_prompts_and_go_through_their_own_reader(tmp_path) -> None:
    settings = DemoCorpus(authors=4, minimum_posts=5, maximum_posts=8, tiny_authors=0, shared_pairs=0, shape="mythos")
    write_demo(tmp_path / "stories.csv", settings)
    _, frame = built(tmp_path / "stories.csv", "mythos", tmp_path)
    assert frame["prompt"].str.startswith("[WP] ").all()
    assert frame["prompt"].nunique() == len(frame)  # every story answers its own prompt
    assert set(frame["topic"]) == {"indUnk"}
    assert frame["author"].nunique() == 4
    write_demo(tmp_path / "blog.csv", settings.model_copy(update={"shape": "blog"}))
    _, blog = built(tmp_path / "blog.csv", "blog_csv", tmp_path)
    assert blog["text"].tolist() == frame["text"].tolist()  # the same authors wrote the same texts in both shapes


def test_volumes_are_long_tailed() -> None:
    counts = post_counts(DemoCorpus())
    assert (len(counts), max(counts), min(counts)) == (48, 330, 40)
    assert counts != sorted(counts)
    assert sorted(counts, reverse=True)[1] == round(330 * 2**-0.7)


def test_authors_differ_in_habits_that_others_share(demo) -> None:
    frame = demo[2]
    texts = frame.groupby("author")["text"].agg(" ".join)
    texts = texts[frame.groupby("author").size() > 3]
    for habit, pattern in {
        "small i": r"\bi\b", "exclamation": "!", "ellipsis": r"\.\.", "emoticon": r"[:;=]-?[)(PD]", "digits": r"\d",
        "dropped apostrophe": r"\b(?:dont|cant|didnt)\b", "ampersand": "&",
    }.items():  # fmt: skip
        rates = texts.str.count(pattern) / texts.str.len()
        assert rates.max() > 3 * rates.median() or rates.median() == 0, habit
        assert (rates > rates.max() / 4).sum() >= 2, f"{habit} names its author"


def test_every_sentence_is_filled_in() -> None:
    for number in range(30):
        generator = random.Random(number)
        voice = Voice(Habits(generator), SUBJECTS[generator.choice(tuple(SUBJECTS))], generator)
        for _ in range(40):
            sentence = voice.sentence()
            assert not {"{", "}"} & set(sentence)
            assert "  " not in sentence
            assert len(sentence.split()) >= 2


def test_authorship_is_neither_obvious_nor_hopeless(demo) -> None:
    frame = demo[2].merge(split_documents(demo[0] / "documents.parquet", Splitting()).splits)
    frame = frame[frame["author"].isin(sorted(frame["author"].unique())[:16])]
    pieces = frame["text"].str.split(" ").map(lambda words: [" ".join(words[at : at + 60]) for at in (0, 60)])
    pieces = frame.assign(piece=pieces).explode("piece")
    train, test = pieces[pieces["split"] == "train"], pieces[pieces["split"] != "train"]
    model = make_pipeline(
        TfidfVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False, sublinear_tf=True, max_features=8000),
        LogisticRegression(C=10, max_iter=200),
    )
    accuracy = model.fit(train["piece"], train["author"]).score(test["piece"], test["author"])
    assert 0.3 < accuracy < 0.85  # chance is 1/16
