"""What a Parquet table of the workflow declares: its columns, their types, units and meaning, and its row order.

Every stage declares its own tables (``favor.<stage>.schemas``). Files are written and read only through these
declarations (:mod:`favor.foundation.parquet`), so a column that is missing, misspelt or of another type stops the step
that meets it.
"""

from dataclasses import dataclass, field
from typing import Literal

import pandas as pd
import pyarrow as pa

Kind = Literal["string", "int32", "int64", "float64", "bool", "strings", "int32s", "float32s", "float64s"]
_TYPES: dict[Kind, pa.DataType] = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "strings": pa.list_(pa.string()),
    "int32s": pa.list_(pa.int32()),
    "float32s": pa.list_(pa.float32()),
    "float64s": pa.list_(pa.float64()),
}


@dataclass(frozen=True)
class Column:
    """One column: name, kind of its values (plural: a list of them), meaning, and unit ("" where none applies).

    Its printed form has no meaning and no unit: these count for the code alone that names them.
    """

    name: str
    kind: Kind
    meaning: str = field(repr=False)
    unit: str = field(default="", repr=False)

    @property
    def dtype(self) -> pa.DataType:
        """The Arrow type of its values."""
        return _TYPES[self.kind]


class Table:
    """One Parquet table: its name, the columns its rows are sorted by, and its columns in file order."""

    def __init__(self, name: str, sort_by: tuple[str, ...], *columns: Column) -> None:
        self.name, self.sort_by, self.columns = name, sort_by, columns

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
AUTHOR = Column("author", "string", "author identifier of the corpus; internal, never published")
CLIENT = Column("client", "string", "anonymous client name, client_001 onwards")
DOCUMENT = Column("document_id", "string", "document identifier, unique in the corpus")
TOPIC = Column("topic", "string", "metadata topic of the author (indUnk: unknown)")
SPLIT = Column("split", "string", "train, validation or test; reference, for a few-shot client's evaluation prototypes")
SEED = Column("seed", "int32", "training seed")
METHOD = Column("method", "string", "method key of the configuration")
PROMPT_ID = Column("prompt_id", "string", "prompt identifier, unique in the experiment")
SAMPLE = Column("sample", "int32", "number of the continuation among those of one prompt, from 0; greedily 0 alone")
OUTPUT, OUTPUT_KEY = (SEED, METHOD, CLIENT, PROMPT_ID, SAMPLE), ("seed", "method", "client", "prompt_id", "sample")
ROUND = Column("round", "int32", "communication round, from 0")
EMBEDDING = Column("embedding", "float32s", "embedding of the text")
TEXT = Column("text", "string", "text")
WORDS = Column("words", "int32", "word units of the text (corpus word expression)", "words")
