"""The publication bundle: the same bytes twice, and no way through the scanner for a planted leak of any kind."""

import ast
import base64
import datetime
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import unicodedata

import matplotlib
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exports.conftest import refusal

from favor.config.reference import schema_text
from favor.federation.schemas import GENERATIONS
from favor.foundation.html import html_text
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import write_safetensors
from favor.publish.bundle import FOLDER, _public, collect, installed_versions, pack, public_configuration
from favor.publish.scan import Private, scan, unsearchable
from favor.publish.settings import Release
from favor.scores.schemas import SCORES
from favor.tables.escape import latex, unlatex

matplotlib.use("agg")

OWN = "We have not seen the clock for nine years, and nobody’s asked why it's gone"
GENERATED = "yesterday my dog chased two pigeons across the wet market square again"
TEXTS = (("a text of client_001", OWN), ("a continuation generated for client_001", GENERATED))
PRIVATE = Private(["9000022", "jane_doe", "Ann Lee", "ab"], TEXTS, ["/srv/projects/favor"])
PUBLISHED = Release(title="Results"), datetime.date(2026, 11, 22)
QUOTE = "seen the clock for nine years and nobody's asked"  # eight words of it


def score_frame(note="") -> pd.DataFrame:
    row = {"seed": 1, "method": "favor", "encoder": "", "metric": "author_accuracy", "variant": "", "value": 0.5}
    return pd.DataFrame([{**row, "n": 9000, "note": note}])


def parquet(frame, table, folder) -> bytes:
    write_parquet(frame, folder / "t.parquet", table)
    return (folder / "t.parquet").read_bytes()


def found(name, content) -> list[str]:
    content = content.encode() if isinstance(content, str) else content
    return [finding.what for finding in scan({name: content}, PRIVATE)]


CLEAN = {
    "results/a.tex": r"\begin{tabular}{@{}l@{\extracolsep{\fill}}c@{}} FAVoR & 0.403 & 1.9000022 & 9,000,022 \\",
    "results/a.html": "<style>@media print { p { color: red } }</style><p>seen the clock for nine years</p>",
    "results/a.svg": '<svg><!-- Round --><path d="M 9000022.5 1 2 3 4 5 6 7 8 9"/></svg>',
    "numbers.json": json.dumps({"accuracy": 0.403, "bytes": 119801528, "u": "u/s and w/o"}),
    "configuration.json": '{"source": "Qwen/Qwen2.5-3B-Instruct"}',
    "environment/requirements.lock": f"torch==2.13.0\n# sha256:{'0123456789abcdef' * 4}\n",
    "results/b.html": "<td>1/2</td><td>0.3 / 0.4</td> https://host.org/some/page and/or <br/> a.replace(/x+/g, '')",
    **{f"{number}.txt": text for number, text in enumerate(("19000022", "x9000022", "90000221", "Ann, no Lee", "ab"))},
    "results/b.tex": r"\midrule \\ \textbf{a}/\emph{b} FedAvg~/~Ditto $\uparrow$ \url{https://host.org/some/page}",
}


@pytest.mark.parametrize("name", CLEAN)
def test_aggregates_pass(name) -> None:
    assert found(name, CLEAN[name]) == []


