"""Token counts, the roster and the overlap of its roles."""

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.made import byte_level, word_level, write_documents
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from favor.corpora.authors import count_tokens
from favor.corpora.roster import measure_overlap, select_roster
from favor.corpora.schemas import ROSTER
from favor.corpora.settings import DealtRoles, Roster, Splitting
from favor.corpora.splits import split_documents
from favor.corpora.style_features import FEATURES, standardise, style_features
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet
from favor.foundation.tokenizer import most_tokens
from favor.running.jobs.progress import Progress

STYLES = ("I was VERY happy!!! and so glad", "well; it is, perhaps, rather quiet", "lol u know its ok... like whatever")


@pytest.fixture
def tokenizer(tmp_path) -> Path:
    word_level().save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def styled(authors, posts=12) -> list[tuple[str, str]]:
    """Posts of ``authors`` authors, a third in each of three styles, their words shuffled."""
    rows = []
    for author in range(authors):
        generator = random.Random(author)
        for number in range(posts):
            words = STYLES[author % 3].split() * 5
            generator.shuffle(words)
            rows.append((f"a{author:02d}", f"{' '.join(words)} wrote {chr(97 + author % 26)} {number}"))
    return rows


@pytest.fixture
def corpus(documents, tokenizer) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    path = documents(styled(30))
    return path, count_tokens(path, tokenizer), split_documents(path, Splitting()).splits


def roster_of(corpus, background=(), roles=None, **keys) -> pd.DataFrame:
    path, authors, splits = corpus
    roles = DealtRoles(**{"clients": 6, "asce_a": 3, "asce_b": 3, **(roles or {})})
    settings = Roster(**{"roles": roles, "minimum_tokens": 100, "style_clusters": 3, **keys})
    return select_roster(authors, splits, list(background), path, settings)


def members(roster, role) -> list[str]:
    frame = roster[roster["role"] == role]
    return frame.sort_values("client" if role == "client" else "author")["author"].tolist()


def test_count_tokens(documents, tokenizer) -> None:
    path = documents([("b", "one two, three!"), ("a", "wrote"), ("b", "don't")])
    # "one two , three !" is 5 tokens, "don ' t" 3
    assert count_tokens(path, tokenizer).to_dict("list") == {
        "author": ["a", "b"], "topic": ["Arts", "Arts"], "documents": [1, 2], "words": [1, 4], "tokens": [1, 8],
    }  # fmt: skip
    with pytest.raises(UserError, match=r"must hold a tokenizer\.json"):
        count_tokens(path, tokenizer / "none")
    (tokenizer / "tokenizer.json").write_text("{")
    with pytest.raises(UserError, match=r"not a complete tokenizer\.json"):
        count_tokens(path, str(tokenizer))


def test_roles_are_disjoint_and_named(corpus, tmp_path) -> None:
    roster = roster_of(corpus, ["a00", "a01"])
    assert roster["role"].value_counts().to_dict() == {
        "unused": 16, "client": 6, "asce_a": 3, "asce_b": 3, "background": 2,
    }  # fmt: skip
    assert members(roster, "background") == ["a00", "a01"]
    names = sorted(roster.loc[roster["role"] == "client", "client"])
    assert names == [f"client_{number:03d}" for number in range(1, 7)]
    assert set(roster.loc[roster["role"] != "client", "client"]) == {""}
    assert roster.loc[roster["role"] == "background", "cluster"].tolist() == [-1, -1]
    write_parquet(roster, tmp_path / "roster.parquet", ROSTER)
    overlap = measure_overlap(roster, corpus[0])
    assert len(overlap) == 6  # pairs of four roles
    assert overlap[["shared_authors", "shared_documents"]].to_numpy().sum() == 0


