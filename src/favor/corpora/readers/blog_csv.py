"""The Blog Authorship Corpus as redistributed on Kaggle: one CSV of id,gender,age,topic,sign,date,text.

Plain, .gz or .zip; read as a stream, so the whole corpus (681,288 posts, 800 MB) needs no memory to speak of.
"""

from collections.abc import Iterator
from pathlib import Path

from favor.corpora.delimited import read_columns
from favor.corpora.delimited import suspicions as suspicions
from favor.corpora.posts import RawPost, ReaderSettings

COLUMNS = {"author": "id", "topic": "topic", "date": "date", "text": "text"}
EXPECTED = "id,gender,age,topic,sign,date,text"


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of the CSV at ``path`` in file order.

    Raises ``UserError`` where a column is missing or a row is broken (:mod:`favor.corpora.delimited`).
    """
    names = settings.column_names(COLUMNS)
    for label, (author, topic, date, text) in read_columns(
        path, settings, list(names.values()), names["author"], EXPECTED
    ):
        yield RawPost(author, topic, "", text, date, label)
