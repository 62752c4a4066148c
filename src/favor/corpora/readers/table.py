"""Any corpus as one table (CSV, JSONL or Parquet) with the columns author and text, and optionally topic, prompt, date.

The corpus key ``columns`` gives the file's own names where they differ, such as ``{author: user, text: body}``.
"""

from collections.abc import Iterator
from pathlib import Path

from favor.corpora.delimited import suspicions as suspicions
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.tabular import read_rows

COLUMNS = {"author": "author", "text": "text", "topic": "topic", "prompt": "prompt", "date": "date"}
EXPECTED = "author and text (optional: topic, prompt, date)"


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the rows of the table in file order. Raises ``UserError`` where a column or row is missing or broken."""
    for label, row in read_rows(path, settings, COLUMNS, ("author", "text"), EXPECTED):
        topic = row.get("topic", "").strip() or UNKNOWN_TOPIC
        yield RawPost(row["author"], topic, row.get("prompt", ""), row["text"], row.get("date", ""), label)
