"""Opening a source file: plain, gzip or zip, as bytes or text, with one clear line for each way it can be broken."""

import codecs
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from favor.foundation.errors import UserError
from favor.foundation.names import printable

GZIP_MAGIC, ZIP_MAGIC = b"\x1f\x8b", b"PK\x03\x04"
OTHER_MAGIC = (b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!")  # bzip2, xz, Zstandard, 7-Zip, RAR
# What reading a damaged archive raises, and what it raises besides while its table of contents is read.
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, struct.error)
DAMAGED_CONTENTS = (*DAMAGED, ValueError, KeyError, IndexError, OverflowError)

# Text shrinks to a tenth, JSON of many like rows to a thirtieth. A file beyond both is made to fill memory.
MOST_RATIO, FEW_BYTES = 200, 10_000_000
START = 64  # bytes that tell UTF-16
NO_ENCODING = "is unknown or not one of text; use a name such as utf-8, cp1252 or latin-1"


def too_large(size: int, packed: int) -> bool:
    """Whether ``packed`` bytes that unpack to ``size`` are made to fill memory."""
    return size > max(FEW_BYTES, MOST_RATIO * packed)


def open_zip(file: Path | BinaryIO, name: str) -> zipfile.ZipFile:
    """Open a zip; ``name``: for messages.

    Raises ``UserError`` for bzip2 and LZMA, of which a few bytes fill memory, and for a file that is there twice: only
    the last one would be read.
    """
    archive = zipfile.ZipFile(file)
    twice = [member for member, count in Counter(archive.namelist()).items() if count > 1]
    packings = {member.compress_type for member in archive.infolist()}
    if twice or packings - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        archive.close()
        what = f"holds {printable(twice[0])} twice" if twice else "is packed as no service does (bzip2, LZMA, ...)"
        raise UserError(f"{name}: {what}; unpack it, and give what it held")
    return archive


class _Bounded(io.RawIOBase):
    """An unpacked stream that ends in ``UserError`` where it is longer than text of its packed size can be."""

    def __init__(self, stream: IO[bytes], packed: int, name: str) -> None:
        self._stream, self._packed, self._name, self._read = stream, packed, name, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        found = self._stream.read(len(buffer))
        self._read += len(found)
        if too_large(self._read, self._packed):
            raise UserError(
                f"{self._name}: {self._packed:,} bytes unpack to over {self._read:,}, more than text does; "
                "unpack it yourself if you trust it, and give the file"
            )
        buffer[: len(found)] = found
        return len(found)


@contextmanager
def open_bytes(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[BinaryIO, str]]:
    """Yield (uncompressed byte stream, name for messages) of ``path``.

    Compression is told from the content. A zip must hold exactly one file whose name ends in one of ``suffixes``.
    Raises ``UserError`` where the file is missing, unreadable, empty, truncated or an unsuitable archive.
    """
    try:
        with ExitStack() as stack:
            raw = stack.enter_context(path.open("rb"))
            magic = raw.read(4)
            raw.seek(0)
            if not magic:
                raise UserError(f"{path}: is empty; fetch the file again")
            if magic.startswith(GZIP_MAGIC):
                unpacked = cast(BinaryIO, stack.enter_context(gzip.open(raw)))
                yield _bounded(unpacked, path, str(path)), str(path)
            elif magic.startswith(ZIP_MAGIC):
                member, content = _only_member(raw, path, suffixes)
                name = f"{path}:{printable(member)}"
                yield _bounded(stack.enter_context(content), path, name), name
            elif magic.startswith(OTHER_MAGIC):
                raise UserError(
                    f"{path}: is compressed, and not as .gz or .zip; unpack it or compress it as one of them"
                )
            else:
                yield raw, str(path)
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; check the corpus key 'path'") from None
    except DAMAGED as error:
        raise UserError(f"{path}: the archive is damaged or cut short ({error}); fetch it again") from None
    except (OSError, NotImplementedError, RuntimeError) as error:  # zipfile: unknown compression, encrypted member
        raise UserError(f"{path}: cannot be read ({error}); give one file, which you may read") from None


def _bounded(stream: BinaryIO, path: Path, name: str) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Bounded(stream, path.stat().st_size, name), 1 << 16))


def _only_member(raw: BinaryIO, path: Path, suffixes: tuple[str, ...]) -> tuple[str, BinaryIO]:
    try:
        archive = open_zip(raw, str(path))
        names = [
            name
            for name in archive.namelist()
            if name.lower().endswith(suffixes) and not name.startswith("__MACOSX/") and not name.endswith("/")
        ]
        if len(names) == 1:
            return names[0], cast(BinaryIO, archive.open(names[0]))
    except DAMAGED_CONTENTS as error:
        raise UserError(f"{path}: the archive is damaged or cut short ({error}); fetch it again") from None
    raise UserError(
        f"{path}: the archive holds {len(names)} files ending in {' or '.join(suffixes)}, not one; unpack it"
    )


