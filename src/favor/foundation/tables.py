"""What a Parquet table of the workflow declares: its columns, their types, units and meaning, and its row order.

Every stage declares its own tables (``favor.<stage>.tables``). Files are written and read only through these
declarations (:mod:`favor.foundation.parquet`), so a column that is missing, misspelt or of another type stops the step
that meets it.
"""

from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa

STRING = pa.string()
INT32 = pa.int32()
INT64 = pa.int64()
FLOAT = pa.float64()
BOOLEAN = pa.bool_()
FLOATS = pa.list_(pa.float64())
VECTOR = pa.list_(pa.float32())
TOKENS = pa.list_(pa.int32())
TEXTS = pa.list_(pa.string())


@dataclass(frozen=True)
class Column:
    """One column: name, Arrow type, unit ("" where none applies) and meaning.

    Its printed form has no unit and no meaning: these count for the code alone that names them.
    """

    name: str
    dtype: pa.DataType
    unit: str = field(repr=False)
    meaning: str = field(repr=False)


@dataclass(frozen=True)
class Table:
    """One Parquet table: its columns in file order and the columns its rows are sorted by."""

    name: str
    columns: tuple[Column, ...]
    sort_by: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the file."""
        return pa.schema([(column.name, column.dtype) for column in self.columns])

    @property
    def names(self) -> list[str]:
        """Names of the columns in file order."""
        return [column.name for column in self.columns]

    def empty(self) -> pd.DataFrame:
        """Return the table without rows."""
        return self.schema.empty_table().to_pandas()


# Columns that tables of several stages share.
AUTHOR = Column("author", STRING, "", "author identifier of the corpus; internal, never published")
CLIENT = Column("client", STRING, "", "anonymous client name, client_001 onwards")
DOCUMENT = Column("document_id", STRING, "", "document identifier, unique in the corpus")
DATE = Column("date", STRING, "", "day of the post, as 2004-05-12; empty where none can be read")
TOPIC = Column("topic", STRING, "", "metadata topic of the author (indUnk: unknown)")
SPLIT = Column(
    "split", STRING, "", "train, validation or test; reference, for a few-shot client's evaluation prototypes"
)
SEED = Column("seed", INT32, "", "training seed")
METHOD = Column("method", STRING, "", "method key of the configuration")
PROMPT_ID = Column("prompt_id", STRING, "", "prompt identifier, unique in the experiment")
SAMPLE = Column("sample", INT32, "", "number of the continuation among those of one prompt, from 0; greedily 0 alone")
ROUND = Column("round", INT32, "", "communication round, from 0")
EMBEDDING = Column("embedding", VECTOR, "", "embedding of the text")
WRITING_PROMPT = Column("prompt", STRING, "", "writing prompt the text answers; empty where the corpus has none")
TEXT = Column("text", STRING, "", "text")
BYTES = Column("bytes", INT64, "bytes", "size of this one client's part, as an adapter file of its own")
WORDS = Column("words", INT32, "words", "word units of the text (corpus word expression)")
