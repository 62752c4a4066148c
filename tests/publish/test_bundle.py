"""The publication bundle: the same bytes twice, nothing private in it, and nothing where something is found."""

import ast
import datetime
import hashlib
import subprocess
import sys
import tarfile

import numpy as np
from tests.exports.conftest import refusal

from favor.config.reference import schema_text
from favor.publish.bundle import FOLDER, _public, collect, installed_versions, pack, public_configuration
from favor.publish.scan import Private, scan
from favor.publish.settings import Release

OWN = "We have not seen the clock for nine years, and nobody’s asked why it's gone"
PRIVATE = Private(["9000022"], [("a text of client_001", OWN)])
PUBLISHED = Release(title="Results"), datetime.date(2026, 11, 22)
QUOTE = "seen the clock for nine years and nobody's asked"  # eight words of it


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
    assert public_configuration({"blog": {"path": "data/blog.csv"}}) == {"blog": {"path": "blog.csv"}}
    assert public_configuration({"list": ["~/me", 1, None]}) == {"list": ["me", 1, None]}
    for kept in ("a title and/or two", "https://host.org/page", "Qwen/Qwen2.5-3B-Instruct"):
        assert public_configuration({"title": kept}) == {"title": kept}


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
    assert _public(page.encode()) == b"<!DOCTYPE html>\n<p>0.403</p>\n<p>0.5</p>"


def test_a_release_asks_for_its_packages_before_it_imports_them(repository) -> None:
    script = ast.parse((repository / "workflow" / "scripts" / "release.py").read_text())
    imports = [ast.unparse(line) for line in script.body if isinstance(line, ast.Import | ast.ImportFrom)]
    absent = "import sys; sys.modules.update(mlcroissant=None, rocrate=None)"
    subprocess.run([sys.executable, "-c", "; ".join([absent, *imports])], check=True)
