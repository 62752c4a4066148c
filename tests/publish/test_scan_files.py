"""Planted leaks in whole files: rows, cells and names that the release's search sees through."""

from __future__ import annotations

import hashlib
import io
import json
import unicodedata
from urllib.parse import quote_plus

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.publish.test_scan_leaks import CHINESE, PRIVATE, QUOTE, WORDS

from favor.publish.scan import Private, scan
from favor.scores.schemas import SCORES

OTHER_SCRIPTS = Private([*PRIVATE.authors, "Иван77", "Σίσυφος5"], list(PRIVATE.texts))


def parquet(**changes) -> bytes:
    """Return a table of scores with one column renamed, or with remarks on the table or on a column."""
    schema = SCORES.schema.remove_metadata()
    if "column" in changes:
        schema = schema.set(0, schema.field(0).with_name(changes["column"]))
    if "field" in changes:
        schema = schema.set(0, schema.field(0).with_metadata({"by": changes["field"]}))
    if "table" in changes:
        schema = schema.with_metadata({"by": changes["table"]})
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([], schema=schema), held)
    return held.getvalue()


LEAKS: dict[str, tuple[str, str | bytes]] = {
    "number between numbers of a CSV": ("a.csv", "row,author,n\n3,9000022,17\n"),
    "number between fractions of a CSV": ("a.csv", "0.5,9000022,1.25\n"),
    "number at the end of a row": ("a.csv", "12,9000022\n"),
    "list of numbers": ("a.txt", "9000021,9000022,9000023"),
    "number glued to a word": ("a.txt", "author9000022"),
    "number glued to a unit": ("a.txt", "9000022px"),
    "number before a suffix": ("a.txt", "12.9000022.csv"),
    "number of other digits": ("a.txt", "٩٠٠٠٠٢٢"),
    "number in bold digits": ("a.txt", "𝟗𝟎𝟎𝟎𝟎𝟐𝟐"),
    "name across cells": ("a.html", "<tr><td>jane</td><td>doe</td></tr>"),
    "name with a joiner that shows nothing": ("a.txt", "ja\u034fne_d\ufe0foe"),
    "Cyrillic name in capitals": ("a.txt", "ИВАН77"),
    "Greek name in capitals": ("a.txt", "ΣΊΣΥΦΟΣ5"),
    "name in metadata of a drawing": ("a.svg", "<svg><metadata><rdf author='Müller99'/></metadata></svg>"),
    "name in UTF-16": ("a.txt", "jane_doe".encode("utf-16-le")),
    "name in a folder's name": ("results/9000022/a.txt", "fine"),
    "name in a file's name": ("fig9000022.svg", "<svg/>"),
    "decomposed name in a file's name": (unicodedata.normalize("NFD", "Müller99") + ".txt", "fine"),
    "text in a file's name": ("-".join(WORDS) + ".txt", "fine"),
    "text in a folder's name": ("_".join(WORDS) + "/a.txt", "fine"),
    "name of a column": ("a.parquet", parquet(column="jane_doe")),
    "remark on a column": ("a.parquet", parquet(field=QUOTE)),
    "remark on a table": ("a.parquet", parquet(table="jane_doe")),
    "text with plus signs": ("a.txt", quote_plus(QUOTE)),
    "quotation marks of a CSV": ("a.csv", '"' + QUOTE.replace(" ", ' ""') + '"'),
    "a CSV cell per word": ("a.csv", ",".join(WORDS)),
    "a JSON record per word": ("a.json", "\n".join(json.dumps({"w": word}) for word in WORDS)),
    "a JSON string per character": ("a.json", json.dumps(list(CHINESE))),
    "LaTeX's hyphenation": ("a.tex", " ".join(rf"{word[:1]}\-{word[1:]}" for word in WORDS)),
    "character data of a drawing": ("a.svg", f"<svg><desc><![CDATA[{QUOTE}]]></desc></svg>"),
    "a position per word": ("a.svg", "".join(f'<tspan x="{x}" y="3">{word}</tspan>' for x, word in enumerate(WORDS))),
    "folder behind a colon": ("a.txt", "path:/home/someone"),
    "bucket": ("a.txt", "s3://bucket/home/someone"),
    "e-mail address as entities": ("a.html", "someone&#64;example.org"),
    "full-width handle": ("a.txt", "\uff20someone"),
}


@pytest.mark.parametrize("case", LEAKS)
def test_every_leak_is_found(case) -> None:
    name, content = LEAKS[case]
    assert scan({name: content.encode() if isinstance(content, str) else content}, OTHER_SCRIPTS)


HARMLESS = {
    "counts with commas": ("a.tex", "9,000,022 & 12,345.5"),
    "coordinates": ("a.svg", '<path d="M9000022.5 1.25L90000.22 0.9000022z" style="width:12.900002px"/>'),
    "rows of numbers": ("a.csv", "900,002,2\n9000,022,1.5\n"),
    "longer and shorter numbers": ("a.txt", "author90000221 author900002 x9000022 a1b9000022c3"),
    "parts of a name": ("a.txt", "jane, a doe, Müller 98 and ler99"),
    "colours": ("a.html", "<style>p{color:#9000022f}</style>"),
    "addresses": ("a.html", "https://host.org/home/page and git+ssh is not used"),
    "powers": ("a.txt", "x^2 + y^2 is the sum; BZh is a name"),
    "digest": ("a.txt", hashlib.sha256(b"somebody else").hexdigest()),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_only_resembles_a_leak_passes(case) -> None:
    name, content = HARMLESS[case]
    assert scan({name: content.encode()}, OTHER_SCRIPTS) == []
