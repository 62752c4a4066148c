"""Small corpora shared by the corpus tests."""

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.corpora.made import built

HEADER = ("id", "gender", "age", "topic", "sign", "date", "text")
Post = tuple[str, str]  # author, text


@pytest.fixture
def blog_csv(tmp_path) -> Callable[[Iterable[Post]], Path]:
    """A function that writes (author, text) posts in the Kaggle format."""

    def write(posts) -> Path:
        path = tmp_path / "blog.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(HEADER)
            writer.writerows((author, "male", 24, "Arts", "Leo", "14,May,2004", text) for author, text in posts)
        return path

    return write


@pytest.fixture
def documents(tmp_path, blog_csv) -> Callable[[Iterable[Post]], Path]:
    """A function that builds the documents table of (author, text) posts."""

    def build(posts) -> Path:
        built(blog_csv(posts), "blog_csv", tmp_path)
        return tmp_path / "documents.parquet"

    return build
