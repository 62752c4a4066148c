"""The table and Mythos readers, and how readers are found."""

import datetime
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from favor.corpora.posts import RawPost, ReaderSettings, open_reader
from favor.corpora.tabular import table_rows
from favor.foundation.errors import UserError

ROWS = [
    {"author": "ann", "text": 'first, "quoted"\npost', "topic": "Arts", "prompt": "Write."},
    {"author": "bob", "text": "second", "topic": "", "prompt": ""},
]


def read(kind, path, **settings) -> list[RawPost]:
    return list(open_reader(kind).read(path, ReaderSettings(**settings)))


def write(folder, suffix, rows) -> Path:
    path = folder / f"corpus{suffix}"
    frame = pd.DataFrame(rows)
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif "jsonl" in suffix:
        frame.to_json(path, orient="records", lines=True)  # compressed where the suffix says so
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".jsonl.gz"])
def test_every_format_gives_the_same_posts(tmp_path, suffix) -> None:
    posts = read("table", write(tmp_path, suffix, ROWS))
    assert [post[:5] for post in posts] == [
        ("ann", "Arts", "Write.", 'first, "quoted"\npost', ""),
        ("bob", "indUnk", "", "second", ""),
    ]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_renamed_and_optional_columns(tmp_path, suffix) -> None:
    path = write(tmp_path, suffix, [{"user": 7, "body": "hello", "forum": "Arts"}])
    columns = {"author": "user", "text": "body", "topic": "forum"}
    assert read("table", path, columns=columns)[0][:4] == ("7", "Arts", "", "hello")
    with pytest.raises(UserError, match="'text' is missing"):
        read("table", path, columns={"author": "user"})
    with pytest.raises(UserError, match="'genre' is missing"):  # named by the user, so no longer optional
        read("table", path, columns={**columns, "topic": "genre"})


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('{"author": "a", "text": "x"}\n{"author": "a", "te', r"c\.jsonl: line 2 is not complete JSON"),
        ('{"author": "a", "text": "x"}\n[1]\n', "line 2 is not a JSON object"),
        ('{"author": "a", "text": "x"}\n{"author": "a"}\n', "line 2: key 'text' is missing"),
        # 29 bytes of line 1 and 25 of line 2 before it
        ('{"author": "a", "text": "x"}\n{"author": "a", "text": "\xe9"}\n', "byte 54 is not utf-8"),
        ("\n", "is empty"),
        ('{"author": "a", "text": "o", "text": "t"}\n', r"line 1 is not complete JSON \(key 'text' is given twice\)"),
        ('{"author": ' + "[" * 100_000, "line 1 is not complete JSON"),
        ('{"author": ' + "1" * 5000 + ', "text": "x"}', "line 1 is not complete JSON"),
    ],
)
def test_broken_json_lines_are_named(tmp_path, lines, problem) -> None:
    (tmp_path / "c.jsonl").write_bytes(lines.encode("latin-1"))
    with pytest.raises(UserError, match=problem):
        read("table", tmp_path / "c.jsonl")


def test_other_broken_tables_are_named(tmp_path) -> None:
    parquet = write(tmp_path, ".parquet", ROWS)
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(UserError, match="not a complete Parquet file"):
        read("table", parquet)
    with pytest.raises(UserError, match="not a table"):
        read("table", tmp_path / "corpus.json")
    pq.write_table(pa.table({}), parquet)
    with pytest.raises(UserError, match=r"column 'author' is missing \(found: none\); expected author and text"):
        read("table", parquet)


def test_mythos_stories(tmp_path) -> None:
    path = write(tmp_path, ".jsonl", [{"author": "ann", "prompt": "[WP] A dragon.", "text": "Once.", "url": "u"}])
    assert read("mythos", path)[0][:4] == ("ann", "indUnk", "[WP] A dragon.", "Once.")
    with pytest.raises(UserError, match="'prompt' is missing"):
        read("mythos", write(tmp_path, ".csv", [{"author": "ann", "text": "Once."}]))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("extra", [{}, {"text": ""}])
