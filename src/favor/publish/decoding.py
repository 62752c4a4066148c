"""Other ways of writing a text, undone: what a file that is to be published may say in escapes, entities or digits.

Every function returns candidates. A candidate that is not text does no harm, because it only counts where something
private is found in it.
"""

import base64
import binascii
import contextlib
import html
import itertools
import quopri
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from favor.tables.escape import unlatex

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U([0-9a-fA-F]{8})")
_OCTAL = re.compile(r"\\([0-3][0-7]{2})")
_LONGEST_TEXT = 0x10FFFF
_DEPTH = 3  # escapes within escapes that are undone
_HEXADECIMAL = re.compile(r"(?:(?:0x)?[0-9a-fA-F]{2}[\s,:]*){12,}")
_DECIMAL = re.compile(r"(?:\b\d{2,3}[\s,;]+){12,}\d{2,3}\b")
# Lines may be indented, and as short as sixteen digits.
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/_-]{16,}[ \t]*\r?\n[ \t]*)+[A-Za-z0-9+/_-]*={0,2}|[A-Za-z0-9+/_-]{24,}={0,2}")
_BASE32 = re.compile(r"[A-Z2-7]{32,}={0,6}")
_BASE85 = re.compile(r"[!-~]{40,}")
# The first bytes of archives and compressed or binary files.
_LONG_MAGIC = (
    *(b"\x1f\x8b\x08", b"PK\x03\x04", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd", b"%PDF", b"%!PS", b"\x89PNG"),
    *(b"PAR1", b"BZh91AY", b"ustar"),
)
_MAGIC = (
    *_LONG_MAGIC,
    b"\x1f\x8b",
    b"BZh",
    b"\x78\x01",
    b"\x78\x5e",
    b"\x78\x9c",
    b"\x78\xda",
)  # the last four: zlib's


def written_out(text: str) -> Iterator[str]:
    """Yield ``text`` as a reader of another format sees it, where that differs: LaTeX, HTML, URLs, escapes, mail."""
    for marker, undone in (("\\", _without_escapes), ("\\", unlatex), ("&", html.unescape), ("%", unquote)):
        plain = text
        for _ in range(_DEPTH):
            plain, before = undone(plain) if marker in plain else plain, plain
            if plain == before:
                break
            yield plain
    if "<" in text and ">" in text:
        yield re.sub(r"<[^>]*>", "", text)
    if "\\" in text:
        shown = re.sub(r"\\[A-Za-z]+\*?|@\{[^}]*\}", " ", unlatex(text))  # @{...} sets the space between columns
        yield re.sub(r"[{}\\]", "", shown)
    if "=20" in text or "=\n" in text:
        yield quopri.decodestring(text.encode()).decode("utf-8", "ignore")


def _without_escapes(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        number = int(found[1] or found[2] or found[3], 16)
        return chr(number) if number <= _LONGEST_TEXT else found[0]

    plain = _OCTAL.sub(lambda found: chr(int(found[1], 8)), _ESCAPE.sub(character, text))
    # JSON and Java write what lies beyond 16 bits in two halves.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decoded(text: str) -> Iterator[str]:
    """Yield texts that stand in ``text`` as digits: hexadecimal, decimal, base64, base32 or base85."""
    for found in _DECIMAL.finditer(text):
        numbers = list(map(int, re.findall(r"\d+", found[0])))
        if max(numbers) < 256:
            yield from _readable(bytes(numbers))
    for content in itertools.chain(_base64_contents(text), _other_contents(text)):
        yield from _readable(content)


def holds_an_archive(text: str) -> bool:
    """Whether digits in ``text`` begin like an archive, or like another kind of file that cannot be searched."""
    # Two bytes are too few in hexadecimal, which digests are written in.
    return any(content.startswith(_MAGIC) for content in _base64_contents(text, starts=1)) or any(
        content.startswith(_LONG_MAGIC) for content in _other_contents(text)
    )


def is_an_archive(content: bytes) -> bool:
    """Whether these are the bytes of a file that cannot be searched, although they may all be letters."""
    return content.startswith(_LONG_MAGIC)


def _other_contents(text: str) -> Iterator[bytes]:
    """Yield what stands in ``text`` in hexadecimal, base32 and base85."""
    for found in _HEXADECIMAL.finditer(text):
        digits = re.sub(r"0x|[\s,:]", "", found[0])
        yield bytes.fromhex(digits[: len(digits) // 2 * 2])
    for found in _BASE32.finditer(text):
        digits = found[0].rstrip("=")
        yield from _tried(base64.b32decode, digits.ljust(-(-len(digits) // 8) * 8, "="))
    for found in _BASE85.finditer(text):
        for decode in (base64.b85decode, base64.a85decode):
            yield from _tried(decode, found[0])


def _base64_contents(text: str, starts: int = 4) -> Iterator[bytes]:
    for found in _BASE64.finditer(text):
        digits = re.sub(r"[\s=]", "", found[0]).translate(str.maketrans("-_", "+/"))
        for start in range(starts):  # what stands before it may look like digits too
            run = digits[start:]
            yield base64.b64decode(run[: len(run) - len(run) % 4] + _padded(run))


def _padded(digits: str) -> str:
    """The last one to three base64 digits as a whole group; a single one holds no byte."""
    rest = digits[len(digits) - len(digits) % 4 :]
    return rest.ljust(4, "=") if len(rest) > 1 else ""


def _tried(decode: Callable[[str], bytes], digits: str) -> Iterator[bytes]:
    with contextlib.suppress(binascii.Error, ValueError, OverflowError):
        yield decode(digits)


def _readable(content: bytes) -> Iterator[str]:
    """The text that ``content`` is, if it is one: bytes of anything else are rarely UTF-8 or UTF-16 that prints."""
    kind = ("utf-16-be" if content[0] == 0 else "utf-16-le") if b"\0" in content else "utf-8"
    text = content.decode(kind, "ignore")
    printable = sum(len(each.encode(kind)) for each in text if each.isprintable() or each.isspace())
    if content and printable >= 0.9 * len(content):
        yield text
    # Of the bytes of anything else a third are ASCII that prints; of a text in Latin-1 nearly all.
    plain = sum(byte == 10 or 32 <= byte < 127 for byte in content)
    if kind == "utf-8" and 0.8 * len(content) <= plain < len(content):
        yield content.decode("cp1252", "ignore")
