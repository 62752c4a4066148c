"""Planted leaks: every way of writing a text or an identifier that the search before a release must see through."""

import base64
import hashlib
import io
import json
import re
import unicodedata
from urllib.parse import quote_plus

import matplotlib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from favor.federation.schemas import GENERATIONS
from favor.foundation.html import html_text
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import write_safetensors
from favor.publish.scan import Private, scan, unsearchable
from favor.scores.schemas import SCORES
from favor.tables.escape import latex, unlatex

matplotlib.use("agg")

TEXT = (
    "I had never seen the clock in that hall run right for nine years, and nobody's asked about it since my stiff "
    "uncle left."
)
CHINESE = "我昨天在河边散步的时候看见了一只白色的大鸟它在水里找鱼吃"
JAPANESE = "昨日は川のほとりを散歩していたら大きな白い鳥を見かけました"
THAI = "เมื่อวานนี้ฉันเดินเล่นริมแม่น้ำและเห็นนกสีขาวตัวใหญ่กำลังหาปลากิน"
FRENCH = "déjà l'été s'achevait et la forêt entière était jaunie quand mon père très âgé est arrivé chez nous"
RUSSIAN = "вчера я гулял по берегу реки и увидел большую белую птицу у воды"
PRIVATE = Private(
    ["9000022", "jane_doe", "Ann Lee", "Müller99", "Łukasz7", "名前名前", "🦊🌙🦊🌙", "Иван77", "Σίσυφος5", "ab"],
    [("a text of client_001", text) for text in (TEXT, CHINESE, JAPANESE, THAI, RUSSIAN, FRENCH)],
    ["/srv/projects/favor"],
)
WORDS = TEXT.split()[3:14]
QUOTE = " ".join(WORDS)
KINDS = ("txt", "md", "csv", "html", "svg", "tex")
QUOTED = "8 consecutive words of a text of client_001"
IDENTIFIER, PLACE = "an author's identifier", "a folder of a machine"

WRITTEN = {
    "plain": QUOTE,
    "capitals": QUOTE.upper(),
    "wrapped": "\n    ".join(WORDS),
    "soft hyphens": " ".join(word[:2] + "\u00ad" + word[2:] for word in WORDS),
    "zero-width spaces": " ".join(word[:2] + "\u200b" + word[2:] for word in WORDS),
    "underscores": "_".join(WORDS),
    "curly apostrophe": "right for nine years, and nobody\u2019s asked about it since",
    "ligature": "nobody's asked about it since my stiff uncle left".replace("ff", "\ufb00"),
    "full width": "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in QUOTE),
    "Chinese": CHINESE[3:18],
    "Chinese spaced out": " ".join(CHINESE[3:18]),
    "Chinese in lines": "\n".join(CHINESE[3:18]),
    "Japanese": JAPANESE[2:20],
    "Thai": THAI[5:40],
    "Russian": RUSSIAN[8:],
    "Russian decomposed": unicodedata.normalize("NFD", RUSSIAN[8:]),
    "HTML entities": "".join(f"&#x{ord(each):x};" for each in QUOTE),
    "identifier as a float": "9000022.0",
    "identifier within a name": "client_9000022_a",
    "identifier with a zero-width space": "9000\u200b022",
    "identifier in other letters": "by JANE_DOE",
    "identifier in parts": "by Jane Doe",
    "identifier of two words": "thanks, Ann\nLee",
    "identifier, full width": "ｊａｎｅ＿ｄｏｅ",
    "identifier, decomposed": "Mu\u0308ller99",
    "identifier, LaTeX": 'by M\\"uller99',
    "identifier, LaTeX in braces": 'by M{\\"{u}}ller99',
    "identifier, LaTeX letter": "by {\\L}ukasz7",
    "identifier, entity": "by M&#252;ller99",
    "identifier, Chinese": "作者：名前名前。",
    "identifier of emoji": "row 🦊🌙🦊🌙, 0.5",
    "identifier of emoji with marks": "by 🦊\ufe0f🌙\u200d🦊🌙",
    "handle behind a point": "so he said.@john_smith knew",
    "handle of other letters": "by @山田太郎",
    "Reddit user name in capitals": "asked by U/some_user",
    "folder": "log in /srv/projects/favor",
    "folder of another machine": "from host:/export/ann/x",
    "folder of Windows": "see C:/Users/someone",
    "folder of a network": "see \\\\server\\share",
    "home": "under ~/models",
}


