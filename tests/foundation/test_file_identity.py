"""What a local file or folder is: its bytes, read again only where it looks otherwise."""

import os
from pathlib import Path

import pytest

from favor.foundation import file_identity
from favor.foundation.errors import UserError
from favor.foundation.file_identity import FileIdentities, content


@pytest.fixture(params=["posts.csv", "folder"])
def kept(request, tmp_path) -> tuple[Path, Path]:
    """A file or folder, and the file in it that is edited."""
    path = tmp_path / request.param
    inner = path / "ann" / "a.txt" if request.param == "folder" else path
    inner.parent.mkdir(parents=True, exist_ok=True)
    inner.write_text("one")
    return path, inner


def digest(path, record) -> str:
    identities = FileIdentities(record)
    found = identities.of(str(path))
    identities.write()
    return found


def test_other_bytes_are_another_file_and_a_touch_is_none(kept, tmp_path) -> None:
    path, inner = kept
    record = tmp_path / "record.json"
    first = digest(path, record)
    os.utime(inner, ns=(1, 1))
    assert digest(path, record) == first
    inner.write_text("two")  # as long, and older
    os.utime(inner, ns=(0, 0))
    assert digest(path, record) != first
    inner.write_text("one")
    assert digest(path, record) == first


def test_names_count_in_a_folder_alone(kept) -> None:
    path, inner = kept
    before = content(str(path))
    moved = inner.rename(inner.with_name("b.txt"))
    assert (content(str(moved if path == inner else path)) == before) == (path == inner)


def test_what_looks_the_same_is_not_read_again(kept, tmp_path, monkeypatch) -> None:
    path, _ = kept
    record = tmp_path / "record.json"
    first = digest(path, record)
    monkeypatch.setattr(file_identity, "content", lambda _: pytest.fail("read again"))
    assert digest(path, record) == first


def test_a_plan_reads_what_is_on_record_alone(kept, tmp_path) -> None:
    path, inner = kept
    record = tmp_path / "record.json"
    planning = FileIdentities(record, planning=True)
    assert planning.of(str(path)).startswith("not read yet")
    planning.write()
    assert not record.exists()
    first = digest(path, record)
    inner.write_text("two")
    assert FileIdentities(record, planning=True).of(str(path)) not in (first, planning.of(str(path)))


def test_nothing_there_is_one_line(tmp_path) -> None:
    with pytest.raises(UserError, match=r"gone\.csv: No such file"):
        content(str(tmp_path / "gone.csv"))
