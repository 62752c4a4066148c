"""Tokens are counted of authors who may have enough of them, and of them exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer, Tokenizer, models, normalizers, pre_tokenizers

from favor.corpora.authors import count_tokens
from favor.foundation.tokenizer import most_tokens
from favor.running.jobs.progress import Progress

Build = Callable[[Iterable[tuple[str, str]]], Path]


def byte_level(normalizer=None) -> Tokenizer:
    made = ByteLevelBPETokenizer()
    made.train_from_iterator(["the cat sat on the mat"] * 3, vocab_size=270, show_progress=False)
    tokenizer = Tokenizer.from_str(made.to_str())
    tokenizer.normalizer = normalizer
    return tokenizer


@pytest.mark.parametrize("normalizer", [None, normalizers.NFC(), normalizers.NFKD()])
@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=30))
def test_no_text_has_more_tokens_than_its_bound(normalizer, text) -> None:
    tokenizer = byte_level(normalizer)
    bound = most_tokens(tokenizer)
    assert bound is not None
    for each in (text, "\ufdfa" * len(text), "\U0001d15e"):  # three bytes that become 33, four that become twelve
        assert len(tokenizer.encode(each).ids) <= bound(each)


def test_other_tokenizers_have_no_bound(tmp_path, documents) -> None:
    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    assert most_tokens(words) is None
    prefixed = byte_level()
    prefixed.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    assert most_tokens(prefixed) is None
    words.save(str(tmp_path / "tokenizer.json"))
    counted = count_tokens(documents([("a", "one two"), ("b", "three")]), tmp_path, 1_000)
    assert counted["tokens"].tolist() == [2, 1]


def test_authors_who_cannot_have_enough_are_not_counted(tmp_path, documents) -> None:
    tokenizer = byte_level()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    rows = [("long", "the cat sat on the mat " + "zq" * 40), ("long", "xyz" * 20), ("short", "the cat sat on the mat")]
    path = documents(rows)
    everyone = count_tokens(path, tmp_path).set_index("author")["tokens"]
    assert everyone.to_dict() == {
        author: sum(len(tokenizer.encode(text.strip()).ids) for name, text in rows if name == author)
        for author in ("long", "short")
    }
    progress = Progress("tokens", 0, "documents")
    some = count_tokens(path, tmp_path, 100, progress)
    assert some["tokens"].tolist() == [everyone["long"], -1]
    assert some["documents"].tolist() == [2, 1]
    assert (progress.done, progress.total) == (2, 2)
