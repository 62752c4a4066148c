"""LongLaMP's rows, made by hand in the keys of its three published tasks."""

import json
from pathlib import Path

import pandas as pd
import pytest

from favor.corpora.posts import RawPost, ReaderSettings, open_reader
from favor.foundation.errors import UserError

ROWS = {
    "product review": {
        "reviewerId": "A1", "input": "Generate the review", "output": "the asked review",
        "profile": [{"overall": "5", "summary": "Fine", "description": "A lamp", "reviewText": "an older review"}],
    },
    "abstract": {
        "name": "A. Person", "input": "Generate an abstract", "output": "the asked abstract",
        "profile": [{"id": "3", "title": "T", "year": 2010, "abstract": "an older abstract"}],
    },
    "topic": {
        "author": "redditor", "input": "Generate the content", "output": "the asked post",
        "profile": [{"author": "redditor", "id": "9", "summary": "S", "content": "an older post"}],
    },
}  # fmt: skip


def read(path) -> list[RawPost]:
    return list(open_reader("longlamp").read(path, ReaderSettings()))


def write(path, rows) -> Path:
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        path.write_text(json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize("form", ["train.json", "train.jsonl", "train-00000-of-00001.parquet"])
@pytest.mark.parametrize("task", ROWS)
def test_documents_and_the_output_are_posts(tmp_path, task, form) -> None:
    row = ROWS[task]
    author, older, asked = next(iter(row.values())), f"an older {row['output'].split()[-1]}", row["output"]
    again = {**row, "output": "one more"}
    posts = read(write(tmp_path / form, [row, again]))
    assert [(post.author, post.text) for post in posts] == [(author, older), (author, asked), (author, "one more")]
    assert {(post.topic, post.prompt, post.date) for post in posts} == {("indUnk", "", "")}
    assert "document 2" in posts[-1].row_label


def test_a_folder_is_read_as_a_whole(tmp_path) -> None:
    for name, author in (("train.jsonl", "A1"), ("val.jsonl", "A2"), ("test.jsonl", "A1")):
        write(tmp_path / name, [{**ROWS["product review"], "reviewerId": author, "output": name}])
    assert [(post.author, post.text) for post in read(tmp_path)] == [
        ("A1", "an older review"), ("A1", "test.jsonl"), ("A1", "train.jsonl"),
        ("A2", "an older review"), ("A2", "val.jsonl"),
    ]  # fmt: skip


def test_documents_of_another_author_are_left_out_and_counted(tmp_path, capsys) -> None:
    row = ROWS["topic"]
    mixed = [*row["profile"], {"author": "somebody", "id": "2", "summary": "", "content": "not theirs"}]
    posts = read(write(tmp_path / "train.json", [{**row, "profile": mixed}]))
    assert "not theirs" not in {post.text for post in posts}
    assert "1 documents of profiles name another author and are left out" in capsys.readouterr().err


REVIEW = ROWS["product review"]
REFUSED = {
    r"row 1: not a row of LongLaMP, which has profile, output and one of reviewerId, name, author": {"user": "A1"},
    r"row 1: 'profile' is not a list of documents": {**REVIEW, "profile": {"reviewText": ["a", "b"]}},
    r"row 1: has no 'reviewText'": {**REVIEW, "profile": [{"text": "a"}]},
    r"row 1: 'output' is not text": {**REVIEW, "output": 5},
}


@pytest.mark.parametrize("line", REFUSED)
def test_another_format_is_one_line(tmp_path, line) -> None:
    with pytest.raises(UserError, match=r"holds no \.parquet, \.jsonl or \.json file"):
        read(tmp_path)
    with pytest.raises(UserError, match=line):
        read(write(tmp_path / "train.json", [REFUSED[line]]))


def test_texts_that_are_null_are_empty_posts(tmp_path) -> None:
    row = {**REVIEW, "profile": [{"reviewText": None}], "output": ""}
    assert [post.text for post in read(write(tmp_path / "train.json", [row]))] == ["", ""]
