"""80/10/10 by author, and the background authors."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.made import write_documents

from favor.corpora.authors import choose_background
from favor.corpora.settings import Background, Splitting
from favor.corpora.splits import split_documents, split_sizes
from favor.foundation.errors import UserError


def posts(**counts) -> list[tuple[str, str]]:
    numbers = [(author, number) for author, count in counts.items() for number in range(count)]
    return [(author, f"{author} wrote " + "so " * number) for author, number in numbers]


@pytest.mark.parametrize(("documents", "held_out"), [(10, 1), (14, 1), (16, 2), (25, 2), (35, 4), (204, 20)])
def test_sizes(documents, held_out) -> None:
    # max(1, round(.1 n)); halves to even: 2.5 -> 2, 3.5 -> 4
    assert split_sizes(documents) == (held_out, held_out)


@given(st.integers(10, 5000))
def test_training_is_never_empty(documents) -> None:
    assert documents - sum(split_sizes(documents)) >= 0.7 * documents


def test_split_and_excluded(documents) -> None:
    made = split_documents(documents(posts(ann=30, bob=9, cat=10)), Splitting())
    counts = made.splits.groupby(["author", "split"]).size().to_dict()
    assert counts == {
        ("ann", "train"): 24, ("ann", "validation"): 3, ("ann", "test"): 3,
        ("cat", "train"): 8, ("cat", "validation"): 1, ("cat", "test"): 1,
    }  # fmt: skip
    assert made.excluded == 1  # bob
    assert made.splits["document_id"].is_unique


def test_an_author_is_split_alike_in_any_company_and_otherwise_by_another_seed(documents) -> None:
    def of_ann(seed, **others) -> list[list[str]]:
        frame = split_documents(documents(posts(ann=30, **others)), Splitting(seed=seed)).splits
        return frame[frame["author"] == "ann"].to_numpy().tolist()

    assert of_ann(2026) == of_ann(2026, aaa=40, zoe=12)
    assert of_ann(2026) != of_ann(2027)


def test_no_author_with_posts_enough(documents) -> None:
    with pytest.raises(UserError, match=r"no author has 10 documents \(the most is 9\)"):
        split_documents(documents(posts(ann=9, bob=3)), Splitting())


def test_background_is_nested_and_large_enough(documents) -> None:
    path = documents(posts(**{f"a{number}": 12 for number in range(20)}, small=2))

    def background(authors, **keys) -> set[str]:
        settings = Background(authors=authors, background_minimum_words=50, **keys)
        return set(choose_background(path, settings)["author"])

    chosen = [background(count) for count in (0, 5, 12, 20)]
    assert [len(authors) for authors in chosen] == [0, 5, 12, 20]
    assert chosen[1] < chosen[2] < chosen[3]
    assert "small" not in chosen[3]
    assert chosen[1] != background(5, seed=7)
    with pytest.raises(UserError, match=r"20 authors have 50 words, 21 are needed; .*base model, .*'favor init'"):
        background(21)


@pytest.fixture
def dated(tmp_path) -> Callable[[dict[str, list[str]]], Path]:

    def write(dates) -> Path:
        rows = [
            (author, f"{author}-{number:05d}", "Arts", "", f"post {number} of {author}", 4, day)
            for author, days in sorted(dates.items())
            for number, day in enumerate(days, start=1)
        ]
        return write_documents(tmp_path / "documents.parquet", rows)

    return write


TEMPORAL = Splitting(split="temporal")


def test_the_newest_posts_are_tested_and_the_oldest_trained_on(dated) -> None:
    days = [f"2004-05-{day:02d}" for day in (9, 1, 8, 2, 7, 3, 6, 4, 10, 10)]  # the last two on one day
    made = split_documents(dated({"ann": days, "bob": days[:9]}), TEMPORAL)
    splits = made.splits["split"]
    assert splits.tolist() == ["train"] * 8 + ["validation", "test"]
    assert made.splits["document_id"].is_monotonic_increasing
    assert made.excluded == 1  # bob
    assert made.undated == 0


def test_posts_without_a_date_are_refused_or_dropped_and_counted(dated) -> None:
    days = [f"2004-05-{day:02d}" for day in range(1, 12)]
    path = dated({"ann": [*days[:5], "", *days[5:]], "bob": [*days[:9], "", ""]})
    with pytest.raises(UserError, match=r"3 of 23 posts have no date that can be read.*'undated' to drop"):
        split_documents(path, TEMPORAL)
    made = split_documents(path, TEMPORAL.model_copy(update={"undated": "drop"}))
    assert made.undated == 3
    assert "ann-00006" not in set(made.splits["document_id"])
    assert set(made.splits["author"]) == {"ann"}  # bob has nine posts with a date
    assert split_documents(path, Splitting()).undated == 0
    with pytest.raises(UserError, match="no post has a date"):
        split_documents(dated({"ann": [""] * 12}), TEMPORAL.model_copy(update={"undated": "drop"}))
