"""Words of any script: counted, cut and compared."""

from typing import get_args

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from favor.corpora.settings import Corpus
from favor.foundation.words import compared_words, document_words, output_words

KINDS = ("paper", "unicode", "segmented", "characters")


def test_the_configuration_offers_these_kinds() -> None:
    assert get_args(Corpus.model_fields["words"].annotation) == KINDS


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("paper", "don't rock'n'roll a1b '' süßen dogs'", ["don't", "rock'n'roll", "a", "b", "s", "en", "dogs"]),
        ("unicode", "don't don’t rock'n'roll", ["don't", "don’t", "rock'n'roll"]),
        ("unicode", "süßen cafe\u0301 'quoted' dogs'", ["süßen", "cafe\u0301", "quoted", "dogs"]),
        ("unicode", "Привет, мир! 22 :)", ["Привет", "мир"]),
        ("unicode", "हिन्दी में", ["हिन्दी", "में"]),
        ("unicode", "می\u200cخواهم", ["می\u200cخواهم"]),
        ("segmented", "我爱北京", ["我", "爱", "北京"]),
        ("segmented", "😀 don’t 22 สวัสดีครับ.", ["don’t", "สวัสดี", "ครับ"]),
        ("segmented", "a lone \ud800 surrogate", ["a", "lone", "surrogate"]),
        ("characters", "我爱, ok! e\u0301", ["我", "爱", "o", "k", "e\u0301"]),
    ],
)
def test_words_by_hand(kind, text, words) -> None:
    counted = document_words(kind)
    assert counted.split(text) == words
    assert counted.count(text) == len(words)
    assert [text[start:end] for start, end in counted.spans(text)] == words
    assert counted.cut(text, 0) == ""
    assert counted.cut(text, 2).endswith(words[min(1, len(words) - 1)])
    assert counted.cut(text, len(words) + 1) == text
    assert kind == "paper" or output_words(kind) is counted


@given(st.text(max_size=60))
def test_output_words_of_the_paper_are_what_white_space_separates(text) -> None:
    words = output_words("paper")
    assert words.split(text) == text.split()
    assert words.count(text) == len(text.split())


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60), st.sampled_from(KINDS))
def test_spans_are_ordered_and_hold_letters(text, kind) -> None:
    end = 0
    for start, stop in document_words(kind).spans(text):
        assert end <= start < stop <= len(text)
        assert regex.search(r"\p{L}", text[start:stop])  # Unicode is newer there than in Python itself
        end = stop


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_ascii_is_compared_as_all_texts_are(text) -> None:
    assert [*compared_words(text), "é"] == compared_words(f"{text} é")


def test_compared_words_by_hand() -> None:
    assert compared_words("Don’t ﬁx CAFE\u0301, 22!") == ["dont", "fix", "café", "22"]
    assert compared_words("Don't `fix` CAFE_22!") == ["dont", "fix", "cafe", "22"]
    assert compared_words("東京 and ไทย") == ["東", "京", "and", "ไ", "ท", "ย"]
