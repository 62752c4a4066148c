"""Corpora that are not English: what is counted, what is dropped, and which remedy a refusal names."""

import re

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.corpora.made import built

from favor.corpora.assistant_texts import classifier_texts
from favor.corpora.schemas import SCRIPTS
from favor.corpora.scripts import count_letters_and_words, letters_beyond_ascii
from favor.corpora.settings import Cleaning
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet
from favor.foundation.words import document_words, output_words
from favor.publish.scan import Private, scan
from favor.report.content import Preparation
from favor.report.preparation import blocks
from favor.scores.text_quality import quality_columns
from favor.studies.human_audit.items import excerpt
from favor.studies.judges.design import author_profile
from favor.studies.settings import JudgementDesign
from favor.tables.quoted_examples import shortened

RUSSIAN = "Сегодня я ходил на рынок"
CHINESE = "我今天去市场买了很多新鲜的水果和蔬菜然后回家做饭给全家人吃大家都说味道非常好"
GERMAN = "Wir süßen den Tee für die Gäste"


def build(folder, texts, words="paper") -> tuple[pd.DataFrame, pd.DataFrame]:
    source = folder / "posts.jsonl"
    frame = pd.DataFrame({"author": [f"a{number % 3}" for number in range(len(texts))], "text": texts})
    frame.to_json(source, orient="records", lines=True)
    scripts = folder / "scripts.parquet"
    _, documents = built(source, "table", folder, Cleaning(words=words), out_scripts=scripts)
    return documents, read_parquet(scripts, SCRIPTS)


def test_letters_beyond_ascii_by_hand() -> None:
    assert letters_beyond_ascii("ab, c 1") == {}
    assert letters_beyond_ascii("é ж 東か1") == {"Latin": 1, "Cyrillic": 1, "Han": 1, "Hiragana": 1}


def test_a_corpus_of_another_script_stops_and_names_the_remedy(tmp_path) -> None:
    texts = [f"{RUSSIAN} {letter} lol" for letter in "абвгде"]
    with pytest.raises(UserError, match=r"8\d% of the letters.*'words: paper'.*Cyrillic 8\d%.*set it to unicode"):
        build(tmp_path, texts)
    documents, scripts = build(tmp_path, texts, "unicode")
    assert documents["words"].tolist() == [7] * 6
    assert scripts["script"].tolist() == ["Cyrillic", "Latin"]


@pytest.mark.parametrize("words", ["paper", "unicode"])
def test_a_corpus_without_spaces_stops_and_names_the_remedy(tmp_path, words) -> None:
    texts = [CHINESE + "一二三四五六"[number] for number in range(6)]
    with pytest.raises(UserError, match=r"Han 100%.*set it to segmented or characters"):
        build(tmp_path, texts, words)
    segmented, _ = build(tmp_path, texts, "segmented")
    characters, _ = build(tmp_path, texts, "characters")
    assert set(characters["words"]) == {len(CHINESE) + 1}
    assert all(10 < count < len(CHINESE) for count in segmented["words"])


def test_what_is_dropped_is_counted_by_script(tmp_path) -> None:
    documents, scripts = build(tmp_path, [GERMAN, "an English post of some length", RUSSIAN, "22 :)"])
    assert len(documents) == 2
    rows = scripts.set_index("script")[["posts", "too_short"]].T.to_dict("list")
    assert rows == {"Cyrillic": [1, 1], "Latin": [2, 0], "none": [1, 1]}
    ((caption, shown),) = blocks(Preparation(scripts=scripts))
    assert "Scripts" in caption
    assert shown.to_numpy().tolist() == [
        ["Latin", "71.43%", "2", "0"],
        ["Cyrillic", "28.57%", "1", "1"],
        ["none", "0.00%", "1", "1"],
    ]


@pytest.mark.parametrize(("kind", "expected"), [("paper", 10), ("unicode", 7), ("segmented", 7)])
def test_accents_split_no_word_unless_the_paper_counts(tmp_path, kind, expected) -> None:
    documents, _ = build(tmp_path, [GERMAN], kind)
    assert documents["words"].tolist() == [expected]


def test_continuations_without_spaces_can_pass_the_filter() -> None:
    assert not quality_columns([CHINESE])["passed"][0]
    assert quality_columns([CHINESE], words="segmented")["passed"][0]
    assert quality_columns(["好" * 60], words="characters")["passed"].tolist() == [False]  # one bigram


def test_excerpts_and_profiles_of_texts_without_spaces_end() -> None:
    assert excerpt(CHINESE, 10, output_words("characters")) == CHINESE[:10] + " …"
    assert shortened(CHINESE, 10, "characters") == CHINESE[:10] + " …"
    texts = pd.DataFrame([("c", "c-1", "train", CHINESE)], columns=["client", "document_id", "split", "text"])
    design = JudgementDesign(methods=[], profile_words=10, words="characters")
    assert author_profile(texts, "c", design) == [CHINESE[:10]]


def test_assistant_texts_without_spaces_serve() -> None:
    texts = [CHINESE * 3 + chr(0x4E00 + number) for number in range(12)]
    human = pd.DataFrame({"author": [f"h{at}" for at in range(12)], "document_id": [f"d{at:02d}" for at in range(12)]})
    made = classifier_texts(texts, human.assign(text=texts), 12, 1, "characters")
    assert len(made) == 24
    assert made["text"].str.len().between(50, len(texts[0])).all()
    assert (made["text"].str.len() < len(texts[0])).any()


@pytest.mark.parametrize("suffix", [".html", ".txt", ".tex"])
def test_a_text_without_spaces_is_found_in_a_release(suffix) -> None:
    found = scan({f"notes{suffix}": f"x {CHINESE[5:20]} y".encode()}, Private([], [("a text", CHINESE)]))
    assert [finding.what for finding in found] == ["8 consecutive words of a text"]


def test_letters_and_words_in_bulk_by_hand() -> None:
    texts = ["don't stop", "", "'tis a1b", "a'a'a''a", "süßen 東京"]
    letters, words = count_letters_and_words([text.encode() for text in texts])
    assert letters == [8, 0, 5, 4, 3]
    assert words == [2, 0, 3, 2, 2]
    assert count_letters_and_words([]) == ([], [])


@settings(max_examples=300)
@given(st.lists(st.text(alphabet="ab'Z9 é’\n-", max_size=20), max_size=4))
@example(["a'a'a'a", "''a''b'", "don't 'tis o'clock's", "", "b'"])
def test_counts_are_those_of_the_words_that_are_found(texts) -> None:
    letters, words = count_letters_and_words([text.encode() for text in texts])
    assert words == [document_words("paper").count(text) for text in texts]
    assert letters == [len(re.findall("[A-Za-z]", text)) for text in texts]
