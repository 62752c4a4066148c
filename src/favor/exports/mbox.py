"""Mail: an mbox file, Apple's folder with one in it, a file or folder of .eml, a Maildir.

An author is an address. A mail is its text parts without attachments; of alternatives the plain one, of HTML what a
person wrote in it.
"""

import mmap
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import text_encoding
from favor.exports.files import Files
from favor.exports.items import UNKNOWN, Cut, Export, Item, tidy
from favor.exports.mail_text import own_words
from favor.exports.markup import html_text
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}  # the format has none to name
# What mails of these labels hold besides, by the habit of Windows.
_WIDER = {"iso8859-1": "cp1252", "gb2312": "gb18030"}
# At the beginning of a line, which some files end in a carriage return alone; the first may have a byte-order mark.
_SEPARATOR = re.compile(rb"From (?:(?<![^\r\n]From )|(?<=\A\xef\xbb\xbfFrom ))[^\r\n]*(?:\r\n?|\n|\Z)")
_ENVELOPE_DATE = re.compile(rb"(\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d)(?: [+-]\d{4}| [A-Z]{2,5})? (\d{4})\s*$")
_HEADER = re.compile(
    rb"(?:x-[\w-]+|return-path|received|from|date|message-id|delivered-to|mime-version|to|subject|status|reply-to"
    rb"|content-[\w-]+|dkim-[\w-]+|arc-[\w-]+|envelope-to|sender|user-agent|in-reply-to|references)[ \t]*:",
    re.IGNORECASE,
)
_DRAFTS = {"draft", "drafts", "entwurf", "entwürfe", "brouillons", "borradores", "bozze", "rascunhos", "concepten"}
_MOST_PARTS, _LONGEST_FIELD = 1000, 65_536
# What the standard library raises on a mail that it cannot parse.
_BROKEN = (ValueError, LookupError, AttributeError, TypeError, MessageError, RecursionError)


class _Body(NamedTuple):
    """The text of a part. ``readable``: whether its bytes are text in any encoding that is tried."""

    text: str = ""
    cuts: tuple[Cut, ...] = ()
    readable: bool = True


def matches(files: Files) -> bool:
    """Whether this is a file that begins as an mbox does, Apple's folder of one, or mails in files of their own."""
    # One mail among a writer's notes does not make them a mailbox.
    return _box(files) is not None or len(_single(files)) > len(files.find(r".*\.(?:txt|md|markdown|html?)"))


def _box(files: Files) -> Path | None:
    path = files.path / "mbox" if files.path.is_dir() else files.path
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return path if file.read(8).removeprefix(BOM_UTF8).startswith(b"From ") else None


def _single(files: Files) -> list[str]:
    """Return the files that are one mail each: .eml, or those of a Maildir."""
    maildir = [name for name in files.find(r"(?:.*/)?(?:cur|new)/[^/]+") if _HEADER.match(files.head(name))]
    return sorted({*files.find(r".*\.eml"), *maildir})


def _mails(files: Files) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield label, envelope (the line before a mail in an mbox) and bytes of every mail."""
    path = _box(files)
    if path is None:
        for name in _single(files):
            yield printable(name), b"", files.read(name).lstrip(BOM_UTF8 + b"\r\n")
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as box:
        number, start, envelope = 0, 0, b""
        for found in _SEPARATOR.finditer(box):
            if not number or _separates(box, found):
                if number:
                    yield f"mail {number:,}", envelope, box[start : found.start()]
                number, start, envelope = number + 1, found.end(), found[0]
        yield f"mail {number:,}", envelope, box[start:]


def _separates(box: mmap.mmap, found: re.Match[bytes]) -> bool:
    """Whether a line that begins with "From " comes before a mail: it ends in a date, or a header follows."""
    blank = box[max(found.start() - 3, 0) : found.start()].endswith((b"\n\n", b"\n\r\n", b"\r\r"))
    headed = blank and _HEADER.match(box[found.end() : found.end() + 99])
    return bool(_ENVELOPE_DATE.search(found[0]) or headed)


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the mails in file order. One that cannot be parsed or decoded is left out."""
    seen: set[str] = set()
    for label, envelope, content in _mails(files):
        try:
            message = BytesParser(_class=_counted(), policy=_POLICY).parsebytes(content)
            item = _mail(message, envelope, label, settings)
            identity = "".join(_fields(message, "message-id")).strip()
        except _BROKEN:
            yield Item(UNKNOWN, "", None, label, left_out="unreadable")
            continue
        if identity and identity in seen and not item.left_out:
            item = item._replace(left_out="repeated")
        seen.add(identity)
        yield item
    for name in () if _box(files) else sorted({*files.names} - {*_single(files)}):
        yield Item(UNKNOWN, "", None, printable(name), left_out="not a mail")


def _counted() -> Callable[..., Message]:
    """Return what makes the parts of one mail; it raises ``ValueError`` at more than any program writes."""
    made = count(1)

    def part(policy: Compat32) -> Message:
        if next(made) > _MOST_PARTS:
            raise ValueError(f"more than {_MOST_PARTS} parts")
        return Message(policy)

    return part


