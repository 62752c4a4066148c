"""Opening a corpus reader by its name: one file of ``favor/corpora/readers`` or ``favor/exports`` is one reader."""

from typing import cast

from favor.corpora.posts import Reader
from favor.foundation.registry import CORPUS_READERS


def open_reader(kind: str) -> Reader:
    """Return the reader module named ``kind`` (blog_csv, mbox, table or another, or one that you added).

    Raises ``UserError`` where the readers' folders hold no such file or the file defines no ``read``.
    """
    return cast(Reader, CORPUS_READERS.load(kind))
