"""Finding a corpus reader by its name: one file of ``favor/corpora/readers`` is one reader."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import cast

from favor.corpora.posts import Reader
from favor.foundation.errors import UserError
from favor.foundation.names import nearest

READERS_FOLDER = Path(__file__).with_name("readers")


def reader_names(folder: Path = READERS_FOLDER) -> tuple[str, ...]:
    """Return the names of the readers there are, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")))


def reader_path(kind: str) -> Path:
    """Return the source file of the reader ``kind``. Raises ``UserError`` where there is none."""
    names = reader_names()
    if kind not in names:
        raise UserError(f"corpus key 'reader': there is no '{kind}'; {nearest(kind, names)}")
    return READERS_FOLDER / f"{kind}.py"


def open_reader(kind: str) -> Reader:
    """Return the reader module named ``kind`` (blog_csv, blog_xml, mythos, table, or one that the user added).

    Raises ``UserError`` where the readers' folder holds no such file or the file defines no ``read``.
    """
    path = reader_path(kind)
    module = import_module(f"favor.corpora.readers.{kind}")
    if not callable(getattr(module, "read", None)):
        raise UserError(f"{path}: defines no function read(path, settings); add it (see docs/extending.md)")
    return cast(Reader, module)
