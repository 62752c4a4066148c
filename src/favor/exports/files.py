"""The files of an export: of a folder, of a zip, or one file alone. Nothing is unpacked to the disk."""

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from favor.corpora.sources import DAMAGED_CONTENTS, ZIP_MAGIC, decoded, open_zip, too_large
from favor.foundation.errors import UserError
from favor.foundation.names import printable

MOST_BYTES = 2_000_000_000
HEAD = 4096


class Files:
    """What an export holds, by names relative to it, in name order. ``zipped``: whether it is a zip.

    Raises ``UserError`` where there is nothing, or a zip is broken.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        self._unpacked = (0, 0)  # bytes that were read of a zip, and what they take in it
        try:
            if path.is_dir():
                names = [file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()]
            elif not path.is_file():
                raise UserError(f"{printable(str(path))}: file not found; check the name, and save a pipe as a file")
            else:
                with path.open("rb") as file:
                    zipped = file.read(4) == ZIP_MAGIC
                names = self._members() if zipped else [path.name]
        except OSError as error:
            raise UserError(f"{printable(str(path))}: cannot be read ({error.strerror}); check the file") from None
        self.zipped = self._archive is not None
        self.names = sorted(name for name in names if not name.startswith("__MACOSX/"))
        tops = {name.partition("/")[0] for name in self.names if "/" in name}
        # An archive often has one folder around everything.
        self._top = f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in self.names) else ""

    def _members(self) -> list[str]:
        try:
            self._archive = open_zip(self.path, printable(str(self.path)))
            return [member.filename for member in self._archive.infolist() if not member.is_dir()]
        except (*DAMAGED_CONTENTS, NotImplementedError) as error:
            raise UserError(f"{self.path}: the zip is damaged or cut short ({error}); export it again") from None

    def find(self, pattern: str) -> list[str]:
        """Return the names that match ``pattern`` in full, with or without one folder that is around everything."""
        wanted = re.compile(pattern, re.IGNORECASE)
        return [name for name in self.names if wanted.fullmatch(name) or wanted.fullmatch(name.removeprefix(self._top))]

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises ``UserError`` where it cannot be read or is made to fill memory."""
        if self._archive is not None:
            member = self._archive.getinfo(name)
            sizes = (member.file_size, member.compress_size)
            self._unpacked = (self._unpacked[0] + sizes[0], self._unpacked[1] + sizes[1])
            for size, packed in (sizes, self._unpacked):  # of the file, and of all until now
                if too_large(size, packed) or sizes[0] > MOST_BYTES:
                    raise UserError(
                        f"{self._place(name)}: {packed:,} bytes unpack to {size:,}, more than text does; unpack the "
                        "zip yourself if you trust it, and give the folder"
                    )
        with self._open(name) as file:
            return file.read()

    def head(self, name: str) -> bytes:
        """Return the first bytes of a file, by which its format is told."""
        with self._open(name) as file:
            return file.read(HEAD)

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        try:
            if self._archive is not None:
                with self._archive.open(name) as file:
                    yield file
            else:
                with (self.path / name if self.path.is_dir() else self.path).open("rb") as file:
                    yield file
        except (*DAMAGED_CONTENTS, NotImplementedError, RuntimeError, OSError) as error:
            raise UserError(
                f"{self._place(name)}: cannot be read ({error}); check the file, or export it again"
            ) from None

    def text(self, name: str, encoding: str = "utf-8") -> str:
        """Return a file's text. Raises ``UserError`` where it is in another encoding."""
        return decoded(self.read(name), encoding, self._place(name), has_key=False)

    def json(self, name: str, after: str = "") -> Any:
        """Return the value of a JSON file, or of what follows the first ``after`` in it."""
        text = self.text(name)
        try:
            return json.loads(text.partition(after)[2].rstrip().removesuffix(";") if after else text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{self._place(name)}: is not complete JSON ({error}); export it again") from None

    def broken(self, name: str, what: str) -> UserError:
        """Return the error that says what is wrong with a file."""
        return UserError(f"{self._place(name)}: {what}; export it again")

    @property
    def too_deep(self) -> str:
        """What to do about the first mbox or zip within a folder of this folder, "" where there is none."""
        packed = (name for name in self.names if "/" in name and name.lower().endswith((".mbox", ".zip")))
        found = "" if self.zipped else next(packed, "")
        return found and f"; {printable(found)} lies too deep: put it into the folder itself"

    def _place(self, name: str) -> str:
        alone = self._archive is None and not self.path.is_dir()
        return printable(str(self.path) if alone else f"{self.path}: {name}")


def objects(holder: Any, key: str) -> list[dict[str, object]]:
    """Return the list ``key`` of a JSON object, {} in the place of what is not an object; [] where there is no list."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return [each if isinstance(each, dict) else {} for each in found] if isinstance(found, list) else []