def test_clusters_find_the_styles_and_each_role_spans_them(corpus) -> None:
    roster = roster_of(corpus)
    style = roster["author"].str[1:].astype(int) % 3
    assert roster.groupby(style)["cluster"].nunique().tolist() == [1, 1, 1]
    assert roster["cluster"].nunique() == 3
    for role, authors in (("client", 6), ("asce_a", 3), ("asce_b", 3)):
        counts = roster[roster["role"] == role]["cluster"].value_counts()
        assert counts.tolist() == [authors // 3] * 3


@pytest.mark.parametrize("selection", ["style_diverse", "random"])
def test_shorter_rosters_are_the_start_of_longer_ones(corpus, selection) -> None:
    rosters = [roster_of(corpus, roles={"clients": count}, selection=selection) for count in (2, 6, 10, 15, 24)]
    longest = members(rosters[-1], "client")
    for roster in rosters:
        clients = members(roster, "client")
        assert clients == longest[: len(clients)]
        assert members(roster, "asce_a") == members(rosters[0], "asce_a")
        assert members(roster, "asce_b") == members(rosters[0], "asce_b")


def test_encoders_larger_than_their_hands(corpus) -> None:
    roster = roster_of(corpus, roles={"clients": 2, "asce_a": 14, "asce_b": 14})
    assert roster["role"].value_counts().to_dict() == {"asce_a": 14, "asce_b": 14, "client": 2}


def test_seed_and_selection_matter(corpus) -> None:
    assert members(roster_of(corpus), "client") != members(roster_of(corpus, seed=7), "client")
    assert set(roster_of(corpus, selection="random")["cluster"]) == {-1}


def test_fewer_eligible_authors_than_are_needed(documents, tokenizer) -> None:
    rows = [(author, f"{author} wrote {letter}") for author in ("few", "tiny") for letter in "ab"]
    path = documents([*styled(8), *rows])
    corpus = path, count_tokens(path, tokenizer), split_documents(path, Splitting()).splits
    roles = {"asce_a": 2, "asce_b": 2}
    with pytest.raises(UserError) as caught:
        roster_of(corpus, ["a00"], {"clients": 4, **roles})
    message = str(caught.value)
    assert "7 authors have 100 tokens" in message
    assert "8 are needed (4 clients, 2 asce_a, 2 asce_b, beside 1 background" in message
    for key in ("roles.clients", "roles.asce_a", "roles.asce_b", "minimum_tokens"):
        assert f"'{key}'" in message
    assert members(roster_of(corpus, ["a00"], {"clients": 3, **roles}), "too_small") == ["few", "tiny"]


def test_overlap_stops_the_run(tmp_path) -> None:
    rows = [(author, f"{author}-1", "Arts", "", "the very same text", 4) for author in "ab"]
    path = write_documents(tmp_path / "documents.parquet", rows)
    roster = pd.DataFrame({"author": ["a", "b"], "role": ["client", "asce_a"]})
    with pytest.raises(UserError, match="roles asce_a and client share 0 authors and 1 documents"):
        measure_overlap(roster, path)


def test_style_features_by_hand() -> None:
    # 12 words in 3 sentences, I am NOT here Isn't it odd i know it I know; 48 characters, of which I N O T I I are
    # capitals; 8 distinct words, i am not here isn't it odd know
    values = dict(zip(FEATURES, style_features("I am NOT here! Isn't it odd... i know it, I know"), strict=True))
    per_word = {"know": 2, "it": 2, "i": 3, "small_i": 1, "capital_words": 1, "contractions": 1, "distinct_words": 8}
    expected = {name: count / 12 for name, count in per_word.items()}
    expected |= {"!": 1 / 48, "...": 1 / 48, "capitals": 6 / 48, "sentence_words": 12 / 3}
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    assert not style_features("123 !!!").any()


def test_standardise() -> None:
    made = standardise(np.array([[1.0, 5.0], [3.0, 5.0]]))
    assert made.tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def small() -> Tokenizer:
    return Tokenizer.from_str(byte_level(["the cat sat on the mat"] * 3, 270).to_str())


@pytest.mark.parametrize("normalizer", [None, normalizers.NFC(), normalizers.NFKD()])
@settings(max_examples=60)
@given(text=st.text(max_size=30))
def test_no_text_has_more_tokens_than_its_bound(normalizer, text) -> None:
    tokenizer = small()
    tokenizer.normalizer = normalizer
    bound = most_tokens(tokenizer)
    assert bound is not None
    for each in (text, "\ufdfa" * len(text), "\U0001d15e"):  # three bytes that become 33, four that become twelve
        assert len(tokenizer.encode(each).ids) <= bound(each)


def test_other_tokenizers_have_no_bound(tmp_path, documents) -> None:
    words = word_level()
    assert most_tokens(words) is None
    prefixed = small()
    prefixed.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    assert most_tokens(prefixed) is None
    words.save(str(tmp_path / "tokenizer.json"))
    counted = count_tokens(documents([("a", "one two"), ("b", "three")]), tmp_path, 1_000)
    assert counted["tokens"].tolist() == [2, 1]


def test_authors_who_cannot_have_enough_are_not_counted(tmp_path, documents) -> None:
    tokenizer = small()
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
