"""The table and Mythos readers, and how readers are found."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from favor.corpora.posts import RawPost, ReaderSettings
from favor.corpora.reading import open_reader
from favor.foundation.errors import UserError
from favor.foundation.registry import CORPUS_READERS

ROWS = [
    {"author": "ann", "text": 'first, "quoted"\npost', "topic": "Arts", "prompt": "Write."},
    {"author": "bob", "text": "second", "topic": "", "prompt": ""},
]


def read(kind: str, path: Path, **settings: Any) -> list[RawPost]:
    return list(open_reader(kind).read(path, ReaderSettings(**settings)))


def write(folder: Path, suffix: str, rows: Sequence[dict[str, Any]]) -> Path:
    path = folder / f"corpus{suffix}"
    frame = pd.DataFrame(rows)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines + "\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".jsonl.gz"])
def test_every_format_gives_the_same_posts(tmp_path: Path, suffix: str) -> None:
    posts = read("table", write(tmp_path, suffix, ROWS))
    assert [post[:5] for post in posts] == [
        ("ann", "Arts", "Write.", 'first, "quoted"\npost', ""),
        ("bob", "indUnk", "", "second", ""),
    ]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_renamed_and_optional_columns(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, suffix, [{"user": 7, "body": "hello", "forum": "Arts"}])
    columns = {"author": "user", "text": "body", "topic": "forum"}
    assert read("table", path, columns=columns)[0][:4] == ("7", "Arts", "", "hello")
    with pytest.raises(UserError, match="'text' is missing"):
        read("table", path, columns={"author": "user"})
    with pytest.raises(UserError, match="'genre' is missing"):  # named by the user, so no longer optional
        read("table", path, columns={**columns, "topic": "genre"})
    with pytest.raises(UserError, match="'body_text' is none of"):
        read("table", path, columns={"body_text": "body"})


def test_broken_tables(tmp_path: Path) -> None:
    jsonl = tmp_path / "c.jsonl"
    jsonl.write_text('{"author": "a", "text": "x"}\n{"author": "a", "te')
    with pytest.raises(UserError, match=r"c\.jsonl: line 2 is not whole JSON"):
        read("table", jsonl)
    jsonl.write_text('{"author": "a", "text": "x"}\n[1]\n')
    with pytest.raises(UserError, match="line 2 is not a JSON object"):
        read("table", jsonl)
    jsonl.write_text('{"author": "a", "text": "x"}\n{"author": "a"}\n')
    with pytest.raises(UserError, match="line 2: key 'text' is missing"):
        read("table", jsonl)
    jsonl.write_bytes(b'{"author": "a", "text": "x"}\n{"author": "a", "text": "\xe9"}\n')
    with pytest.raises(UserError, match="byte 54 is not utf-8"):  # 29 bytes of line 1 and 25 of line 2 before it
        read("table", jsonl)
    jsonl.write_text("\n")
    with pytest.raises(UserError, match="is empty"):
        read("table", jsonl)
    parquet = write(tmp_path, ".parquet", ROWS)
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(UserError, match="not a whole Parquet file"):
        read("table", parquet)
    with pytest.raises(UserError, match="not a table"):
        read("table", tmp_path / "corpus.json")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_mythos_stories(tmp_path: Path, suffix: str) -> None:
    rows = [{"author": "ann", "prompt": "[WP] A dragon.", "text": "Once.", "url": "u"}]
    assert read("mythos", write(tmp_path, suffix, rows))[0][:4] == ("ann", "indUnk", "[WP] A dragon.", "Once.")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("extra", [{}, {"text": ""}])
def test_mythos_refuses_the_bare_release(tmp_path: Path, suffix: str, extra: dict[str, str]) -> None:
    rows = [{"author": "ann", "prompt": "[WP] A dragon.", "url": "u", "length": "712", **extra}] * 2
    with pytest.raises(UserError, match="stories are missing") as caught:
        read("mythos", write(tmp_path, suffix, rows))
    assert "only prompts, URLs and lengths" in str(caught.value)
    assert "author, prompt and text" in str(caught.value)


def test_mythos_missing_prompt(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'prompt' is missing"):
        read("mythos", write(tmp_path, ".csv", [{"author": "ann", "text": "Once."}]))


def test_readers_are_the_files_of_the_folder() -> None:
    assert CORPUS_READERS.names() == ["blog_csv", "blog_xml", "mythos", "table"]
    for kind in CORPUS_READERS.names():
        assert callable(open_reader(kind).read)


@pytest.mark.parametrize("kind", ["blog_cvs", "../cleaning", "__init__", ""])
def test_unknown_reader(kind: str) -> None:
    with pytest.raises(UserError, match=r"corpus reader .* is unknown"):
        open_reader(kind)
