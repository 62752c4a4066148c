"""What may be wrong with a corpus is said and changes nothing."""

import pytest
from tests.corpora.made import built

from favor.corpora.posts import open_reader
from favor.corpora.suspicions import Suspicions
from favor.foundation.errors import UserError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It\u00e2\u20ac\u2122s here", "read as cp1252"),
        ("caf\u00c3\u00a9", "read as cp1252"),
        ("Привет, дорогие друзья".encode("cp1251").decode("latin-1"), "another encoding read"),
        ("今天天气很好我们去公园".encode("gbk").decode("latin-1"), "another encoding read"),
        ("caf\ufffd", "bytes were lost"),
        ("<p>hello</p>", "HTML tags"),
        ("NaN", "missing value"),
        ("he said &quot;no&quot;", "such as '&quot;'"),
        ("one\\ntwo", "as two characters"),
        ("one\\r\\ntwo", "as two characters"),
        ("ouééééééé, café, \u00c2ge, l\u2019\u00e2ne, 1 < 2 > 0, <3, nan is a bread, R&D; \\nabla", ""),
    ],
)
def test_posts(text, said) -> None:
    seen = Suspicions()
    seen.look("plain", "row 1")
    seen.look(text, "row 2")
    lines = seen.lines(["ann"])
    assert len(lines) == bool(said)
    assert all(said in line and line.endswith("the first is row 2") for line in lines)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Ann", "ann"], "1, such as 'Ann' and 'ann'"),
        (["7", "007", "7\u200b"], "2, such as '7' and '007'"),
        (["ann", "ann\0"], r"1, such as 'ann' and 'ann\x00'"),
        (["Ren\u00e9", "Rene\u0301"], "1, such as"),
        (["bob", "u/bob"], "1, such as 'bob' and 'u/bob'"),
        (["None"], "the author 'None' may stand for nobody"),
        (["Anonymous"], "the author 'Anonymous' may stand for nobody"),
        (["1.23457E+17", "7E5"], "as a spreadsheet rounds them, such as 1.23457E+17: 1;"),
        (["ann", "anne", "70", "7", "0"], ""),
    ],
)
def test_names(names, said) -> None:
    lines = Suspicions().lines(names)
    assert len(lines) == bool(said)
    assert all(said in line for line in lines)


def test_without_names_only_counts_are_given() -> None:
    seen = Suspicions()
    for number in range(3):
        seen.look("caf\u00c3\u00a9", f"row {number}")
    lines = seen.lines(["Ann", "ann", "None", "nan"], naming=False)
    assert [line.split()[0] for line in lines] == ["3", "2", "authors"]
    assert "'Ã©' for 'é'" in lines[0]
    assert lines[2].split("alone: ")[1].startswith("1; make")
    assert not any(name in line for name in ("Ann", "ann", "row 0") for line in lines)


def test_nuls_and_a_table_that_ends_within_its_last_row(tmp_path, capsys) -> None:
    path = tmp_path / "a.csv"
    for end, said in (("\n", False), ("", True)):
        path.write_text(f"id,topic,date,text\nbob,,,on\0e two\nann,,,three fou{end}")
        assert built(path, "blog_csv", tmp_path)[0]["kept"] == 2
        lines = capsys.readouterr().err.splitlines()
        assert f"{path}: 1 posts hold NUL characters" in lines[-1]
        assert ("its last row ends without a line break" in lines[0]) == said
    path.write_text('author,text\nbob,"on, two"')  # a quote ends a row too
    assert not list(open_reader("table").suspicions(path))
    path.write_bytes("author,text\nbob,one two\n".encode("utf-32"))
    assert not list(open_reader("table").suspicions(path))
    path.write_text("author,text\nbob,on tw")
    assert list(open_reader("table").suspicions(path))


def test_a_file_of_another_compression_is_named(tmp_path) -> None:
    path = tmp_path / "a.csv.bz2"
    path.write_bytes(b"BZh91AY&SY")
    with pytest.raises(UserError, match=r"is compressed, and not as \.gz or \.zip"):
        built(path, "blog_csv", tmp_path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("\ufeffauthor,prompt,text", " repeats the header"),
        ("Author,PROMPT,Text", " repeats the header"),
        (" author , prompt,text", " repeats the header"),
        ("\ufeffAuthor,prompt,text", " repeats the header"),
        ("\ufeffbob,p,three four", " repeats the header or begins with a byte-order mark"),
    ],
)
def test_a_second_file_behind_the_first_is_refused_however_it_begins(tmp_path, line, problem) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"\ufeffauthor,prompt,text\nbob,p,one two\n{line}\nann,p,three four\n", encoding="utf-8")
    with pytest.raises(UserError, match=rf"row 2 \(line 3\){problem}"):
        built(path, "mythos", tmp_path)
