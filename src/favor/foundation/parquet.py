"""Reading and writing Parquet tables by their declarations: atomically, the same bytes for the same content."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.foundation.tables import Table


def write_parquet(frame: pd.DataFrame, path: str | Path, table: Table) -> None:
    """Write ``frame`` as the declared ``table``: its columns only, in declared order, rows sorted, no metadata.

    Raises ``ValueError`` (a defect of the caller) when a declared column is missing, a column is undeclared, or the
    key columns do not identify the rows.
    """
    names = table.names
    if set(frame.columns) != set(names):
        raise ValueError(f"table {table.name}: columns {sorted(frame.columns)} are not the declared {sorted(names)}")
    ordered = frame.sort_values(list(table.sort_by), kind="stable")[names]
    if ordered.duplicated(list(table.sort_by)).any():
        row = ordered[ordered.duplicated(list(table.sort_by))].iloc[0]
        raise ValueError(f"table {table.name}: two rows share {[row[name] for name in table.sort_by]}")
    arrow = pa.Table.from_pandas(ordered, schema=table.schema, preserve_index=False, safe=True)
    with atomic_path(path) as temporary:
        pq.write_table(arrow.replace_schema_metadata(None), temporary, compression="zstd", store_schema=False)


def read_parquet(path: str | Path, table: Table, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the declared ``table`` (or some of its ``columns``); its schema is checked.

    Raises ``UserError`` where the file is missing, truncated or holds another table.
    """
    try:
        arrow = pq.read_table(path, columns=list(columns) if columns is not None else None)
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; run the workflow so that it is made") from None
    except (pa.ArrowInvalid, pa.ArrowIOError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: not a complete Parquet file ({reason}); delete it and run again") from None
    schema = table.schema
    for name in columns if columns is not None else schema.names:
        if name not in arrow.schema.names:
            raise UserError(
                f"{path}: column '{name}' of table '{table.name}' is missing; delete the file and run again"
            )
        found = arrow.schema.field(name).type
        if not _same_type(found, schema.field(name).type):
            raise UserError(
                f"{path}: column '{name}' is {found}, not {schema.field(name).type}; delete the file and run again"
            )
    return arrow.to_pandas()


def _same_type(found: pa.DataType, declared: pa.DataType) -> bool:
    if pa.types.is_list(declared) or pa.types.is_large_list(declared):
        return (pa.types.is_list(found) or pa.types.is_large_list(found)) and found.value_type == declared.value_type
    return found == declared or (pa.types.is_large_string(found) and pa.types.is_string(declared))
