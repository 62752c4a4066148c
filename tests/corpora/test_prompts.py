"""Evaluation prompts: token counts, faithful cuts, shortfall, bad input."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.made import byte_level
from tokenizers import Tokenizer

from favor.corpora.copies import shares_a_run, word_runs
from favor.corpora.prompts import cut_post, few_prompts, select_prompts
from favor.corpora.schemas import PROMPTS
from favor.corpora.settings import PromptCut
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet

SMALL = PromptCut(per_client=3, prefix_tokens=8, minimum_gold_tokens=5, maximum_gold_tokens=12)


@pytest.fixture(scope="module")
def tokenizer_path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    byte_level(["the cat sat on the mat and the dog sat too"] * 5).save(str(path))
    return path


@pytest.fixture(scope="module")
def tokenizer(tokenizer_path) -> Tokenizer:
    return Tokenizer.from_file(str(tokenizer_path))


def test_cut_by_hand(tokenizer) -> None:
    text = "abcdefghijklmnopqrstuvwxyz"  # no merge was learnt for these pairs: one token a letter
    assert len(tokenizer.encode(text).ids) == 26
    ids = tokenizer.encode(text).ids[:8]
    assert cut_post(text, tokenizer, SMALL) == (ids, "abcdefgh", "ijklmnopqrst", 12)
    assert cut_post(text[:13], tokenizer, SMALL) == (ids, "abcdefgh", "ijklm", 5)
    assert cut_post(text[:12], tokenizer, SMALL) is None


def test_a_character_split_by_the_cut(tokenizer) -> None:
    # é is two byte tokens. At tokens 8 and 9 it straddles the prefix's end: no faithful cut there.
    assert cut_post("abcdefgéijklmnopqrstuvwxyz", tokenizer, SMALL) is None
    # At tokens 20 and 21 it straddles the gold's end, so the gold is one token shorter.
    assert cut_post("abcdefghijklmnopqrsé and more", tokenizer, SMALL)[2:] == ("ijklmnopqrs", 11)
    # At tokens 13 and 14 it straddles the end of the shortest gold, which then has the whole of it.
    for longest, *gold in ((5, "ijklé", 6), (12, "ijklénopqrs", 12)):
        settings = SMALL.model_copy(update={"maximum_gold_tokens": longest})
        assert [*cut_post("abcdefghijklénopqrstuvwxyz", tokenizer, settings)[2:]] == gold


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="abc the cat é日😀.\n", min_size=0, max_size=80))
def test_every_cut_is_faithful(tokenizer, text) -> None:
    cut = cut_post(text, tokenizer, SMALL)
    if cut is not None:
        assert text.startswith(cut.prompt_text + cut.gold_text)
        assert len(cut.prompt_tokens) == 8
        assert 5 <= cut.gold_tokens <= 12
        assert tokenizer.decode(cut.prompt_tokens) == cut.prompt_text
    for longest in (5, 6, 40):
        other = cut_post(text, tokenizer, SMALL.model_copy(update={"maximum_gold_tokens": longest}))
        assert (other is None) == (cut is None)
        assert other is None or 5 <= other.gold_tokens <= max(longest, 8)


def test_writing_prompt_comes_first_and_leaves_room(tokenizer) -> None:
    cut = cut_post("fghijklmnopqrstuvwxyz", tokenizer, SMALL, opening="wxyz")
    assert cut[1:3] == ("wxyz\n\nfg", "hijklmnopqrs")
    assert cut_post("fghijklmnopqrstuvwxyz", tokenizer, SMALL, opening="wxyzwx") is None  # fills the prefix


def client_texts(**posts) -> pd.DataFrame:
    rows = [
        (client, f"{client}-{number}", "test" if number else "train", "Arts", "", text)
        for client, texts in posts.items()
        for number, text in enumerate(["w" * 30, *texts])
    ]
    return pd.DataFrame(rows, columns=["client", "document_id", "split", "topic", "prompt", "text"])


def test_selection(tokenizer_path, tmp_path) -> None:
    frame = client_texts(
        client_001=[letter + "bcdefghijklmnopqrst" for letter in "pqrst"], client_002=["x" * 20, "short", "y" * 12]
    )
    made = select_prompts(frame, tokenizer_path, SMALL, 2026)
    write_parquet(made, tmp_path / "prompts.parquet", PROMPTS)
    own = made[made["client"] == "client_001"]
    assert own["prompt_id"].tolist() == ["client_001-2026-1", "client_001-2026-2", "client_001-2026-3"]
    assert own["document_id"].is_unique
    assert not made["document_id"].str.endswith("-0").any()  # never a training post
    assert made.groupby("client").size().tolist() == [3, 1]  # of three wanted
    pd.testing.assert_frame_equal(made, select_prompts(frame, tokenizer_path.parent, SMALL, 2026))
    left_out = set(own["document_id"][:2])  # near duplicates
    without = select_prompts(frame, tokenizer_path, SMALL, 2026, left_out)
    assert without["document_id"].isin(left_out).sum() == 0
    assert without.groupby("client").size().tolist() == [3, 1]
    with pytest.raises(UserError, match=r"client_001 .* set 'prompts.near_duplicates' or .* to keep"):
        select_prompts(frame, tokenizer_path, SMALL, 2026, set(frame["document_id"]))
    drawn = [select_prompts(frame, tokenizer_path, SMALL, seed) for seed in range(2026, 2032)]
    assert len({tuple(each["document_id"]) for each in drawn}) > 1


def test_a_post_that_shares_ten_words_with_a_training_text_gives_no_prompt(tokenizer_path) -> None:
    song = "one two three four five six seven eight nine ten"
    clean, sung = "x" * 30, f"{'y' * 30} she sang: {song.upper()}, he said"
    frame = client_texts(client_001=[clean, sung])
    known = word_runs([f"again {song} again"])
    assert set(select_prompts(frame, tokenizer_path, SMALL, 1)["document_id"]) == {"client_001-1", "client_001-2"}
    made = select_prompts(frame, tokenizer_path, SMALL, 1, trained=known)
    assert made["document_id"].tolist() == ["client_001-1"]
    nine = word_runs([song.replace("ten", "eleven")])
    assert len(select_prompts(frame, tokenizer_path, SMALL, 1, trained=nine)) == 2
    with pytest.raises(UserError, match=r"'prompts.shared_passages' to keep"):
        select_prompts(client_texts(client_001=[sung]), tokenizer_path, SMALL, 1, trained=known)


def test_runs_of_words_by_hand() -> None:
    words = list("abcdefghijk")
    assert len(word_runs([" ".join(words)])) == 2
    assert len(word_runs([" ".join(words[:9]), " ".join(words[9:])])) == 0  # no run crosses from text to text
    assert len(word_runs([" ".join(words[:10])] * 3)) == 1
    assert len(word_runs([])) == 0
    assert not shares_a_run(" ".join(reversed(words)), word_runs([" ".join(words)]))
    assert shares_a_run("A, b; C d E f g h (i) J", word_runs([" ".join(words)]))


def test_a_client_without_a_prompt(tokenizer_path) -> None:
    frame = client_texts(client_001=["x" * 20], client_002=["short"])
    with pytest.raises(UserError, match=r"client_002 \(of 1 such clients\) has no test post of 13 tokens"):
        select_prompts(frame, tokenizer_path, SMALL, 2026)


def test_clients_with_too_few_prompts_are_one_line() -> None:
    assert few_prompts({"a": 2, "b": 3}, 2, "too few drafts serve") == ""
    assert few_prompts({"a": 2, "b": 1}, 2, "too few drafts") == "b has fewer than 2 prompts; too few drafts"
    assert few_prompts({"c": 0, "b": 1, "a": 2}, 2, "why") == "2 clients (b first) have fewer than 2 prompts; why"