def test_a_published_table_passes_unless_it_quotes_or_has_metadata(tmp_path) -> None:
    assert found("scores/a.parquet", parquet(score_frame("no output"), SCORES, tmp_path)) == []
    table = pq.read_table(tmp_path / "t.parquet").replace_schema_metadata({"remark": OWN})
    pq.write_table(table, tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    assert found("scores/a.parquet", content) == ["a Parquet file with metadata, which no table here has"]
    assert found("scores/a.parquet", parquet(score_frame(QUOTE), SCORES, tmp_path)) == [TEXT]


TEXT = "8 consecutive words of a text of client_001"
IDENTIFIER, PLACE = "an author's identifier", "a folder of a machine"
LEAKS = [
    ("a.txt", QUOTE, TEXT),
    ("b.txt", "before " + QUOTE.upper().replace(" ", "\n-- ") + " after", TEXT),
    ("a.tex", r"\emph{seen the \textbf{clock}} for nine years --- and nobody's {asked}", TEXT),
    ("a.html", "<td>seen the <b>clock</b> for nine&nbsp;years,</td><td>and nobody&#x27;s asked</td>", TEXT),
    ("a.svg", "<svg><!-- seen the clock for --><!-- nine years and nobody's asked --></svg>", TEXT),
    ("a.json", json.dumps({"x": ["seen the clock\nfor nine\tyears and nobody\u2019s asked"]}), TEXT),
    ("lines.json", '{}\n"seen \\u0074he clock for nine years and \\u006eobody\'s asked"\n', TEXT),
    ("a.yaml", 'x: "seen the clock\\nfor nine years and nobody\'s\\x20asked"\n', TEXT),
    ("second.yaml", 'a: 1\n---\nb: "seen \\x74he clock for nine\\\n  \\ years and nobodys asked"\n', TEXT),
    ("a.csv", "value,note\n1,seen the clock for nine years and nobodys asked\n", TEXT),
    ("a.md", f"For example: {GENERATED[:60]}", "8 consecutive words of a continuation generated for client_001"),
    ("a.txt", "author 9000022", IDENTIFIER),
    ("a.txt", "(jane_doe)", IDENTIFIER),
    ("a.txt", "by Ann\n Lee.", IDENTIFIER),
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
    ("itself.yaml", f'a: &a [*a, "{OWN}"]', ".yaml that cannot be read"),
    ("a.txt", b"\xff\xfe\x00", "bytes that are not text"),
]


@pytest.mark.parametrize(("name", "content", "what"), LEAKS, ids=range(len(LEAKS)))
def test_every_leak_is_found_for_what_it_is(name, content, what) -> None:
    assert found(name, content) == [what]


ACCENTED = "Grüßt euch, sagte Jürgen, während draußen schön die Vögel über Köln flögen"
FOREIGN = Private(["Müller99", "Łukasz7", "名前名前"], [("a text of client_001", ACCENTED)])


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
@pytest.mark.parametrize("name", ["a.txt", "a.tex", "a.html"])
def test_accents_hide_neither_quotations_nor_identifiers(name, form) -> None:
    write = {"a.tex": latex, "a.html": html_text, "a.txt": str}[name]
    for text, what in ((ACCENTED, TEXT), *((f"by {author}.", IDENTIFIER) for author in FOREIGN.authors)):
        content = write(text) if name != "a.txt" else unicodedata.normalize(form, text)
        assert [each.what for each in scan({name: content.encode()}, FOREIGN)] == [what], text


def test_full_width_identifiers_are_found() -> None:
    wide = "".join(chr(ord(character) + 0xFEE0) for character in "jane_doe")
    assert scan({"a.txt": b"by jane_doe"}, Private([wide], ())) != []


@given(st.text(st.characters(codec="utf-8", categories=("L",)) | st.sampled_from(" .,'_"), min_size=1))
def test_what_latex_writes_is_read_back(text) -> None:
    def letters(written) -> str:
        return re.sub(r"[^\w]|_", "", unicodedata.normalize("NFKC", written))

    assert letters(unlatex(latex(text))) == letters(text)


def test_identifiers_too_short_to_search_are_counted_and_chance_hits_can_be_exempted() -> None:
    assert unsearchable(PRIVATE.authors) == 1
    assert unsearchable(["----", "?!?!", "🦊🌙🦊🌙", "🦊", "abcd"]) == 3  # punctuation stands everywhere
    spared = Private(PRIVATE.authors, TEXTS, exempt=["9000022"])
    assert scan({"a.txt": b"9000022 pairs"}, spared) == []


def test_an_adapter_is_refused_under_any_name(tmp_path) -> None:
    write_safetensors({"a": np.zeros((2, 2), np.float32)}, tmp_path / "a.safetensors", {"client": "client_001"})
    content = (tmp_path / "a.safetensors").read_bytes()
    for name in ("adapter.safetensors", "adapter.json", "adapter.parquet", "notes"):
        assert found(name, content)


def test_tables_that_hold_texts_vectors_or_people_are_refused(tmp_path) -> None:
    generations = {"seed": 1, "method": "favor", "client": "client_001", "prompt_id": "p", "sample": 0, "text": "short"}
    frame = pd.DataFrame([{**generations, "tokens": 1, "words": 1, "distinct_bigram_ratio": 1.0, "passed": True}])
    content = parquet(frame, GENERATIONS, tmp_path)
    assert "not for publication" in found("scores.parquet", content)[0]
    score_frame().to_parquet(tmp_path / "other.parquet")  # the right names, other types
    assert "not for publication" in found("scores.parquet", (tmp_path / "other.parquet").read_bytes())[0]
    assert found("scores.parquet", content[:-9]) == ["a Parquet file that cannot be read"]


@pytest.mark.parametrize("name", ["a.pdf", "a.png", "a.zip", "a.tar.gz", "a.pkl", "a.PARQUET"])
def test_kinds_that_cannot_be_searched_are_refused(name) -> None:
    assert "cannot be searched" in found(name, b"x")[0]


def picture(**metadata) -> str:
    from matplotlib import image

    buffer = io.BytesIO()
    image.imsave(buffer, np.zeros((2, 2)), format="png", metadata=metadata)
    return base64.b64encode(buffer.getvalue()).decode()


def test_pixels_may_be_embedded_and_nothing_else() -> None:
    wrap = '<svg><image xlink:href="data:image/png;base64,{}"/></svg>'.format
    assert found("a.svg", wrap(picture(Software=None))) == []
    assert found("a.svg", wrap(picture(Software=None, Comment=OWN))) == ["an embedded file that cannot be searched"]
    trailing = base64.b64encode(base64.b64decode(picture(Software=None)) + OWN.encode()).decode()
    assert found("a.svg", wrap(trailing)) == ["an embedded file that cannot be searched"]
    other = base64.b64encode(OWN.encode()).decode()
    assert found("a.html", f'<a href="data:text/plain;base64,{other}">x</a>')


def test_findings_quote_nothing_and_nothing_is_written(tmp_path) -> None:
    files = {"good.txt": b"fine", "a.txt": f"9000022 {QUOTE}".encode()}
    message = refusal(pack, files, PRIVATE, tmp_path / "release.tar.gz")
    assert "not for publication: a.txt: 8 consecutive words" in message
    assert "a.txt: an author's identifier" in message
    assert "9000022" not in message
    assert "clock" not in message
    assert list(tmp_path.iterdir()) == []


def test_the_archive_is_deterministic_and_its_checksums_hold(tmp_path) -> None:
    files = {"b.txt": b"two", "a/c.json": b"{}"}
    first = pack(files, PRIVATE, tmp_path / "one.tar.gz")
    assert first == pack(dict(reversed(files.items())), PRIVATE, tmp_path / "two.tar.gz")
    content = (tmp_path / "one.tar.gz").read_bytes()
    assert content == (tmp_path / "two.tar.gz").read_bytes()
    assert first == hashlib.sha256(content).hexdigest()
    with tarfile.open(tmp_path / "one.tar.gz") as archive:
        members = archive.getmembers()
        packed = {member.name.removeprefix(f"{FOLDER}/"): archive.extractfile(member).read() for member in members}
    assert {(member.mtime, member.uid, member.gid, member.uname) for member in members} == {(0, 0, 0, "")}
    assert list(packed) == ["SHA256SUMS", "a/c.json", "b.txt"]
    sums = packed.pop("SHA256SUMS").decode().splitlines()
    assert sums == [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in packed.items()]


def test_the_configuration_loses_every_form_of_place(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "luar").mkdir(parents=True)
    for place in ("file:///data/luar", "C:\\Users\\alice\\luar", "models/luar", "~/luar", "../luar"):
        assert public_configuration({"source": place}) == {"source": "luar"}, place
    cluster = {"account": "alice", "gpu_partition": "dept-gpu", "stages": {"a": {"partition": "x"}}}
    nothing = {"account": None, "gpu_partition": None, "stages": {"a": {"partition": None}}}
    assert public_configuration({"cluster": cluster}) == {"cluster": nothing}
    assert public_configuration({"responses": "back/alice"}) == {"responses": "alice"}
    for kept in ("a title and/or two", "https://host.org/page"):
        assert public_configuration({"title": kept}) == {"title": kept}


def test_the_configuration_keeps_names_and_loses_places() -> None:
    hub = {"source": "Qwen/Qwen2.5-3B-Instruct"}
    configuration = {
        "results": "/scratch/me/results",
        "corpora": {"blog": {"path": "data/blog.csv", "title": "Blog"}},
        "base_models": {"a": {"source": "/models/Qwen"}, "b": hub},
        "list": ["~/me", 1, None],
    }
    assert public_configuration(configuration) == {
        "results": "results",
        "corpora": {"blog": {"path": "blog.csv", "title": "Blog"}},
        "base_models": {"a": {"source": "Qwen"}, "b": hub},
        "list": ["me", 1, None],
    }


def test_versions_are_those_of_the_lock_as_installed() -> None:
    versions = installed_versions("# comment\nnumpy==0.0.1 \\\n    --hash=sha256:00\nno-such-package==1.0\n")
    assert set(versions) == {"python", "torch", "numpy", "no-such-package"}
    assert (versions["numpy"], versions["no-such-package"]) == (np.__version__, "")


def test_the_projects_own_files_pass(repository, tmp_path) -> None:
    (tmp_path / "numbers.json").write_text("{}")
    files = collect(tmp_path, [tmp_path / "numbers.json"], repository, {"experiments": {}}, schema_text(), *PUBLISHED)
    assert {"results/numbers.json", "schemas/config.schema.yaml", "schemas/columns.json", "LICENSE"} <= set(files)
    assert scan(files, PRIVATE) == []


def test_the_texts_that_a_report_quotes_are_taken_out() -> None:
    page = f"<!DOCTYPE html>\n<p>0.403</p>\n<!--texts-->\n<dl>{OWN}</dl>\n<!--/texts-->\n<p>0.5</p>"
    assert found("results/report.html", page)
    assert _public(page.encode()) == b"<!DOCTYPE html>\n<p>0.403</p>\n<p>0.5</p>"


def test_a_release_asks_for_its_packages_before_it_imports_them(repository) -> None:
    script = ast.parse((repository / "workflow" / "scripts" / "release.py").read_text())
    imports = [ast.unparse(line) for line in script.body if isinstance(line, ast.Import | ast.ImportFrom)]
    absent = "import sys; sys.modules.update(mlcroissant=None, rocrate=None)"
    subprocess.run([sys.executable, "-c", "; ".join([absent, *imports])], check=True)
