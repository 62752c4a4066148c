"""Near duplicates: found exactly, counted by where they are, kept out of prompts."""

import random
from itertools import combinations, count
from pathlib import Path

import pandas as pd
import pytest
from tests.corpora.made import write_documents

from favor.corpora.near_duplicates import SHINGLE, bands, copies_between, find_near_duplicates, shingles
from favor.corpora.schemas import NEAR_DUPLICATES
from favor.foundation.parquet import write_parquet
from favor.report.content import Preparation
from favor.report.preparation import blocks

LETTERS = random.Random(1)
VOCABULARY = ["".join(LETTERS.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(4000)]


def post(seed, words=100) -> list[str]:
    return random.Random(seed).choices(VOCABULARY, k=words)


def documents(path, rows) -> Path:
    numbers = {author: count(1) for author, _ in rows}
    rows = sorted(rows, key=lambda row: row[0])
    return write_documents(path, [(name, f"{name}-{next(numbers[name])}", "t", "", text, 1) for name, text in rows])


def splits(**of) -> pd.DataFrame:
    rows = [(name.split("_")[0], name.replace("_", "-"), split) for name, split in of.items()]
    return pd.DataFrame(rows, columns=["author", "document_id", "split"])


def similar(one, other) -> bool:
    return len(one & other) / len(one | other) >= 0.7


def test_shingles_by_hand() -> None:
    assert shingles("One, two-three 'Four' don’t five!") == ["one two three four dont", "two three four dont five"]
    assert shingles("Too few") == ["too few"]
    assert len(shingles("日本語です")) == 1
    assert shingles("日本語です。はい")[0] == "日 本 語 で す"


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.9, 1.0])
def test_bands_miss_hardly_a_pair_at_the_threshold(threshold) -> None:
    number = bands(threshold)
    assert (1 - threshold ** (128 // number)) ** number <= 0.001


def test_edited_posts_are_found_and_counted_by_where_they_are(tmp_path) -> None:
    original, other = " ".join(post(1)), " ".join(post(2))
    rows = [
        ("ann", original),  # training
        ("ann", f"{original} greetings from ann"),  # test: 96 of 99 shingles shared
        ("ann", " ".join([*post(1)[:50], *post(4, 50)])),  # half of it: no near duplicate
        ("bob", other),
        ("bob", " ".join(post(3))),
        ("cid", other.upper().replace(" ", ", ")),  # in no split, the words of bob's
    ]
    path = documents(tmp_path / "documents.parquet", rows)
    parts = splits(ann_1="train", ann_2="test", ann_3="train", bob_1="validation", bob_2="train")
    found = find_near_duplicates(path, parts, 0.7, 2026)
    write_parquet(found, tmp_path / "found.parquet", NEAR_DUPLICATES)
    assert found.drop(columns=["author", "similarity"]).to_numpy().tolist() == [
        ["ann-1", "train", 0, 1, 0],
        ["ann-2", "test", 1, 0, 0],
        ["bob-1", "validation", 0, 0, 1],
        ["cid-1", "", 0, 0, 1],
    ]
    assert found["similarity"].tolist() == pytest.approx([96 / 99, 96 / 99, 1, 1])
    assert find_near_duplicates(path, parts, 0.98, 2026)["document_id"].tolist() == ["bob-1", "cid-1"]
    ((_, table),) = blocks(Preparation(near_duplicates=found))
    assert table.to_numpy().tolist() == [
        ["Train", "1", "0", "1", "0"],
        ["Validation", "1", "0", "0", "1"],
        ["Test", "1", "1", "0", "0"],
    ]


def test_every_pair_is_found_that_comparing_all_pairs_finds(tmp_path) -> None:
    generator = random.Random(5)
    rows = []
    for number in range(60):
        words = post(100 + number, generator.randint(SHINGLE, 80))
        rows.append((f"a{number:02d}", " ".join(words)))
        for place in generator.sample(range(len(words)), len(words) // 30):
            words[place] = "edited"
        rows.append((f"b{number:02d}", " ".join([*words, "more"])))
    path = documents(tmp_path / "documents.parquet", rows)
    sets = {f"{author}-1": set(shingles(text)) for author, text in rows}
    pairs = [pair for pair in combinations(sets, 2) if similar(*(sets[name] for name in pair))]
    expected = {name for pair in pairs for name in pair}
    found = find_near_duplicates(path, splits(), 0.7, 1)
    assert 20 < len(expected) < 120
    assert set(found["document_id"]) == expected
    assert find_near_duplicates(path, splits(), 0.7, 1).equals(found)


def test_pairs_of_copies_between_roles_are_those_that_comparing_all_pairs_finds(tmp_path) -> None:
    writers = [(number, author) for number in range(12) for author in ("ann", "bob", "cid")[: 1 + number % 3]]
    rows = [(author, " ".join([*post(200 + number, 60), author])) for number, author in writers]
    rows.append(("dan", rows[1][1]))  # without a role
    path = documents(tmp_path / "documents.parquet", rows)
    role_of = {"ann": "client", "bob": "asce_a", "cid": "client"}
    sets = [(role_of[author], set(shingles(text))) for author, text in rows if author in role_of]
    pairs = [{left, right} for (left, one), (right, other) in combinations(sets, 2) if similar(one, other)]
    expected = pairs.count({"client", "asce_a"})
    assert expected == 4 * 1 + 4 * 2  # ann's and cid's with bob's; ann's and cid's are both clients'
    found = find_near_duplicates(path, splits(), 0.7, 1)
    assert copies_between(path, found, role_of, 0.7) == {("asce_a", "client"): expected}
    assert copies_between(path, found, role_of, 1.0) == {}
    apart = documents(tmp_path / "apart.parquet", [("ann", " ".join(post(1))), ("bob", " ".join(post(2)))])
    found = find_near_duplicates(apart, splits(ann_1="test"), 0.7, 1)
    write_parquet(found, tmp_path / "found.parquet", NEAR_DUPLICATES)
    assert found.empty
    assert copies_between(apart, found, role_of, 0.7) == {}
