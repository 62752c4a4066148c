"""The Kaggle CSV reader: what it yields, and one clear line for each way the file can be broken."""

import csv
import gzip
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from favor.corpora.delimited import read_delimited
from favor.corpora.posts import RawPost, ReaderSettings, open_reader
from favor.corpora.tabular import read_rows, table_columns
from favor.foundation.errors import UserError

HEADER = "id,gender,age,topic,sign,date,text\n"
GOOD = (
    HEADER
    + '1,male,24,Arts,Leo,"14,May,2004","He said ""hi"",\nthen left"\n2,female,17,indUnk,Leo,"15,May,2004",plain\n'
)


def read(path, **settings) -> list[RawPost]:
    return list(open_reader("blog_csv").read(path, ReaderSettings(**settings)))


def refused(path, content, **settings) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(UserError) as caught:
        read(path, **settings)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return message


def test_plain_gzip_and_zip_read_alike(tmp_path) -> None:
    plain, packed, archive = tmp_path / "b.csv", tmp_path / "b.csv.gz", tmp_path / "b.zip"
    plain.write_text(GOOD)
    packed.write_bytes(gzip.compress(GOOD.encode()))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("blogtext.csv", GOOD)
        file.writestr("__MACOSX/._blogtext.csv", "x")
    posts = read(plain)
    # The first record spans lines 2 and 3, so the second starts at line 4.
    assert posts == [
        RawPost("1", "Arts", "", 'He said "hi",\nthen left', "14,May,2004", "row 1 (line 2)"),
        RawPost("2", "indUnk", "", "plain", "15,May,2004", "row 2 (line 4)"),
    ]
    assert read(packed) == posts
    assert read(archive) == posts


def test_byte_order_mark_column_order_and_renamed_columns(tmp_path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("﻿text,user,topic,date\nhello,7,Arts,\n", encoding="utf-8")
    assert read(path, columns={"author": "user"}) == [RawPost("7", "Arts", "", "hello", "", "row 1 (line 2)")]


@pytest.mark.parametrize("column", ["id", "topic", "date", "text"])
def test_missing_column(tmp_path, column) -> None:
    message = refused(tmp_path / "b.csv", GOOD.replace(column, "other", 1))
    assert f"column '{column}' is missing" in message
    assert "id,gender,age,topic,sign,date,text" in message


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_another_separator_is_found_and_said(tmp_path, capsys, sign, name) -> None:
    path = tmp_path / "b.csv"
    rows = ['"7";"f";24;Arts;Leo;14,May,2004;"a, b; ""c"""', "8;m;25;Law;Leo;;d"]
    path.write_text("\n".join(["id;gender;age;topic;sign;date;text", *rows]).replace(";", sign) + "\n")
    found = read(path)
    assert [(post.author, post.topic, post.date, post.text) for post in found] == [
        ("7", "Arts", "14,May,2004", f'a, b{sign} "c"'),
        ("8", "Law", "", "d"),
    ]
    assert f"the columns are separated by {name}; the corpus key" in capsys.readouterr().err
    assert read(path, separator=sign) == found
    assert capsys.readouterr().err == ""
    # A comma in the header divides no row.
    path.write_text(path.read_text().replace("gender", "gender, m or f"))
    assert read(path) == found


def test_a_separator_is_found_in_a_quoted_header_and_after_blank_lines(tmp_path) -> None:
    path = tmp_path / "b.csv"
    path.write_bytes('\ufeff\r\n"id";"topic";"date";"text"\r\n7;Arts;;"x;y"\r\n'.encode())
    assert [post.text for post in read(path)] == ["x;y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id;topic;date;text\n7;Arts;;a;b\n", "row 1 (line 2) has 5 fields, the header has 4"),
        ('id;topic;date;text\n7;Arts;;"a\n', "row 1 (line 2) is broken off"),
        ('id;topic;date;"text\n7;Arts;;a\n', "column 'id' is missing"),
        ("id;topic;date;text\n7;Arts;;\xe9\n", "line 2: byte 27 is not utf-8"),
        ("idtopicdatetext\n", "column 'id' is missing"),
        (";;;\n", "column 'id' is missing"),
        (
            'id;topic;date;text\n7;Arts;;"one\n8;Arts;;two"\n8;Law;;three\n7;Law;;four\n',
            "a field holds the row after it (author '8')",
        ),
    ],
)
def test_broken_files_with_another_separator_are_refused_as_others(tmp_path, text, message) -> None:
    assert message in refused(tmp_path / "b.csv", text.encode("latin-1"))


def test_roles_that_are_none_are_refused(tmp_path) -> None:
    (tmp_path / "b.csv").write_text(GOOD)
    with pytest.raises(UserError, match="'prompt' is not one of author, topic, date, text"):
        read(tmp_path / "b.csv", columns={"prompt": "sign"})


def test_utf16_without_its_mark(tmp_path) -> None:
    path = tmp_path / "b.csv"
    for found in ("utf-16", "utf-16-le", "utf-16-be"):  # whose bytes are UTF-8 or cp1252 as well
        for other in (None, "cp1252"):
            assert f"is {found}, not {other or 'utf-8'}" in refused(path, GOOD.encode(found), encoding=other)
        assert len(read(path, encoding=found)) == 2
    assert "is utf-32, not utf-8" in refused(path, GOOD.encode("utf-32"))  # begins as UTF-16 does
    assert len(read(path, encoding="utf-32")) == 2
    assert "is not utf-16" in refused(path, GOOD.encode("utf-16-le"), encoding="utf-16")
    path.write_bytes(GOOD.encode("utf-16"))
    assert len(read(path, encoding="utf-16")) == 2