class _Bounded(Compat32):
    """Takes of endless header fields the beginning: what parses them needs the square of their length."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        cut = value[:_LONGEST_FIELD]
        return name, value if value == cut else cut.rpartition(",")[0] or cut


_POLICY = _Bounded()


def _fields(message: Message, name: str) -> list[str]:
    """Return the values of a header field as they are in the mail, in one line."""
    fields = [re.sub("[\r\n]", "", str(value)) for key, value in message.raw_items() if key.lower() == name]
    return [field.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for field in fields]


def _people(message: Message, *names: str) -> list[tuple[str, str]]:
    """Return (name, address) of everybody in header fields; one that cannot be parsed names nobody."""
    found: list[tuple[str, str]] = []
    for field in (field for name in names for field in _fields(message, name)):
        try:
            found += [(_words(name), address) for name, address in getaddresses([field]) if name or address]
        except _BROKEN:
            continue
    return found


def _words(text: str) -> str:
    """Return a header's text with encoded words decoded, as it stands where they are broken."""
    try:
        return str(make_header(decode_header(text))).strip()
    except _BROKEN:
        return text.strip()


def _mail(message: Message, envelope: bytes, label: str, settings: ReaderSettings) -> Item:
    senders = [each for each in _people(message, "from") if "@" in each[1]]
    if not senders:
        return Item(UNKNOWN, "", None, label, left_out="without a sender")
    body = _body(message, settings.table_encoding)
    own, cuts = own_words(body.text)
    fields = _fields(message, "x-gmail-labels")
    labels = {label.strip().casefold() for field in fields for label in _words(field).split(",")}
    automatic = [field.strip().lower() for field in _fields(message, "auto-submitted")]
    reasons = {
        "draft": bool(labels & _DRAFTS),
        "automatic": bool(automatic) and automatic[0] not in ("", "no"),
        "unreadable": not body.readable,
    }
    return Item(
        senders[0][1].casefold(),
        tidy(own),
        _moment(message, envelope),
        label,
        names=tuple(filter(None, [senders[0][0]])),
        cuts=body.cuts + cuts,
        left_out=next((reason for reason, found in reasons.items() if found), ""),
        people=tuple(name or address for name, address in _people(message, "to", "cc", "reply-to", "from")),
    )


def _moment(message: Message, envelope: bytes) -> datetime | None:
    """Return when a mail was written: its date, else that of the line which mail programs put before it."""
    for field in _fields(message, "date"):
        try:
            return parsedate_to_datetime(field)
        except _BROKEN:
            continue
    found = _ENVELOPE_DATE.search(envelope)
    if not found:
        return None
    month, day, time, year = (part.decode() for part in found.groups())
    try:
        return datetime.strptime(f"{day} {month} {year} {time}", "%d %b %Y %H:%M:%S")
    except ValueError:
        return None


def _body(part: Message, encoding: str) -> _Body:
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment":
        return _Body()
    inner = part.get_payload()
    parts = [_body(each, encoding) for each in inner if isinstance(each, Message)] if isinstance(inner, list) else []
    if kind == "message/rfc822":
        return _Body(cuts=tuple(Cut("forwarded", each.text) for each in parts if each.text.strip()))
    if parts:
        if kind == "multipart/alternative":
            return next((each for each in parts if each.text.strip()), parts[0])
        text = "\n\n".join(each.text.strip("\n") for each in parts if each.text.strip())
        return _Body(text, sum((each.cuts for each in parts), ()), all(each.readable for each in parts))
    if kind not in ("text/plain", "text/html"):
        return _Body()
    content = part.get_payload(decode=True)
    decoded = _decoded(content if isinstance(content, bytes) else b"", part.get_content_charset(""), encoding)
    if decoded is None:
        return _Body(readable=False)
    if kind == "text/html":
        return _Body(*html_text(decoded, code=False))
    text = re.sub("\r\n?", "\n", decoded)
    if str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text, str(part.get_param("delsp", "")).lower() == "yes")
    return _Body(_unescaped(text))


def _decoded(content: bytes, declared: str, encoding: str) -> str | None:
    """Return the text of a part; None where its bytes are neither what it declares, nor UTF-8, nor ``encoding``."""
    codec = text_encoding(declared or "utf-8") or "utf-8"
    own = _WIDER.get(codec, codec)
    # Text that is declared as Western and is UTF-8 all the same is UTF-8.
    for name in (*(("utf-8",) if own == "cp1252" else ()), own, "utf-8", encoding):
        try:
            return content.decode(name)
        except UnicodeError:
            continue
    return None


def _unflowed(text: str, without_space: bool) -> str:
    """Join the lines that a mail program broke (RFC 3676). Marked lines stay, because they are cut."""
    lines: list[str] = []
    broken = False
    for line in text.split("\n"):
        marked = line.startswith(">")
        plain = line if marked else line.removeprefix(" ")
        if broken and not marked and plain != "-- ":
            lines[-1] += plain
        else:
            lines.append(plain)
        broken = not marked and plain.endswith(" ") and plain != "-- "
        if broken and without_space:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)


def _unescaped(text: str) -> str:
    """Take off the mark that an mbox puts before lines that begin with "From "; marked lines around it are quoted."""
    lines = ["", *text.split("\n"), ""]
    for place in range(1, len(lines) - 1):
        around = (lines[place - 1], lines[place + 1])
        if lines[place].startswith(">From ") and not any(line.startswith(">") for line in around):
            lines[place] = lines[place][1:]
    return "\n".join(lines[1:-1])


EXPORT = Export("mail (mbox, .eml, Maildir)", matches, items)
read = EXPORT.read
