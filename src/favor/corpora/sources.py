"""Opening a source file: plain, gzip or zip, as bytes or text, with one clear line for each way it can be broken."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from favor.foundation.errors import UserError

GZIP_MAGIC, ZIP_MAGIC = b"\x1f\x8b", b"PK\x03\x04"


@contextmanager
def open_bytes(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[BinaryIO, str]]:
    """Yield (uncompressed byte stream, name for messages) of ``path``.

    Compression is told from the content. A zip must hold exactly one file whose name ends in one of ``suffixes``.
    Raises ``UserError`` where the file is missing, unreadable, empty, truncated or an unsuitable archive.
    """
    try:
        with ExitStack() as stack:
            raw = stack.enter_context(open(path, "rb"))
            magic = raw.read(4)
            raw.seek(0)
            if not magic:
                raise UserError(f"{path}: is empty; fetch the file again")
            if magic.startswith(GZIP_MAGIC):
                yield cast(BinaryIO, stack.enter_context(gzip.open(raw))), str(path)
            elif magic.startswith(ZIP_MAGIC):
                archive = stack.enter_context(zipfile.ZipFile(raw))
                member = _only_member(archive, path, suffixes)
                yield cast(BinaryIO, stack.enter_context(archive.open(member))), f"{path}:{member}"
            else:
                yield raw, str(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; mend the corpus path") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: the archive is damaged or cut short ({error}); fetch it again") from None
    except (OSError, NotImplementedError, RuntimeError) as error:  # zipfile: unknown compression, encrypted member
        raise UserError(f"{path}: cannot be read ({error}); mend the file or its permissions") from None


def _only_member(archive: zipfile.ZipFile, path: Path, suffixes: tuple[str, ...]) -> str:
    names = [
        name
        for name in archive.namelist()
        if name.lower().endswith(suffixes) and not name.startswith("__MACOSX/") and not name.endswith("/")
    ]
    if len(names) != 1:
        raise UserError(
            f"{path}: the archive holds {len(names)} files ending in {' or '.join(suffixes)}, not one; unpack it"
        )
    return names[0]


@contextmanager
def open_text(
    path: Path, encoding: str, suffixes: tuple[str, ...], errors: str = "strict"
) -> Iterator[tuple[TextIO, str]]:
    """Yield (text stream with line ends kept, name for messages); a UTF-8 byte-order mark is skipped.

    Raises what :func:`open_bytes` raises, and ``UserError`` where the encoding is unknown.
    """
    with open_bytes(path, suffixes) as (stream, name):
        yield io.TextIOWrapper(stream, encoding=_codec(encoding), errors=errors, newline=""), name


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise UserError(f"encoding '{encoding}' is unknown; use a name such as utf-8, cp1252 or latin-1") from None
    return "utf-8-sig" if name == "utf-8" else name


def undecodable_offset(path: Path, encoding: str, suffixes: tuple[str, ...]) -> int:
    """Return the offset, in bytes of the uncompressed file, of the first byte ``encoding`` cannot decode; or -1."""
    decoder = codecs.getincrementaldecoder(_codec(encoding))()
    with open_bytes(path, suffixes) as (stream, _):
        position = 0
        while True:
            chunk = stream.read(1 << 20)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return position - pending + error.start
            if not chunk:
                return -1
            position += len(chunk)


def encoding_error(path: Path, encoding: str, suffixes: tuple[str, ...], name: str, row: str) -> UserError:
    """Return the error that names where ``path`` stops being ``encoding`` and what to do about it."""
    offset = undecodable_offset(path, encoding, suffixes)
    return UserError(
        f"{name}: {row}: byte {offset:,} is not {encoding}; set the corpus key 'encoding' to the file's own "
        "(such as cp1252), or save the file as UTF-8"
    )
