"""Letters and words counted in bulk."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from favor.corpora.scripts import count_letters_and_words
from favor.foundation.words import document_words


def test_counts_by_hand() -> None:
    texts = ["don't stop", "", "'tis a1b", "a'a'a''a", "süßen 東京"]
    letters, words = count_letters_and_words([text.encode() for text in texts])
    assert letters == [8, 0, 5, 4, 3]
    assert words == [2, 0, 3, 2, 2]
    assert count_letters_and_words([]) == ([], [])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(alphabet="ab'Z9 é’\n-", max_size=20), max_size=4))
@example(["a'a'a'a", "''a''b'", "don't 'tis o'clock's", "", "b'"])
def test_counts_are_those_of_the_words_that_are_found(texts) -> None:
    letters, words = count_letters_and_words([text.encode() for text in texts])
    assert words == [document_words("paper").count(text) for text in texts]
    assert letters == [len(re.findall("[A-Za-z]", text)) for text in texts]
