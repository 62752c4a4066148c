"""Any bytes, by every reader: either posts and counts in which every row is explained, or one line of ``UserError``.

Files are raw bytes, or well-formed files with bytes changed, cut or repeated: raw bytes fail at once, small damage gets
far. What a run once found is kept as an example.
"""

import gzip
import io
import json
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from favor.corpora.building import RARE_REASONS, REASONS, build_documents
from favor.corpora.posts import ReaderSettings, clean_text, open_reader
from favor.corpora.schemas import DOCUMENTS
from favor.corpora.settings import Cleaning
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet

pytestmark = pytest.mark.slow(7)

SETTINGS = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
ENCODINGS = st.sampled_from([None, "utf-8", "cp1252", "utf-16", "big5", "utf-7", "idna", "unicode_escape", "rot13"])
XML_NAME = "5.female.23.Arts.Leo.xml"


def parquet(**columns) -> bytes:
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    return content.getvalue()


def zipped(name, content, compression=zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        archive.writestr(name, content)
    return target.getvalue()


HEADER = b"id,gender,age,topic,sign,date,text\n"
BLOG = HEADER + b'1,male,24,Arts,Leo,"14,May","He ""said"",\nleft"\n2,female,17,a,Leo,d,plain\n'
TABLE = b'author,text,prompt\nann,"one\ntwo, three",p\nbob,caf\xc3\xa9,\n'
LINES = b'{"author": "ann", "text": "one", "prompt": "p"}\n{"author": 7, "text": null, "prompt": "\\ud83d"}\n'
XML = b"<Blog><date>d</date><post>na\xc3\xafve it\x92s</post><date>e</date><post>two</post></Blog>"
PARQUET = parquet(author=["ann", "bob"], text=["one", "two"], prompt=[b"p", None])
WELL_FORMED = {
    "blog_csv": [(".csv", BLOG), (".csv.gz", gzip.compress(BLOG, mtime=0)), (".zip", zipped("b.csv", BLOG))],
    "blog_xml": [("", XML), (".zip", zipped(XML_NAME, XML)), (".zip", zipped(XML_NAME, XML, zipfile.ZIP_STORED))],
    "table": [(".csv", TABLE), (".tsv", TABLE.replace(b",", b"\t")), (".jsonl", LINES), (".parquet", PARQUET)],
    "mythos": [(".csv", TABLE), (".jsonl.gz", gzip.compress(LINES, mtime=0)), (".parquet", PARQUET)],
}


PIECES = [b'"', b"\n", b",", b"\0", b"\xff\xfe", b"<post>", b"NaN", b"[]"]


@st.composite
def damaged(draw, content, pieces=PIECES, longest=12) -> bytes:
    """``content`` with up to three places overwritten, cut out, put in or doubled."""
    found = bytearray(content)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(found)))
        stop = min(len(found), start + draw(st.integers(0, longest)))
        piece = draw(st.binary(max_size=12) | st.sampled_from(pieces))
        found[start:stop] = draw(st.sampled_from([piece, bytes(found[start:stop]) * 2]))
    return bytes(found)


@st.composite
def cases(draw) -> tuple[str, str, bytes, str | None]:
    """(reader, ending of a file's name, its content, encoding) of a file that the reader may be given."""
    reader = draw(st.sampled_from(sorted(WELL_FORMED)))
    ending, content = draw(st.sampled_from(WELL_FORMED[reader]))
    return reader, ending, draw(damaged(content) | damaged(content) | st.binary(max_size=60)), draw(ENCODINGS)


def explained(reader, ending, content, encoding) -> dict[str, int] | str:
    """Build the documents of a file; return its counts, or the line that refuses it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "source" / XML_NAME if not ending else folder / f"source{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        source = path if ending else path.parent
        out = folder / "documents.parquet"
        read = ReaderSettings(encoding=encoding, maximum_field_characters=2000)
        try:
            posts = list(open_reader(reader).read(source, read))
            counts = build_documents(
                source, open_reader(reader), Cleaning(), out, folder / "dropped.parquet", reader_settings=read
            )
        except UserError as error:
            assert not out.exists()
            line = str(error)
            assert line.strip()
            assert "\n" not in line
            line.encode()
            return line
        for post in posts:
            assert all(type(value) is str for value in post[:6])
        assert set(REASONS) <= set(counts) <= {*REASONS, *RARE_REASONS}
        assert sum(counts.values()) == len(posts)
        documents = read_parquet(out, DOCUMENTS)
        assert len(documents) == counts["kept"]
        assert documents["document_id"].is_unique
        assert set(documents["author"]) <= {post.author.strip() for post in posts}
        assert set(documents["text"]) <= {text for post in posts for text in [_cleaned(post.text)]}
        return counts


def _cleaned(text) -> str:
    return clean_text(text).encode("utf-8", "replace").decode()


@pytest.mark.parametrize("reader", WELL_FORMED)
def test_well_formed_files_are_read(reader) -> None:
    for ending, content in WELL_FORMED[reader]:
        counts = explained(reader, ending, content, None)
        assert isinstance(counts, dict), counts
        assert counts["kept"] >= 1


@settings(SETTINGS, max_examples=600)
@example(("blog_csv", ".csv", b"\x80", "utf-16"))
@example(("blog_csv", ".csv", b'id,"a\nb"\n', None))  # a line break in a column's name was one in the message
@example(("blog_xml", ".zip", zipped("5.female.23.Arts\n.Leo.xml", b""), None))
@example(("table", ".csv", TABLE, "utf-16"))  # no byte-order mark: a UnicodeError that names no place
@example(("table", ".csv", TABLE, "idna"))
@example(("table", ".parquet", parquet(author=[7.0, float("nan")], text=["x", "y"]), None))
@example(("table", ".parquet", parquet(), None))  # no column: a traceback
@example(("table", ".jsonl", b'{"author": "\\ud83d", "text": "x"}', None))
@example(("table", ".jsonl", b'{"a":' * 390 + b"0", None))
@given(cases())
def test_a_file_of_any_bytes_is_explained(case) -> None:
    explained(*case)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud83d"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


@SETTINGS
@given(rows=st.lists(st.fixed_dictionaries({"author": VALUES, "text": VALUES, "topic": VALUES}), max_size=3))
def test_values_of_every_json_type(rows) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    counts = explained("table", ".jsonl", content, None)
    if isinstance(counts, dict):
        for row in rows:
            assert type(row["author"]) in (str, int)
            assert row["text"] is None or type(row["text"]) is str
            assert row["topic"] is None or type(row["topic"]) in (str, int)