DAY = '3,male,20,Arts,Leo,"1,May,2004",'
ROW3 = "row 3 (line 5)"  # GOOD fills lines 1 to 4


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        (b"", ["is empty"]),
        (b"\n\n", ["is empty"]),
        (gzip.compress(b"", mtime=0), ["is empty"]),
        (f'{GOOD}{DAY}"never closed\nand on\n', [ROW3, "unexpected end of data"]),
        (f'{GOOD}{DAY}"open\n4,male,20,Arts,Leo,"2,May,2004",x\n', [ROW3]),  # a later row closes it
        # The swallowed row has no quote before its own text's closing one, so the CSV stays well-formed.
        (f'{GOOD}3,male,20,Arts,Leo,d,"open\n4,male,20,Arts,Leo,d,closed"\n', [ROW3, "holds the row after it"]),
        (f'{GOOD}3,male,20,Arts,Leo,d,"' + "word " * 500, [ROW3, "its line is longer than 1,000 characters"]),
        (gzip.compress(f"{GOOD}3,{'x' * 2000}".encode()), [ROW3, "its line is longer than 1,000 characters"]),
        (f"{GOOD}3,male,20,Arts,Leo,d\n", [f"{ROW3} has 6 fields, the header has 7"]),
        (f"{GOOD}3,male,20,Arts,Leo,d,text, more\n", [f"{ROW3} has 8 fields, the header has 7"]),
        (GOOD.replace("gender", "text", 1), ["2 columns are named 'text'"]),
    ],
)
def test_a_broken_file_is_named_with_its_row(tmp_path, content, messages) -> None:
    message = refused(tmp_path / "b.csv", content, maximum_field_characters=1000)
    assert [each for each in messages if each not in message] == []


def test_wrong_encoding_names_byte_and_line_and_the_option_mends_it(tmp_path) -> None:
    path = tmp_path / "b.csv"
    padding = "".join(f"1,male,24,Arts,Leo,d,post {number}\n" for number in range(5000))
    content = (GOOD + padding).encode() + b"9,male,20,Arts,Leo,d,caf\xe9\n" + padding.encode()
    message = refused(path, content)
    # GOOD has four lines, as one post is over two; 5,000 rows follow.
    assert f"line 5,005: byte {content.index(0xE9):,} is not utf-8" in message
    assert "'encoding'" in message
    assert read(path, encoding="cp1252")[5002].text == "café"
    with pytest.raises(UserError, match="encoding 'utf-9' is unknown"):
        read(path, encoding="utf-9")
    for codec in ("rot13", "base64", "idna", "raw-unicode-escape", "a\0b", "undefined"):  # codecs, but not of text
        with pytest.raises(UserError, match="is unknown or not one of text"):
            read(path, encoding=codec)


def test_truncated_or_foreign_archives(tmp_path) -> None:
    packed = gzip.compress(GOOD.encode() * 200)
    assert "cut short" in refused(tmp_path / "b.csv.gz", packed[: len(packed) // 2])
    assert "cut short" in refused(tmp_path / "b.zip", b"PK\x03\x04 this is no zip")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("one.csv", GOOD)
        file.writestr("two.csv", GOOD)
    assert "holds 2 files" in refused(tmp_path / "b.zip", content.getvalue())


def test_missing_file_and_folder(tmp_path) -> None:
    with pytest.raises(UserError, match="file not found"):
        read(tmp_path / "none.csv")
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_whatever_the_csv_module_writes_is_read_back(tmp_path_factory, texts) -> None:
    path = tmp_path_factory.mktemp("csv") / "b.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER.strip().split(","))
        writer.writerows(["1", "male", "24", "Arts", "Leo", "14,May,2004", text] for text in texts)
    assert [post.text for post in read(path)] == texts


def test_the_first_line_that_names_the_separator_to_excel_is_understood(tmp_path) -> None:
    path = tmp_path / "posts.csv"
    for line in ("sep=;\r\n", '"sep=;"\n'):
        path.write_text(f"{line}author;text\r\nann;hello, there\r\n", newline="")
        for settings in (ReaderSettings(), ReaderSettings(separator=";")):
            rows = read_rows(path, settings, {"author": "author", "text": "text"}, ["author", "text"], "author, text")
            assert [row.values for row in rows] == [{"author": "ann", "text": "hello, there"}]
            assert table_columns(path, settings) == ["author", "text"]


@pytest.mark.parametrize("suffix", [".gz", ".zip"])
def test_a_compressed_table_that_is_made_to_fill_memory_is_refused(tmp_path, suffix) -> None:
    path, content = tmp_path / f"posts.csv{suffix}", b"author,text\n" + (b"ann," + b"x" * 995 + b"\n") * 11_000
    path.write_bytes(gzip.compress(content))
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("posts.csv", content)
    with pytest.raises(UserError, match=r"[\d,]+ bytes unpack to over [\d,]+, more than text does"):
        list(read_delimited(path, ReaderSettings()))
