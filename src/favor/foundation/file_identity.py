"""What a local file or folder is: a digest of its bytes, read again only where names, sizes or times differ."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json


def appearance(path: str) -> str:
    """Return 16 digits of names, sizes and times (nanoseconds) of a file, or of all files in a folder.

    Raises ``UserError`` where there is nothing.
    """
    return _digest(path, lambda file: f"{file.stat().st_size} {file.stat().st_mtime_ns}")


def content(path: str) -> str:
    """Return 16 digits of the bytes of a file, or of the names and bytes of all files in a folder.

    The name of the file or folder itself does not count. Raises ``UserError`` where there is nothing.
    """
    return _digest(path, _bytes_of)


def _digest(path: str, said: Any) -> str:
    found = hashlib.sha256()
    try:
        for name, file in _files(Path(path).expanduser()):
            found.update(f"{name}\0{said(file)}\n".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; correct the path, or put it back") from None
    return found.hexdigest()[:16]


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if not path.is_dir():
        yield "", path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield str(file.relative_to(path)), file


def _bytes_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FileIdentities:
    """Digests of files and folders, kept in the file ``record`` with how each looked, so that none is read twice.

    ``planning``: what is not on record is not read. Nothing made of it is on record either.
    """

    def __init__(self, record: Path, planning: bool = False) -> None:
        self._record, self._planning = record, planning
        self._kept: dict[str, list[str]] = read_json(record) if record.is_file() else {}
        self._found: dict[str, list[str]] = {}

    def of(self, path: str) -> str:
        """Return the digest of what is at ``path``. Raises ``UserError`` where there is nothing."""
        if path not in self._found:
            looks, kept = appearance(path), self._kept.get(path)
            if kept is None and self._planning:
                return f"not read yet: {looks}"
            digest = kept[1] if kept is not None and kept[0] == looks else content(path)
            self._found[path] = [looks, digest]
        return self._found[path][1]

    def write(self) -> None:
        """Write down what was read, where that is news."""
        kept = {**self._kept, **self._found}
        if kept != self._kept:
            write_json(kept, self._record)
            self._kept = kept