def test_mythos_refuses_the_bare_release(tmp_path, suffix, extra) -> None:
    rows = [{"author": "ann", "prompt": "[WP] A dragon.", "url": "u", "length": "712", **extra}] * 2
    said = "stories are missing .* only prompts, URLs and lengths; .* the columns author, prompt and text"
    with pytest.raises(UserError, match=said):
        read("mythos", write(tmp_path, suffix, rows))


def test_a_column_that_is_there_twice_is_refused(tmp_path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["x"])] * 3, names=["author", "text", "text"]), path)
    with pytest.raises(UserError, match="2 columns are named 'text'"):
        read("table", path)


@pytest.mark.parametrize("columns", [{"text": "author"}, {"text": "topic"}])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_column_that_is_read_twice_is_refused(tmp_path, suffix, columns) -> None:
    with pytest.raises(UserError, match=r"is read as .* and as .*name a column of its own for each"):
        read("table", write(tmp_path, suffix, ROWS), columns=columns)


@pytest.mark.parametrize("content", [b"\x7fELF" + bytes(range(256)) * 20, b"raw.csv" + bytes(5000), b"word " * 5000])
def test_what_is_no_table_is_refused_in_a_short_line(tmp_path, content) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(content)
    with pytest.raises(UserError, match="column 'author' is missing") as caught:
        read("table", path, encoding="latin-1")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600 + len(str(path))


def test_binary_columns_are_decoded(tmp_path) -> None:
    path = tmp_path / "c.parquet"
    table = pa.table({"author": pa.array(["Zoë".encode("cp1252")]), "text": pa.array(["café".encode("cp1252")])})
    pq.write_table(table, path)
    assert read("table", path, encoding="cp1252")[0][:4] == ("Zoë", "indUnk", "", "café")
    with pytest.raises(UserError, match=r"row 1: column 'author' holds bytes that are not utf-8; set .* 'encoding'"):
        read("table", path)


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("author", 7.0, "the number 7.0, not text or a whole number"),
        ("author", float("nan"), "the number nan"),
        ("author", ["ann"], "a value of type list"),
        ("author", True, "a value of type bool"),
        ("author", {"name": "ann"}, "a value of type dict"),
        ("text", 12, "a value of type int, not text;"),
        ("text", float("nan"), "the number nan, not text;"),
        ("text", ["one", "two"], "a value of type list"),
        ("topic", 1.5, "the number 1.5"),
    ],
)
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_values_that_are_not_text_are_refused(tmp_path, suffix, column, value, problem) -> None:
    rows = [{"author": None, "text": None, column: None}, {"author": "ann", "text": "one", column: value}]
    path = tmp_path / f"c{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError) as caught:
        read("table", path)
    expected = f"{'row' if suffix == '.parquet' else 'line'} 2: column '{column}' holds {problem}"
    if suffix == ".parquet" and isinstance(value, dict):  # what is in it is a column each
        expected = "column 'author' is missing (found: author.name, text)"
    assert expected in str(caught.value)


def test_parquet_names_with_spaces_and_dates(tmp_path) -> None:
    path = tmp_path / "c.parquet"
    day = datetime.date(2004, 5, 31)
    pq.write_table(pa.table({" author ": [7], "text": ["x"], "date": [day]}), path)
    assert read("table", path)[0][:5] == ("7", "indUnk", "", "x", "2004-05-31")


def test_a_value_that_parquet_holds_and_python_does_not(tmp_path) -> None:
    path, rows = tmp_path / "c.parquet", 1030  # the second batch
    encoded = pa.array([b"x"] * (rows - 1) + [b"caf\xe9"]).buffers()
    latin = pa.Array.from_buffers(pa.string(), rows, encoded)
    late = pa.array([0] * (rows - 1) + [10**8], pa.date32())
    for column, values, problem in (("text", latin, "'utf-8' codec"), ("date", late, "date value out of range")):
        table = {"author": ["ann"] * rows, "text": ["x"] * rows, column: values}
        pq.write_table(pa.table(table), path)
        said = rf"row 1,030 cannot be read \(column '{column}': {problem}"
        with pytest.raises(UserError, match=said):
            read("table", path)


