"""From posts to the documents table: order, ids, duplicates, shared authors, counts, bad input."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.corpora.made import built, write_documents

from favor.corpora import building
from favor.corpora.building import MOST_SHARERS, REASONS, shared_author_groups
from favor.corpora.documents import DocumentWriter, author_totals, stream_documents
from favor.corpora.posts import ReaderSettings
from favor.corpora.settings import Cleaning, Splitting
from favor.corpora.splits import split_documents
from favor.foundation.errors import UserError


def build(path, folder, **settings) -> tuple[pd.DataFrame, dict[str, int]]:
    counts, frame = built(path, "blog_csv", folder / "out", Cleaning(**settings))
    assert set(counts) == set(REASONS)
    return frame, counts


def long_post(name, words=50) -> str:
    return " ".join([name] * words)


COMMON = [long_post(f"word{chr(97 + number)}") for number in range(5)]


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
    assert frame[["author", "document_id", "topic", "text", "words"]].to_numpy().tolist() == [
        ["10", "10-00001", "Arts", "ten one", 2],
        ["10", "10-00003", "Arts", "ten & two", 2],
        ["9", "9-00001", "Arts", "nine one", 2],
    ]
    assert counts == {
        "kept": 3, "empty": 1, "too_short": 1, "shared_author": 0,
        "duplicate_same_author": 1, "duplicate_other_author": 1,
    }  # fmt: skip
    assert sum(counts.values()) == len(posts)


def test_same_input_same_bytes_and_interleaving_changes_nothing(tmp_path, blog_csv) -> None:
    posts = [(str(number % 7), f"post number {number} of author") for number in range(200)]
    posts = [(author, text.replace(" of", f" {chr(97 + int(text.split()[2]) % 26)} of")) for author, text in posts]
    made = set()
    for each in (posts, posts, sorted(posts, key=lambda post: post[0])):  # the last: authors side by side, as on Kaggle
        build(blog_csv(each), tmp_path)
        made.add((tmp_path / "out" / "documents.parquet").read_bytes())
    assert len(made) == 1
    assert not list((tmp_path / "out").glob(".*"))


@pytest.fixture
def shared(blog_csv) -> Path:
    """Authors a and b share five long posts, c shares four with a; d has short posts of a."""
    posts = [("a", text) for text in COMMON] + [("a", "own of a"), ("b", "own of b")]
    posts += [("b", text) for text in COMMON] + [("c", text) for text in COMMON[:4]]
    return blog_csv([*posts, ("d", "own of a"), ("d", "own of d")])


@pytest.mark.parametrize(
    ("how", "kept", "shared_author", "same", "other"),
    [
        ("drop", ["c-00001", "c-00002", "c-00003", "c-00004", "d-00001", "d-00002"], 12, 0, 0),  # d's are nobody else's
        # a's six rows are 1 to 6; b's six follow as 7 to 12, of which only "own of b", its first, is new. Others' are
        # c's four and d's one.
        ("merge", [*(f"a-0000{number}" for number in range(1, 8)), "d-00002"], 0, 5, 5),
    ],
)
def test_shared_authors_are_dropped_or_merged(tmp_path, shared, how, kept, shared_author, same, other) -> None:
    frame, counts = build(shared, tmp_path, shared_authors=how)
    assert frame["document_id"].tolist() == kept
    found = [counts[reason] for reason in ("shared_author", "duplicate_same_author", "duplicate_other_author")]
    assert found == [shared_author, same, other]


def test_the_larger_of_shared_authors_is_kept(tmp_path, blog_csv) -> None:
    posts = [("a", text) for text in COMMON] + [("b", text) for text in [*COMMON, long_post("own")]]
    frame, counts = build(blog_csv([*posts, ("c", "own of c")]), tmp_path, shared_authors="keep_larger")
    assert frame["author"].tolist() == ["b"] * 6 + ["c"]
    assert (counts["shared_author"], counts["duplicate_other_author"]) == (5, 0)
    equal, _ = build(blog_csv(posts[:10]), tmp_path, shared_authors="keep_larger")
    assert equal["author"].tolist() == ["a"] * 5  # the first where none is larger


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
    for posts, problem in (
        ([("1", "x"), (" ", "y")], r"blog\.csv: row 2 .*author is empty"),
        ([], "holds a header and no posts"),
        ([("1", " "), ("1", "22")], r"no post is left after cleaning \(empty 1, too_short 1\)"),
    ):
        with pytest.raises(UserError, match=problem):
            build(blog_csv(posts), tmp_path)
    assert not list((tmp_path / "out").glob("*"))


def rows(path, *found) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def test_deleted_accounts_and_stories_of_reddit_are_dropped_and_counted(tmp_path, capsys) -> None:
    names = ["[Deleted]", "ann", "AutoModerator", "ann", "[removed]", "bob", "ann"]
    texts = ["some story", "one", "Welcome!", " [REMOVED]\n", "more", "[deleted]", "two"]
    stories = [{"author": name, "prompt": "p", "text": text} for name, text in zip(names, texts, strict=True)]
    counts, frame = built(rows(tmp_path / "m.jsonl", *stories), "mythos", tmp_path)
    assert frame["document_id"].tolist() == ["ann-00001", "ann-00003"]
    assert Counter(counts) == Counter(kept=2, excluded_author=3, excluded_text=2)
    log = capsys.readouterr().err
    assert "3 posts are dropped, their author is one of the corpus key 'excluded_authors'; the first is line 1" in log
    assert "2 posts are dropped, their text is one of the corpus key 'excluded_texts'; the first is line 4" in log


def test_what_is_excluded_can_be_set_for_any_corpus(tmp_path) -> None:
    posts = [("robot", "x"), ("ann", "n/a"), ("ann", "[removed]")]
    path = rows(tmp_path / "m.jsonl", *({"author": name, "text": text} for name, text in posts))
    settings = Cleaning(excluded_authors=["robot"], excluded_texts=["n/a"])
    counts, frame = built(path, "table", tmp_path, settings)
    assert (counts["excluded_author"], counts["excluded_text"]) == (1, 1)
    assert frame["text"].tolist() == ["[removed]"]
    assert set(built(path, "table", tmp_path)[0]) == set(REASONS)
    with pytest.raises(UserError, match=r"no post is left after cleaning \(excluded_author 3\)"):
        built(path, "table", tmp_path, Cleaning(excluded_authors=["robot", "ann"]))


def test_posts_that_cannot_be_read_are_dropped_counted_and_said(tmp_path, capsys) -> None:
    chinese = "我們今天去了台北".encode("big5")
    posts = b"".join(b"<post>" + post + b"</post>" for post in (b"one", chinese, b"two", chinese))
    (tmp_path / "5.female.23.Arts.Leo.xml").write_bytes(b"<Blog>" + posts + b"</Blog>")
    counts, frame = built(tmp_path, "blog_xml", tmp_path / "out")
    assert (counts["kept"], counts["unreadable"]) == (2, 2)
    assert frame["document_id"].tolist() == ["5-00001", "5-00003"]
    log = capsys.readouterr().err
    assert "2 posts are dropped, neither UTF-8 nor plausible text in the corpus key 'encoding'; the first is" in log
    assert "5.female.23.Arts.Leo.xml, post 2" in log


def test_half_a_surrogate_pair_in_ids_and_texts(tmp_path) -> None:
    half = {"author": "ann", "text": "one \ud83d two", "topic": "\ud83d", "prompt": "p \ud83d"}
    path = rows(tmp_path / "m.jsonl", half)
    frame = built(path, "table", tmp_path)[1]
    assert frame[["topic", "prompt", "text"]].to_numpy().tolist() == [["?", "p ?", "one ? two"]]
    rows(path, half, {"author": "bob\ud83d", "text": "x"})
    with pytest.raises(UserError, match=r"line 2: the author 'bob\\ud83d' holds half of a surrogate pair") as caught:
        built(path, "table", tmp_path)
    str(caught.value).encode("utf-8")  # the log can hold it


def test_row_groups_stream_and_totals(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(DocumentWriter, "GROUP_ROWS", 2)
    rows = [("x", f"x-{number}", topic, "", "text", 10) for number, topic in enumerate("babac")]
    path = write_documents(tmp_path / "documents.parquet", [*rows, ("y", "y-0", "z", "", "text", 7)])
    assert [len(batch) for batch in stream_documents(path, ("text",), rows=4)] == [4, 2]
    totals = author_totals(path)
    assert totals.to_dict("list") == {
        "author": ["x", "y"], "topic": ["a", "z"], "documents": [5, 1], "words": [50, 7], "tokens": [-1, -1],
    }  # fmt: skip
    path.write_bytes(path.read_bytes()[:-20])
    for broken, problem in ((path, "not a complete Parquet file"), (tmp_path / "none.parquet", "file not found")):
        with pytest.raises(UserError, match=problem):
            author_totals(broken)


def test_dates_that_are_not_read_are_counted_and_said(tmp_path, capsys) -> None:
    source = tmp_path / "posts.csv"
    source.write_text("author;text;date\nann;one two;14.05.2004\nann;three four;\nbob;five six;15.05.2004\n")

    def days(form) -> list[str]:
        return built(source, "table", tmp_path, reader_settings=ReaderSettings(date_format=form))[1]["date"].tolist()

    assert days("%d.%m.%Y") == ["2004-05-14", "", "2004-05-15"]
    assert "not read" not in capsys.readouterr().err
    assert days(None) == ["", "", ""]
    said = "2 posts have a date that is not read, so they count as posts without one; the first is row 1 (line 2)"
    remedy = ". Write them as 2004-05-14; where all dates have one form, the corpus key 'date_format' names it"
    assert said + remedy in capsys.readouterr().err


def test_real_corpus(real_blog_csv, tmp_path) -> None:
    out = tmp_path / "documents.parquet"
    counts, _ = built(real_blog_csv, "blog_csv", tmp_path)
    assert counts["kept"] > 0.8 * sum(counts.values())
    assert counts["empty"] > 0
    assert counts["duplicate_same_author"] > 0
    seen: set[str] = set()
    last = ("", "")
    for batch in stream_documents(out, ("author", "document_id", "text")):
        for author, document, text in batch.itertuples(index=False, name=None):
            assert last < (author, document)
            last = (author, document)
            assert text == text.strip()
            assert "urlLink" not in text
            assert "&nbsp;" not in text
            assert text not in seen
            seen.add(text)
    totals = author_totals(out)
    assert totals["documents"].sum() == counts["kept"]
    assert len(split_documents(out, Splitting()).splits) <= counts["kept"]
