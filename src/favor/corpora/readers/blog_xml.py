"""The Blog Authorship Corpus as first published: a folder or zip of {id}.{gender}.{age}.{topic}.{sign}.xml.

The files are not well-formed XML (stray &, <, control characters, no declaration), some are cp1252 and some hold
NULs, so they are scanned for their <date> and <post> elements by a tolerant expression and never parsed as XML.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from favor.corpora.posts import RawPost, ReaderSettings
from favor.foundation.errors import UserError

FILE_NAME = re.compile(r"(?P<author>[^.]+)\.(?P<gender>[^.]*)\.(?P<age>[^.]*)\.(?P<topic>[^.]*)\.(?P<sign>[^.]*)\.xml")
# A post ends at its closing tag; where that is missing, at the next entry's date or the end of the file.
ENTRY = re.compile(
    r"<date>(?P<date>[^<]*)(?:</date>)?"
    r"|<post>(?P<post>.*?)(?:</post>|(?=<date>[^<]{0,40}</date>\s*<post>)|</Blog>\s*\Z|\Z)",
    re.DOTALL | re.IGNORECASE,
)


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of every blog file, files in name order, posts in file order.

    Text is UTF-8 where it can be, else cp1252 (``settings.encoding`` plays no part: the corpus mixes both). Raises
    ``UserError`` where nothing is found, a name has not the five parts, or a file is empty or holds no blog.
    """
    for name, content in _files(path):
        parts = FILE_NAME.fullmatch(PurePosixPath(name).name)
        if parts is None:
            raise UserError(f"{path}: '{name}' is not named id.gender.age.topic.sign.xml; rename or remove it")
        text = _decode(content)
        if not text.strip():
            raise UserError(f"{path}: '{name}' is empty; fetch it again or remove it")
        if not re.search(r"<(?:Blog|post)\b", text, re.IGNORECASE):
            raise UserError(f"{path}: '{name}' holds neither <Blog> nor <post>; fetch it again or remove it")
        date, number = "", 0
        for entry in ENTRY.finditer(text):
            if entry["post"] is None:
                date = entry["date"].strip()
            else:
                number += 1
                yield RawPost(parts["author"], parts["topic"], "", entry["post"], date, f"{name}, post {number}")
                date = ""


def _decode(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    return text.replace("\0", "")


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every .xml file of the folder or zip, in name order."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if _wanted(file.name))
        for name in names:
            try:
                content = (path / name).read_bytes()
            except OSError as error:
                raise UserError(f"{path / name}: cannot be read ({error.strerror}); fix its permissions") from None
            yield name, content
    else:
        try:
            with zipfile.ZipFile(path) as archive:
                names = sorted(
                    name
                    for name in archive.namelist()
                    if _wanted(PurePosixPath(name).name) and not name.startswith("__MACOSX/")
                )
                for name in names:
                    yield name, archive.read(name)
        except FileNotFoundError:
            raise UserError(f"{path}: no such file or folder; mend the corpus path") from None
        except (zipfile.BadZipFile, RuntimeError, OSError) as error:
            raise UserError(f"{path}: neither a folder nor a whole zip ({error}); fetch it again") from None
    if not names:
        raise UserError(f"{path}: holds no .xml file; give the folder or zip of the corpus' blog files")


def _wanted(name: str) -> bool:
    return name.lower().endswith(".xml") and not name.startswith(".")
