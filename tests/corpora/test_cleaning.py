"""What cleaning does to one text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from favor.corpora.posts import clean_text


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("   two\t\twords  ", "two words"),
        ("a&nbsp;&nbsp;b &amp; c &#8220;d&#8221; &#146;e &lt;3", "a b & c “d” ’e <3"),
        ("see urlLink   this urlLink", "see this"),
        ("urlLink", ""),
        ("(urlLink) urlLink, urlLinked and CurlLinker", "( ) , urlLinked and CurlLinker"),
        ("&nbsp; \n \t", ""),
        ("one \n\n\n  two\r\nthree", "one\ntwo\nthree"),
        ("bell\x07 nul\x00l\x7f", "bell nul l"),
        ("it\x92s \x93so\x94\x85", "it’s “so”…"),  # cp1252 bytes read as latin-1
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("caf\u00e9 \u65e5\u672c", "caf\u00e9 \u65e5\u672c"),
        ("&amp;lt;", "&lt;"),  # resolved once only
        ("fish &chips AT&T", "fish &chips AT&T"),
    ],
)
def test_examples(raw, cleaned) -> None:
    assert clean_text(raw) == cleaned


@given(st.text(st.characters(exclude_characters="&")))
def test_idempotent_and_settled(text) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    assert cleaned == cleaned.strip()
    assert "  " not in cleaned
    assert not re.search(r"\burlLink\b", cleaned)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", cleaned)
