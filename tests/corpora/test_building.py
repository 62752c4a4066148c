"""From posts to the documents table: order, ids, duplicates, shared authors, counts, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from favor.corpora import building
from favor.corpora.building import MOST_SHARERS, REASONS, build_documents, shared_author_groups
from favor.corpora.documents import DocumentWriter, author_totals, stream_documents, text_digest
from favor.corpora.posts import ReaderSettings, open_reader
from favor.corpora.schemas import DOCUMENTS, DROPPED
from favor.corpora.settings import Cleaning
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet

Write = Callable[[Iterable[tuple[str, str]]], Path]


def build(path, folder, **settings) -> tuple[pd.DataFrame, dict[str, int]]:
    out, dropped = folder / "out" / "documents.parquet", folder / "out" / "dropped.parquet"
    cleaning = Cleaning(**settings)
    counts = build_documents(path, open_reader("blog_csv"), cleaning, out, dropped)
    table = read_parquet(dropped, DROPPED)
    assert dict(zip(table["reason"], table["rows"], strict=True)) == counts
    assert set(counts) == set(REASONS)
    return read_parquet(out, DOCUMENTS), counts


def long_post(name, words=50) -> str:
    return " ".join([name] * words)


def test_order_ids_duplicates_and_counts(tmp_path, blog_csv) -> None:
    posts = [
        ("9", "nine one"),
        ("10", "  ten   one "),
        ("9", "&nbsp;"),  # empty after cleaning, but it has its number
        ("9", "nine one"),  # the author has it
        ("10", "22 :)"),  # no word
        ("9", "urlLink ten one"),  # another author has it
        ("10", "ten &amp; two"),
    ]
    frame, counts = build(blog_csv(posts), tmp_path)
    assert frame["document_id"].tolist() == ["10-00001", "10-00003", "9-00001"]
    assert frame["text"].tolist() == ["ten one", "ten & two", "nine one"]
    assert frame["words"].tolist() == [2, 2, 2]
    assert frame["author"].tolist() == ["10", "10", "9"]
    assert set(frame["topic"]) == {"Arts"}
    assert counts == {
        "kept": 3, "empty": 1, "too_short": 1, "shared_author": 0,
        "duplicate_same_author": 1, "duplicate_other_author": 1,
    }  # fmt: skip
    assert sum(counts.values()) == len(posts)


def test_same_input_same_bytes_and_interleaving_changes_nothing(tmp_path, blog_csv) -> None:
    posts = [(str(number % 7), f"post number {number} of author") for number in range(200)]
    posts = [(author, text.replace(" of", f" {chr(97 + int(text.split()[2]) % 26)} of")) for author, text in posts]
    build(blog_csv(posts), tmp_path)
    first = (tmp_path / "out" / "documents.parquet").read_bytes()
    build(blog_csv(posts), tmp_path)
    assert (tmp_path / "out" / "documents.parquet").read_bytes() == first
    build(blog_csv(sorted(posts, key=lambda post: post[0])), tmp_path)  # authors side by side, as on Kaggle
    assert (tmp_path / "out" / "documents.parquet").read_bytes() == first
    assert not list((tmp_path / "out").glob(".*"))


@pytest.fixture
def shared(blog_csv) -> Path:
    """Authors a and b share five long posts, c shares four with a; d has short posts of a."""
    common = [long_post(f"word{chr(97 + number)}") for number in range(5)]
    return blog_csv(
        [("a", text) for text in common]
        + [("a", "own of a"), ("b", "own of b")]
        + [("b", text) for text in common]
        + [("c", text) for text in common[:4]]
        + [("d", "own of a"), ("d", "own of d")]
    )


def test_shared_authors_are_dropped(tmp_path, shared) -> None:
    frame, counts = build(shared, tmp_path)
    assert frame["author"].unique().tolist() == ["c", "d"]
    assert len(frame) == 6  # with a gone, c's posts and d's are nobody else's
    assert counts["shared_author"] == 12
    assert counts["duplicate_other_author"] == 0


def test_the_larger_of_shared_authors_is_kept(tmp_path, blog_csv) -> None:
    common = [long_post(f"word{chr(97 + number)}") for number in range(5)]
    posts = [*(("a", text) for text in common), *(("b", text) for text in [*common, long_post("own")])]
    frame, counts = build(blog_csv([*posts, ("c", "own of c")]), tmp_path, shared_authors="keep_larger")
    assert frame["author"].tolist() == ["b"] * 6 + ["c"]
    assert (counts["shared_author"], counts["duplicate_other_author"]) == (5, 0)
    equal, _ = build(blog_csv([*posts[:5], *posts[5:10]]), tmp_path, shared_authors="keep_larger")
    assert equal["author"].tolist() == ["a"] * 5  # the first where none is larger


def test_shared_authors_are_merged_under_the_first_name(tmp_path, shared) -> None:
    frame, counts = build(shared, tmp_path, shared_authors="merge")
    # a's six rows are 1 to 6; b's six follow as 7 to 12, of which only "own of b", its first, is new.
    ids = ["a-00001", "a-00002", "a-00003", "a-00004", "a-00005", "a-00006", "a-00007", "d-00002"]
    assert frame["document_id"].tolist() == ids
    assert counts["shared_author"] == 0
    assert counts["duplicate_same_author"] == 5
    assert counts["duplicate_other_author"] == 5  # c's four, d's one


def test_shared_posts_must_be_long_and_enough(tmp_path, blog_csv, monkeypatch) -> None:
    short = [(author, long_post(f"w{chr(97 + number)}", 49)) for author in "ab" for number in range(9)] + [("c", "own")]
    assert build(blog_csv(short), tmp_path)[1]["shared_author"] == 0
    monkeypatch.setattr(building, "SHARED_POST_WORDS", 49)
    assert build(blog_csv(short), tmp_path)[1]["shared_author"] == 18
    monkeypatch.setattr(building, "SHARED_POSTS", 10)
    assert build(blog_csv(short), tmp_path)[1]["shared_author"] == 0


def test_shared_author_groups_are_components_and_ignore_chain_letters() -> None:
    # Texts 1 to 5 link authors 0-3 and 3-4 (transitively one group); text 9 is under more names than counts.
    rows = [(author, text) for author in (0, 3, 4) for text in range(1, 6)] + [(a, 9) for a in range(MOST_SHARERS + 1)]
    authors, digests = np.array([row[0] for row in rows]), np.array([(0, row[1]) for row in rows], dtype=np.uint64)
    assert shared_author_groups(authors, digests, 5) == [[0, 3, 4]]
    assert shared_author_groups(authors, digests, 6) == []
    assert shared_author_groups(authors[:0], digests[:0], 5) == []
    twice = np.array([0, 0, 1]), np.array([(0, 1)] * 3, dtype=np.uint64)  # one author's repeats count once
    assert shared_author_groups(*twice, 2) == []


def test_bad_input(tmp_path, blog_csv) -> None:
    with pytest.raises(UserError, match=r"blog\.csv: row 2 .*author is empty"):
        build(blog_csv([("1", "x"), (" ", "y")]), tmp_path)
    with pytest.raises(UserError, match="holds a header and no posts"):
        build(blog_csv([]), tmp_path)
    with pytest.raises(UserError, match=r"no post is left after cleaning \(empty 1, too_short 1\)"):
        build(blog_csv([("1", " "), ("1", "22")]), tmp_path)
    assert not list((tmp_path / "out").glob("*"))


def rows(path, *found) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def test_deleted_accounts_and_stories_of_reddit_are_dropped_and_counted(tmp_path, capsys) -> None:
    names = ["[deleted]", "ann", "AutoModerator", "ann", "[removed]", "bob", "ann"]
    texts = ["some story", "one", "Welcome!", " [removed]\n", "more", "[deleted]", "two"]
    stories = [{"author": name, "prompt": "p", "text": text} for name, text in zip(names, texts, strict=True)]
    path, out, dropped = rows(tmp_path / "m.jsonl", *stories), tmp_path / "d.parquet", tmp_path / "x.parquet"
    counts = build_documents(path, open_reader("mythos"), Cleaning(), out, dropped)
    assert read_parquet(out, DOCUMENTS)["document_id"].tolist() == ["ann-00001", "ann-00003"]
    assert {reason: number for reason, number in counts.items() if number} == {
        "kept": 2, "excluded_author": 3, "excluded_text": 2,
    }  # fmt: skip
    assert dict(read_parquet(dropped, DROPPED).itertuples(index=False)) == counts
    log = capsys.readouterr().err
    assert "3 posts are dropped, their author is one of the corpus key 'excluded_authors'; the first is line 1" in log
    assert "2 posts are dropped, their text is one of the corpus key 'excluded_texts'; the first is line 4" in log


def test_what_is_excluded_can_be_set_for_any_corpus(tmp_path) -> None:
    posts = [("robot", "x"), ("ann", "n/a"), ("ann", "[removed]")]
    path = rows(tmp_path / "m.jsonl", *({"author": name, "text": text} for name, text in posts))
    settings = Cleaning(excluded_authors=["robot"], excluded_texts=["n/a"])
    out = tmp_path / "d.parquet"
    counts = build_documents(path, open_reader("table"), settings, out, tmp_path / "x.parquet")
    assert (counts["excluded_author"], counts["excluded_text"]) == (1, 1)
    assert read_parquet(out, DOCUMENTS)["text"].tolist() == ["[removed]"]
    counts = build_documents(path, open_reader("table"), Cleaning(), out, tmp_path / "x.parquet")
    assert set(counts) == set(REASONS)
    with pytest.raises(UserError, match=r"no post is left after cleaning \(excluded_author 3\)"):
        all_excluded = Cleaning(excluded_authors=["robot", "ann"])
        build_documents(path, open_reader("table"), all_excluded, out, tmp_path / "x.parquet")


def test_posts_that_cannot_be_read_are_dropped_counted_and_said(tmp_path, capsys) -> None:
    chinese = "我們今天去了台北".encode("big5")
    posts = b"".join(b"<post>" + post + b"</post>" for post in (b"one", chinese, b"two", chinese))
    (tmp_path / "5.female.23.Arts.Leo.xml").write_bytes(b"<Blog>" + posts + b"</Blog>")
    out = tmp_path / "d.parquet"
    counts = build_documents(tmp_path, open_reader("blog_xml"), Cleaning(), out, tmp_path / "x.parquet")
    assert (counts["kept"], counts["unreadable"]) == (2, 2)
    assert read_parquet(out, DOCUMENTS)["document_id"].tolist() == ["5-00001", "5-00003"]
    log = capsys.readouterr().err
    assert "2 posts are dropped, neither UTF-8 nor plausible text in the corpus key 'encoding'; the first is" in log
    assert "5.female.23.Arts.Leo.xml, post 2" in log


def test_half_a_surrogate_pair_in_ids_and_texts(tmp_path) -> None:
    half = {"author": "ann", "text": "one \ud83d two", "topic": "\ud83d", "prompt": "p \ud83d"}
    path, out = rows(tmp_path / "m.jsonl", half), tmp_path / "d.parquet"
    build_documents(path, open_reader("table"), Cleaning(), out, tmp_path / "x.parquet")
    assert read_parquet(out, DOCUMENTS)[["topic", "prompt", "text"]].to_numpy().tolist() == [["?", "p ?", "one ? two"]]
    rows(path, half, {"author": "bob\ud83d", "text": "x"})
    with pytest.raises(UserError, match=r"line 2: the author 'bob\\ud83d' holds half of a surrogate pair") as caught:
        build_documents(path, open_reader("table"), Cleaning(), out, tmp_path / "x.parquet")
    str(caught.value).encode("utf-8")  # the log can hold it


def test_unwritable_results_folder(tmp_path, blog_csv) -> None:
    (tmp_path / "out").write_text("a file where the folder should be")
    with pytest.raises(UserError, match="cannot write"):
        build(blog_csv([("1", "x")]), tmp_path)


def test_row_groups_stream_and_totals(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(DocumentWriter, "GROUP_ROWS", 2)
    path = tmp_path / "documents.parquet"
    writer = DocumentWriter(path)
    for number, topic in enumerate(["b", "a", "b", "a", "c"]):
        writer.write("x", f"x-{number}", topic, "", "text", 10)
    writer.write("y", "y-0", "z", "", "text", 7)
    writer.close()
    assert [len(batch) for batch in stream_documents(path, ("text",), rows=4)] == [4, 2]
    totals = author_totals(path)
    assert totals.to_dict("list") == {
        "author": ["x", "y"], "topic": ["a", "z"], "documents": [5, 1], "words": [50, 7], "tokens": [-1, -1],
    }  # fmt: skip
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match="not a complete Parquet file"):
        author_totals(path)
    with pytest.raises(UserError, match="file not found"):
        author_totals(tmp_path / "none.parquet")


def test_digest_is_by_text() -> None:
    assert text_digest(b"a") == text_digest(b"a") != text_digest(b"b")
    assert len(text_digest(b"a")) == 16


def test_dates_that_are_not_read_are_counted_and_said(tmp_path, capsys) -> None:
    source = tmp_path / "posts.csv"
    source.write_text("author;text;date\nann;one two;14.05.2004\nann;three four;\nbob;five six;15.05.2004\n")

    def days(form) -> list[str]:
        out = tmp_path / "d.parquet"
        settings = ReaderSettings(date_format=form)
        build_documents(source, open_reader("table"), Cleaning(), out, tmp_path / "dropped.parquet", None, settings)
        return read_parquet(out, DOCUMENTS)["date"].tolist()

    assert days("%d.%m.%Y") == ["2004-05-14", "", "2004-05-15"]
    assert "not read" not in capsys.readouterr().err
    assert days(None) == ["", "", ""]
    said = "2 posts have a date that is not read, so they count as posts without one; the first is row 1 (line 2)"
    assert said in capsys.readouterr().err