HARMLESS = {
    "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "paths of the project": "results/demo/seed2026/favor/generations.parquet and src/favor/federation/methods/favor.py",
    "numbers": "0.315 0.360 0.021 0.387 112 113 114 115 116 117 118 119 120 121 122 123 124 125",
    "seven words": "seen the clock in that hall run",
    "LaTeX": r"\\ \midrule \multicolumn{3}{l}{\textit{Prototype accuracy}} & 0.315 \\",
    "CSS": ".table-of-contents{grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));--accent-colour:#00796b}",
    "digests in base64": " ".join(
        f"sha256-{base64.b64encode(hashlib.sha256(str(number).encode()).digest()).decode()}" for number in range(300)
    ),
    "addresses": "https://example.org/a/b?c=d/e and http://example.org:8080/export/data",
    "fields of objects": "config.release.title and a.b/c",
    "SVG": "M 12.5 80.25 L 100.125 80.25 C 110 60 140 60 150 80.25 z",
}


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


# file, content, and what is found in it
NAMED = [
    ("a.txt", QUOTE, QUOTED),
    ("a.tex", r"\emph{seen the \textbf{clock}} in that hall --- run \textit{right} for {nine}", QUOTED),
    ("a.html", "<td>seen the <b>clock</b> in&nbsp;that</td><td>hall run&#x20;right for</td>", QUOTED),
    ("a.svg", "<svg><!-- seen the clock in --><!-- that hall run right --></svg>", QUOTED),
    ("a.json", json.dumps({"x": ["for nine\tyears, and\nnobody\u2019s asked about it since"]}), QUOTED),
    ("lines.json", '{}\n"seen \\u0074he clock in that hall \\u0072un right"\n', QUOTED),
    ("a.yaml", 'x: "seen the clock\\nin that hall run\\x20right"\n', QUOTED),
    ("second.yaml", 'a: 1\n---\nb: "seen \\x74he clock in that\\\n  \\ hall run right"\n', QUOTED),
    ("a.txt", "author 9000022", IDENTIFIER),
    ("results/jane_doe.txt", "fine", f"{IDENTIFIER} in the file's name"),
    ("a.html", "written by u/some_person", "a Reddit user name"),
    ("a.html", "see /u/some-person there", "a Reddit user name"),
    ("a.html", "thanks @some_person!", "a handle"),
    ("a.html", "mail me: some.person@mail.example.org", "an e-mail address"),
    ("a.html", "log in /srv/projects/favor/results", PLACE),
    ("a.html", "STAR (/data/alice/luar) is not here", PLACE),
    ("a.html", '{"path": "/home/alice"}', PLACE),
    ("a.html", "in C:\\Users\\alice", PLACE),
    ("a.html", '"D:\\\\Users\\\\alice"', PLACE),
    ("a.html", "see file:///data/luar", PLACE),
    ("broken.json", '{"a": ', ".json that cannot be read"),
    ("broken.yaml", "a: [", ".yaml that cannot be read"),
    ("deep.json", "[" * 100_000 + "]" * 100_000, ".json that cannot be read"),
    ("deep.yaml", "[" * 2_000 + "]" * 2_000, ".yaml that cannot be read"),
    ("itself.yaml", f'a: &a [*a, "{QUOTE}"]', ".yaml that cannot be read"),
    ("a.txt", b"\xff\xfe\x00", "bytes that are not text"),
    *((name, "x", "cannot be searched") for name in ("a.pdf", "a.png", "a.tar.gz", "a.PARQUET")),
]


