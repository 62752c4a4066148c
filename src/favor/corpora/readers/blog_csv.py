"""The Blog Authorship Corpus as redistributed on Kaggle: one CSV of id,gender,age,topic,sign,date,text.

Plain, .gz or .zip; read as a stream, so the whole corpus (681,288 posts, 800 MB) needs no memory to speak of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from favor.corpora.delimited import column_positions, read_delimited
from favor.corpora.posts import RawPost, ReaderSettings
from favor.foundation.errors import UserError

COLUMNS = {"author": "id", "topic": "topic", "date": "date", "text": "text"}
EXPECTED = "id,gender,age,topic,sign,date,text"
# A post that holds what looks like the next row has swallowed it: its closing quote is missing.
SWALLOWED_ROW = re.compile(r"\n\d+,(?:male|female),\d+,[^,\n]*,[A-Za-z]+,")


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of the CSV at ``path`` in file order.

    Raises ``UserError`` where a column is missing or a row is broken (:mod:`favor.corpora.delimited`), or an author
    is empty.
    """
    records = read_delimited(path, settings)
    header = next(records).fields
    names = [settings.columns.get(ours, theirs) for ours, theirs in COLUMNS.items()]
    author_at, topic_at, date_at, text_at = column_positions(header, names, str(path), EXPECTED)
    for label, fields in records:
        text = fields[text_at]
        if "\n" in text and SWALLOWED_ROW.search(text):
            raise UserError(f"{path}: {label} is broken: its text holds the row after it; close its quote")
        yield RawPost(fields[author_at], fields[topic_at], "", text, fields[date_at], label)