@contextmanager
def open_text(
    path: Path, encoding: str, suffixes: tuple[str, ...], has_key: bool = True
) -> Iterator[tuple[TextIO, str]]:
    """Yield (text stream with line ends kept, name for messages); a UTF-8 byte-order mark is skipped.

    ``has_key``: whether the configuration has a key ``encoding`` for the file. Raises what :func:`open_bytes` raises,
    and ``UserError`` where the encoding is unknown, the file is UTF-16 and the encoding another, or a byte that is read
    is not in the encoding.
    """
    with open_bytes(path, suffixes) as (stream, name):
        refuse_utf_16(cast(io.BufferedReader, stream).peek(START), encoding, name, has_key)
        try:
            yield io.TextIOWrapper(stream, encoding=_codec(encoding), newline=""), name
        except UnicodeError:  # not only UnicodeDecodeError: UTF-16 without a byte-order mark
            raise _undecodable(name, undecodable_place(path, encoding, suffixes), encoding, has_key) from None


def decoded(content: bytes, encoding: str, name: str, has_key: bool) -> str:
    """Return a file's text without a byte-order mark. Raises ``UserError`` as :func:`open_text`."""
    refuse_utf_16(content, encoding, name, has_key)
    try:
        return content.decode(_codec(encoding))
    except UnicodeError as error:
        offset = getattr(error, "start", 0)  # UTF-16 without a byte-order mark names no place
        raise _undecodable(name, (1 + content.count(b"\n", 0, offset), offset), encoding, has_key) from None


def _undecodable(name: str, place: tuple[int, int] | None, encoding: str, has_key: bool) -> UserError:
    line, offset = place or (1, 0)
    key = "set the corpus key 'encoding' to the file's own (such as cp1252), or " if has_key else ""
    return UserError(f"{name}: line {line:,}: byte {offset:,} is not {encoding}; {key}save the file as UTF-8")


def _codec(encoding: str) -> str:
    name = known_encoding(encoding)
    return "utf-8-sig" if name == "utf-8" else name


def utf_16(start: bytes) -> str | None:
    """Return which UTF-16 a text of these first bytes is, None where it is another encoding: half of its bytes are NUL.

    With a byte-order mark it is "utf-16", which takes the mark off; UTF-32 is told by its mark too.
    """
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    first, second = start[::2].count(0), start[1::2].count(0)
    return {(False, True): "utf-16-le", (True, False): "utf-16-be"}.get((first > 1, second > 1))


def refuse_utf_16(start: bytes, encoding: str, name: str, has_key: bool) -> None:
    """Refuse a text whose ``start`` is that of UTF-16 where ``encoding`` is another. Raises ``UserError``.

    has_key: whether the configuration has a key ``encoding`` for the file.
    """
    found = utf_16(start[:START])
    if found and not known_encoding(encoding).startswith(found[:6]):
        key = f", or set the corpus key 'encoding' to {found}" if has_key else ""
        raise UserError(f"{name}: is {found}, not {encoding}; save it as {encoding}{key}")


def known_encoding(encoding: str) -> str:
    """Return Python's own name of ``encoding``. Raises ``UserError`` where it knows none."""
    name = text_encoding(encoding)
    if name is None:
        raise UserError(f"encoding {encoding!r} {NO_ENCODING}")
    return name


def undecodable_place(path: Path, encoding: str, suffixes: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the line, from 1, and the offset of the first byte ``encoding`` cannot decode; None where there is none.

    The offset counts bytes of the uncompressed file.
    """
    decoder = codecs.getincrementaldecoder(_codec(encoding))()
    with open_bytes(path, suffixes) as (stream, _):
        line, position = 1, 0
        while True:
            chunk = stream.read(1 << 20)
            pending = len(decoder.getstate()[0])
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeError as error:  # UTF-16 without a byte-order mark names no place
                start = getattr(error, "start", pending) - pending
                return line + chunk.count(b"\n", 0, max(start, 0)), position + start
            if not chunk:
                return None
            position += len(chunk)


def text_encoding(name: str) -> str | None:
    """Return Python's own name of the text encoding ``name``; None where it knows none (rot13 is not one of text)."""
    try:
        "".encode(name)
    except (LookupError, ValueError):  # ValueError: a NUL in the name, or the codec "undefined"
        return None
    found = codecs.lookup(name).name
    return None if found.replace("-", "_") in ("idna", "punycode", "unicode_escape", "raw_unicode_escape") else found