HARMLESS_FILES = {
    "table of LaTeX": (
        "a.tex",
        r"\begin{tabular}{@{}l@{\extracolsep{\fill}}c@{}} \\ \textbf{a}/\emph{b} & 1.9000022",
    ),
    "rules for print": ("a.html", "<style>@media print { p { color: red } }</style><p>seen the clock in that hall</p>"),
    "comment of a drawing": ("a.svg", '<svg><!-- Round --><path d="M 9000022.5 1 2 3 4 5 6 7 8 9"/></svg>'),
    "numbers of JSON": ("a.json", json.dumps({"accuracy": 0.403, "bytes": 119801528, "u": "u/s and w/o"})),
    "name of a model": ("a.json", '{"source": "Qwen/Qwen2.5-3B-Instruct"}'),
    "lock": ("a.lock", f"torch==2.13.0\n# sha256:{'0123456789abcdef' * 4}\n"),
    "fractions and a script": ("a.html", "<td>1/2</td><td>0.3 / 0.4</td> and/or <br/> a.replace(/x+/g, '')"),
    "too short": ("a.txt", "ab"),
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


def score_frame(note="") -> pd.DataFrame:
    row = {"seed": 1, "method": "favor", "encoder": "", "metric": "author_accuracy", "variant": "", "value": 0.5}
    return pd.DataFrame([{**row, "n": 9000, "note": note}])


def written(frame, table, folder) -> bytes:
    write_parquet(frame, folder / "t.parquet", table)
    return (folder / "t.parquet").read_bytes()


def found(name, content) -> list[str]:
    content = content.encode() if isinstance(content, str) else content
    return [finding.what for finding in scan({name: content}, PRIVATE)]


def cases(texts, files) -> list:
    """Every way of writing in every kind of file, and the whole files."""
    found = {f"{case}, {kind}": (f"a.{kind}", text) for case, text in texts.items() for kind in KINDS} | files
    return [pytest.param(*case, id=name) for name, case in found.items()]


@pytest.mark.parametrize(("name", "content"), cases(WRITTEN, LEAKS))
def test_every_leak_is_seen_through(name, content) -> None:
    assert found(name, content)


@pytest.mark.parametrize(("name", "content"), cases(HARMLESS, HARMLESS_FILES))
def test_what_is_harmless_or_only_resembles_a_leak_passes(name, content) -> None:
    assert found(name, content) == []


@pytest.mark.parametrize(("name", "content", "what"), NAMED, ids=range(len(NAMED)))
def test_every_leak_is_found_for_what_it_is(name, content, what) -> None:
    (kind,) = found(name, content)
    assert what in kind


@pytest.mark.parametrize("write", [latex, html_text])
def test_accents_hide_neither_quotations_nor_identifiers(write) -> None:
    for text, what in ((FRENCH, QUOTED), ("by Müller99.", IDENTIFIER), ("by Łukasz7.", IDENTIFIER)):
        assert found("a.tex" if write is latex else "a.html", write(text)) == [what], text


@given(st.text(st.characters(codec="utf-8", categories=("L",)) | st.sampled_from(" .,'_"), min_size=1))
def test_what_latex_writes_is_read_back(text) -> None:
    def letters(written) -> str:
        return re.sub(r"[^\w]|_", "", unicodedata.normalize("NFKC", written))

    assert letters(unlatex(latex(text))) == letters(text)


def test_identifiers_too_short_to_search_are_counted_and_chance_hits_can_be_exempted() -> None:
    assert unsearchable(PRIVATE.authors) == 1
    assert unsearchable(["----", "?!?!", "🦊🌙🦊🌙", "🦊", "abcd"]) == 3  # punctuation stands everywhere
    spared = Private(PRIVATE.authors, (), exempt=["9000022"])
    assert scan({"a.txt": b"9000022 pairs"}, spared) == []


def test_a_published_table_passes_unless_it_quotes_or_has_metadata(tmp_path) -> None:
    assert found("scores/a.parquet", written(score_frame("no output"), SCORES, tmp_path)) == []
    table = pq.read_table(tmp_path / "t.parquet").replace_schema_metadata({"remark": TEXT})
    pq.write_table(table, tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    assert found("scores/a.parquet", content) == ["a Parquet file with metadata, which no table here has"]
    assert found("scores/a.parquet", written(score_frame(QUOTE), SCORES, tmp_path)) == [QUOTED]


def test_an_adapter_is_refused_under_any_name(tmp_path) -> None:
    write_safetensors({"a": np.zeros((2, 2), np.float32)}, tmp_path / "a.safetensors", {"client": "client_001"})
    content = (tmp_path / "a.safetensors").read_bytes()
    for name in ("adapter.safetensors", "adapter.json", "adapter.parquet", "notes"):
        assert found(name, content)


def test_tables_that_hold_texts_vectors_or_people_are_refused(tmp_path) -> None:
    generations = {"seed": 1, "method": "favor", "client": "client_001", "prompt_id": "p", "sample": 0, "text": "short"}
    frame = pd.DataFrame([{**generations, "tokens": 1, "words": 1, "distinct_bigram_ratio": 1.0, "passed": True}])
    content = written(frame, GENERATIONS, tmp_path)
    assert "not for publication" in found("scores.parquet", content)[0]
    score_frame().to_parquet(tmp_path / "other.parquet")  # the right names, other types
    assert "not for publication" in found("scores.parquet", (tmp_path / "other.parquet").read_bytes())[0]
    assert found("scores.parquet", content[:-9]) == ["a Parquet file that cannot be read"]


def picture(**metadata) -> str:
    from matplotlib import image

    buffer = io.BytesIO()
    image.imsave(buffer, np.zeros((2, 2)), format="png", metadata=metadata)
    return base64.b64encode(buffer.getvalue()).decode()


def test_pixels_may_be_embedded_and_nothing_else() -> None:
    wrap = '<svg><image xlink:href="data:image/png;base64,{}"/></svg>'.format
    assert found("a.svg", wrap(picture(Software=None))) == []
    assert found("a.svg", wrap(picture(Software=None, Comment=TEXT))) == ["an embedded file that cannot be searched"]
    trailing = base64.b64encode(base64.b64decode(picture(Software=None)) + TEXT.encode()).decode()
    assert found("a.svg", wrap(trailing)) == ["an embedded file that cannot be searched"]
    other = base64.b64encode(TEXT.encode()).decode()
    assert found("a.html", f'<a href="data:text/plain;base64,{other}">x</a>')
