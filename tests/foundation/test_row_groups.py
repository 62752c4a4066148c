"""Row groups by owner: whole readers see the table as ever, and a reader of some rows reads no byte of the others."""

import builtins
import io
import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, read_row_groups, write_parquet, write_row_groups
from favor.foundation.schemas import Column, Table

TABLE = Table(
    "notes",
    ("kind", "owner", "n"),
    *(Column(name, "string", "") for name in ("kind", "owner", "text")),
    Column("n", "int32", ""),
    Column("vector", "float32s", ""),
)
OWNERS = ("ann", "bob", "eve", "dan")


@pytest.fixture
def frame() -> pd.DataFrame:
    rows = [
        (kind, owner, f"{owner} writes {kind} {n} " + os.urandom(400).hex(), n, np.arange(3, dtype=np.float32) + n)
        for kind in ("test", "train")
        for owner in OWNERS
        for n in range(3)
    ]
    return pd.DataFrame(rows, columns=TABLE.names)


def foreign_ranges(path, owners) -> list[tuple[int, int]]:
    """(start, end) of the bytes of every row group that is not of ``owners``."""
    ranges, footer = [], pq.read_metadata(path)
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        columns = [group.column(at) for at in range(group.num_columns)]
        if columns[1].statistics.min not in owners:
            starts = [column.dictionary_page_offset or column.data_page_offset for column in columns]
            ends = [start + column.total_compressed_size for start, column in zip(starts, columns, strict=True)]
            ranges.append((min(starts), max(ends)))
    return ranges


def test_whole_readers_see_the_table_as_it_was(frame, tmp_path) -> None:
    write_parquet(frame, tmp_path / "plain", TABLE)
    write_row_groups(frame, tmp_path / "grouped", TABLE, "owner")
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "plain", TABLE), read_parquet(tmp_path / "grouped", TABLE))
    write_row_groups(frame.sample(frac=1, random_state=1), tmp_path / "again", TABLE, "owner")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "grouped").read_bytes()
    assert pq.read_metadata(tmp_path / "grouped").num_row_groups == 8


@pytest.mark.parametrize("owners", [("ann",), ("bob", "dan"), ("nobody",)])
def test_rows_of_some_owners_are_those_of_the_whole_table(owners, frame, tmp_path) -> None:
    write_row_groups(frame, tmp_path / "t", TABLE, "owner")
    whole = read_parquet(tmp_path / "t", TABLE)
    expected = whole[whole["owner"].isin(owners)].reset_index(drop=True)
    pd.testing.assert_frame_equal(read_row_groups(tmp_path / "t", TABLE, "owner", owners), expected)


def test_every_read_is_of_the_footer_or_of_the_own_rows(frame, tmp_path, monkeypatch) -> None:
    path = tmp_path / "t"
    write_row_groups(frame, path, TABLE, "owner")
    reads = []

    class Recorded(io.FileIO):
        def read(self, size=-1) -> bytes:
            start = self.tell()
            found = super().read(size)
            reads.append((start, start + len(found)))
            return found

        def readinto(self, buffer) -> int:
            start = self.tell()
            count = super().readinto(buffer)
            reads.append((start, start + count))
            return count

    # A file object without a buffer of its own: what is recorded is what is read.
    monkeypatch.setattr(builtins, "open", lambda name, mode: Recorded(name, mode.replace("b", "")))
    own = read_row_groups(path, TABLE, "owner", ["bob"])
    monkeypatch.undo()
    assert set(own["owner"]) == {"bob"}
    assert len(own) == 6
    foreign = foreign_ranges(path, ["bob"])
    assert (len(foreign), sum(end - start for start, end in reads) > 0) == (6, True)
    assert not [read for read in reads for start, end in foreign if read[0] < end and start < read[1]]


def test_the_footer_quotes_no_text(frame, tmp_path) -> None:
    write_row_groups(frame, tmp_path / "t", TABLE, "owner")
    content = (tmp_path / "t").read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    assert b"writes" not in content[-8 - length :]
    assert all(owner.encode() in content[-8 - length :] for owner in OWNERS)


def test_another_file_is_refused_in_one_line(frame, tmp_path) -> None:
    write_parquet(frame, tmp_path / "plain", TABLE)
    write_row_groups(frame, tmp_path / "t", TABLE, "owner")
    (tmp_path / "half").write_bytes((tmp_path / "t").read_bytes()[:-20])
    other = Table("other", ("kind",), *TABLE.columns[:3])
    for name, table, problem in (
        ("none", TABLE, "file not found; run the workflow"),
        ("plain", TABLE, "rows of several values of 'owner' lie together"),
        ("t", other, "does not hold the table 'other'"),
        ("half", TABLE, "its end is missing"),
    ):
        with pytest.raises(UserError, match=problem):
            read_row_groups(tmp_path / name, table, "owner", ["ann"])