def test_optional_keys_need_not_be_in_the_first_line(tmp_path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"author": "ann", "text": "x"}\n{"author": "ann", "text": "y", "topic": "Arts"}\n')
    assert [post.topic for post in read("table", path)] == ["indUnk", "Arts"]


def test_json_lines_have_a_longest_line(tmp_path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"author": "a", "text": "x"}\n' + json.dumps({"author": "a", "text": "x" * 2000}) + "\n")
    with pytest.raises(UserError, match="line 2 is longer than 1,000 characters; give one object per line"):
        read("table", path, maximum_field_characters=1000)
    assert len(read("table", path)) == 2


@pytest.mark.parametrize("kind", ["table", "mythos"])
@pytest.mark.parametrize(
    ("header", "rows", "line"),
    [
        # bob's row is in ann's text; bob comes again later
        ("author,text,prompt", ['ann,"open,p', "bob,plain,p", 'cat,closed",p', 'bob,"own, text",p'], 2),
        ("author,text,prompt", ["bob,one,p", 'ann,"two\nlines, open,p', 'bob,closed",p'], 3),
        ("text,author,prompt", ["one,bob,p", '"open,bob,p', 'closed",ann,p'], 3),
        ("author,prompt,text", ["bob,p,one", 'ann,"p,x', 'bob,q",two'], 3),  # in another column than the text
    ],
)
def test_an_open_quote_that_swallows_rows_is_found(tmp_path, kind, header, rows, line) -> None:
    path = tmp_path / "c.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(UserError, match=rf"row {line - 1} \(line {line}\) is broken: a field holds the row after it"):
        read(kind, path)


def test_rows_that_may_have_gone_into_a_field_of_two_columns_are_named(tmp_path, capsys) -> None:
    path = tmp_path / "c.csv"
    path.write_text('author,text\nann,"open\nbob,his words\ncat,her words"\ndan,"two lines,\nof a poem, he said"\n')
    assert len(read("table", path)) == 2
    assert capsys.readouterr().err == (
        f"{path}: row 1 (line 2): every line of a field of 3 lines is written like a row; close its quote if rows went "
        "into it\n"
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_two_columns_and_other_line_ends(tmp_path, newline) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(newline.join(["author,text", 'ann,"open', 'bob,closed"', "bob,two", ""]).encode())
    with pytest.raises(UserError, match=r"row 1 \(line 2\) is broken"):
        read("table", path)


def test_texts_of_several_lines_with_commas_are_no_rows(tmp_path) -> None:
    texts = ["Dear bob,\nI write, as ever, to you.", "Well\nbut, he said", "bob\nbob, hello, you"]
    texts += ["a\nzoe,ann", "x\nann,"]
    rows = [{"author": name, "text": text, "topic": "Arts"} for name in ("ann", "bob") for text in texts]
    assert [post.text for post in read("table", write(tmp_path, ".csv", rows))] == texts * 2


@pytest.mark.parametrize("nested", [False, True])
def test_a_dictionary_that_repeats_a_text_is_not_unpacked(tmp_path, nested) -> None:
    path, rows = tmp_path / "dict.parquet", 200_000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["word " * 20_000]))
    columns = {"author": pa.array(["1"] * rows).dictionary_encode(), "text": text}
    if nested:
        columns = {"post": pa.StructArray.from_arrays(list(columns.values()), names=list(columns))}
    pq.write_table(pa.table(columns), path)
    settings = ReaderSettings(columns={name: f"post.{name}" for name in ("author", "text")} if nested else {})
    for reading in (open_reader("table").read, table_rows):  # the second as favor init looks at it
        with pytest.raises(
            UserError, match=r"bytes hold over [\d,]+ of text in its first 256 rows, more than text does"
        ):
            list(reading(path, settings))
