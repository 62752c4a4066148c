"""The ``documents`` table written and read in row groups, so that a whole corpus never stands in memory."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from favor.corpora.schemas import DOCUMENTS, NEAR_DUPLICATES
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet

_Row = tuple[str, str, str, str | bytes, str | bytes, int, str]


def text_digest(text: bytes) -> bytes:
    """Return the 16-byte BLAKE2b digest of a document in UTF-8, by which two documents count as identical."""
    return hashlib.blake2b(text, digest_size=16).digest()


class DocumentWriter:
    """Writes rows of the ``documents`` table, given in the table's order, a row group at a time."""

    GROUP_BYTES = 16_000_000
    GROUP_ROWS = 20_000

    def __init__(self, path: Path) -> None:
        self._schema = DOCUMENTS.schema
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", store_schema=False)
        self._rows: list[_Row] = []
        self._bytes = 0

    def write(self, row: _Row) -> None:
        """Add one document, by the table's columns; bytes are UTF-8."""
        self._rows.append(row)
        self._bytes += len(row[3]) + len(row[4])
        if self._bytes >= self.GROUP_BYTES or len(self._rows) >= self.GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Write what remains and the file's footer."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            values = zip(zip(*self._rows, strict=True), self._schema, strict=True)
            columns = [pa.array(own, field.type) for own, field in values]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._rows, self._bytes = [], 0


def stream_documents(
    path: Path, columns: Sequence[str], rows: int = 8192, authors: Iterable[str] | None = None
) -> Iterator[pd.DataFrame]:
    """Yield ``columns`` of the ``documents`` table at ``path``, at most ``rows`` rows at a time, in file order.

    ``authors``: whose documents are yielded, if not everybody's; "author" is one of ``columns`` then. Raises
    ``UserError`` where the file is missing, truncated or holds another table.
    """
    known = None if authors is None else list(authors)
    try:
        file = pq.ParquetFile(path)
        missing = [name for name in columns if name not in file.schema_arrow.names]
        if missing:
            raise UserError(f"{path}: column '{missing[0]}' of table 'documents' is missing; delete it and run again")
        for batch in file.iter_batches(batch_size=rows, columns=list(columns), use_threads=False):
            frame = batch.to_pandas()
            yield frame if known is None else frame[frame["author"].isin(known)]
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; run the workflow so that it is made") from None
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: not a complete Parquet file ({reason}); delete it and run again") from None


def author_totals(path: Path) -> pd.DataFrame:
    """Return the ``authors`` table of a ``documents`` file, tokens not counted (-1), sorted by author.

    An author's topic is the one most of its documents carry, ties broken by name.
    """
    parts = [
        batch.groupby(["author", "topic"], as_index=False).agg(documents=("words", "size"), words=("words", "sum"))
        for batch in stream_documents(path, ("author", "topic", "words"))
    ]
    if not parts:
        raise UserError(f"{path}: holds no documents; check the corpus and the report of dropped rows")
    topics = pd.concat(parts).groupby(["author", "topic"], as_index=False).sum()
    topics = topics.sort_values(["author", "documents", "topic"], ascending=[True, False, True], kind="stable")
    totals = topics.groupby("author", as_index=False).agg(
        topic=("topic", "first"), documents=("documents", "sum"), words=("words", "sum")
    )
    return totals.assign(
        documents=totals["documents"].astype("int32"), words=totals["words"].astype("int64"), tokens=-1
    )


def copied_documents(paths: Iterable[str | Path]) -> set[str]:
    """Return the documents of the ``near_duplicates`` tables at ``paths``, of which there may be none."""
    return {name for path in paths for name in read_parquet(path, NEAR_DUPLICATES)["document_id"]}
