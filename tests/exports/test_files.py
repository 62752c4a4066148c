"""Files of exports: zips that are traps, damaged or locked, and folders around everything."""

import struct
import zipfile
from pathlib import Path

import pytest
from tests.exports.conftest import refusal

from favor.corpora.delimited import read_delimited
from favor.corpora.posts import ReaderSettings, open_reader
from favor.exports.files import Files, objects
from favor.foundation.errors import UserError


def zipped(path, members, method=zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_one_folder_around_everything_does_not_count(tmp_path) -> None:
    members = {"x-1/data/a.js": "1", "x-1/b.txt": "2", "__MACOSX/x-1/._b.txt": "3"}
    files = Files(zipped(tmp_path / "a.zip", members))
    assert files.names == ["x-1/b.txt", "x-1/data/a.js"]
    assert (files.find(r"data/a\.js"), files.find(r"a\.js"), files.zipped) == (["x-1/data/a.js"], [], True)
    (tmp_path / "folder" / "x-1").mkdir(parents=True)
    (tmp_path / "folder" / "x-1" / "b.txt").write_text("2")
    (tmp_path / "folder" / "c.txt").write_text("3")
    folder = Files(tmp_path / "folder")
    assert (folder.find("b.txt"), folder.find("c.txt"), folder.read("x-1/b.txt")) == ([], ["c.txt"], b"2")
    alone = Files(tmp_path / "folder" / "c.txt")
    assert (alone.find(".*"), alone.text("c.txt"), alone.zipped) == (["c.txt"], "3", False)


def test_a_bomb_is_not_unpacked(tmp_path) -> None:
    # 20 million zeros take 19 kB, a thousandth. Half as many, or text that shrinks a hundredfold, are read.
    small = b"0" * 9_000_000
    path = zipped(tmp_path / "a.zip", {"bomb.json": b"0" * 20_000_000, "a.json": small, "b.json": small})
    with pytest.raises(UserError, match=r"bomb.json: [\d,]+ bytes unpack to 20,000,000, more than text does"):
        Files(path).read("bomb.json")
    files = Files(path)
    assert (len(files.head("bomb.json")), len(files.read("a.json"))) == (4096, 9_000_000)
    with pytest.raises(UserError, match=r"b.json: [\d,]+ bytes unpack to 18,000,000, more than text does"):
        files.read("b.json")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_of_which_a_few_bytes_fill_memory_is_refused(tmp_path, packing) -> None:
    path = zipped(tmp_path / "posts.csv.zip", {"posts.csv": "author,text\n"}, packing)
    for read in (lambda path, _: Files(path), open_reader("blog_xml").read, read_delimited):
        with pytest.raises(UserError, match="is packed as no service does"):
            list(read(path, ReaderSettings()))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_with_a_file_twice_is_refused(tmp_path) -> None:
    """Of the two only the last would be read, for both."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for text in ("one", "two"):
            archive.writestr("data/tweets.js", text)
    assert "a.zip: holds data/tweets.js twice; unpack it" in refusal(Files, tmp_path / "a.zip")


def test_a_size_that_lies_does_not_unpack_more(tmp_path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.txt": b"0" * 50_000_000})
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    content[central + 24 : central + 28] = struct.pack("<I", 100)
    path.write_bytes(content)
    assert "cannot be read" in refusal(Files(path).read, "a.txt")


def test_a_locked_or_damaged_zip_is_refused_in_one_line(tmp_path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.txt": b"Some text of mine."}, zipfile.ZIP_STORED)
    whole = path.read_bytes()
    locked = bytearray(whole)
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    for content, message in (
        (bytes(locked), "encrypted"),
        (whole.replace(b"Some", b"None"), "Bad CRC-32"),
        (whole.replace(b"PK\x01\x02", b"PK\x01\x09"), "damaged or cut short"),
    ):
        path.write_bytes(content)
        assert message in refusal(lambda: Files(path).read("a.txt"))


def test_what_is_not_a_file(tmp_path) -> None:
    assert "file not found" in refusal(Files, tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert Files(tmp_path / "empty").names == []


def test_objects_of_anything() -> None:
    assert objects({"a": [{"b": 1}, 2, None]}, "a") == [{"b": 1}, {}, {}]
    assert [objects(each, "a") for each in ({}, [], None, {"a": 1}, {"a": {"b": 1}})] == [[]] * 5
