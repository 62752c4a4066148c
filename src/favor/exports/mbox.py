"""Mail as Gmail, Thunderbird and Apple Mail export it: an mbox file, or Apple's folder with one in it.

An author is an address. A mail is its text parts without attachments; of alternatives the plain one, of HTML what a
person wrote in it.
"""

import mailbox
import re
from collections.abc import Iterator
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import NamedTuple, cast

from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import text_encoding
from favor.exports.files import Files
from favor.exports.items import Cut, Export, Item, tidy
from favor.exports.mail_text import own_words
from favor.exports.markup import html_text

COLUMNS: dict[str, str] = {}  # the format has none to name
# What mails of these labels hold besides, by the habit of Windows.
_WIDER = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030"}
_ENVELOPE_DATE = re.compile(rb"(\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d)(?: [+-]\d{4}| [A-Z]{2,5})? (\d{4})\s*$")
_DRAFTS = {"draft", "drafts", "entwurf", "entwürfe", "brouillons", "borradores", "bozze", "rascunhos", "concepten"}
# What the standard library raises on headers that it cannot parse.
_BROKEN = (ValueError, IndexError, AttributeError, TypeError, KeyError, LookupError)


class _Body(NamedTuple):
    """The text of a part. ``readable``: whether its bytes are text in any encoding that is tried."""

    text: str = ""
    cuts: tuple[Cut, ...] = ()
    readable: bool = True


def matches(files: Files) -> bool:
    """Whether this is a file that begins as an mbox does, or Apple's folder of one."""
    return _file(files) is not None


def _file(files: Files) -> Path | None:
    path = files.path / "mbox" if files.path.is_dir() else files.path
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return path if file.read(5) == b"From " else None


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the mails in file order. One that cannot be parsed or decoded is left out."""
    path = _file(files)
    assert path is not None
    box = mailbox.mbox(str(path), factory=None, create=False)
    seen: set[str] = set()
    for number, key in enumerate(box.iterkeys(), start=1):
        with box.get_file(key, from_=True) as file:
            envelope = file.readline()
            message = message_from_bytes(file.read(), policy=policy.default)
        label = f"mail {number:,}"
        try:
            item = _mail(message, envelope, label, settings)
            identity = str(message["message-id"] or "")
        except _BROKEN:
            yield Item("unknown sender", "", None, label, left_out="unreadable")
            continue
        if identity and identity in seen and not item.left_out:
            item = item._replace(left_out="repeated")
        seen.add(identity)
        yield item
    box.close()


def _mail(message: EmailMessage, envelope: bytes, label: str, settings: ReaderSettings) -> Item:
    senders = [each for each in message["from"].addresses if each.addr_spec] if message["from"] else []
    if not senders:
        return Item("unknown sender", "", None, label, left_out="without a sender")
    body = _body(message, settings.table_encoding)
    own, cuts = own_words(body.text)
    labels = {label.strip().casefold() for label in str(message["x-gmail-labels"] or "").split(",")}
    reasons = {
        "draft": bool(labels & _DRAFTS),
        "automatic": str(message["auto-submitted"] or "no").strip().lower() != "no",
        "unreadable": not body.readable,
    }
    return Item(
        senders[0].addr_spec.casefold(),
        tidy(own),
        _moment(message, envelope),
        label,
        names=tuple(filter(None, [senders[0].display_name])),
        cuts=body.cuts + cuts,
        left_out=next((reason for reason, found in reasons.items() if found), ""),
        people=tuple(
            each.display_name or each.addr_spec
            for header in ("to", "cc", "reply-to", "from")
            for field in message.get_all(header, [])
            for each in field.addresses
        ),
    )


def _moment(message: EmailMessage, envelope: bytes) -> datetime | None:
    """Return when a mail was written: its date, else that of the line which mail programs put before it."""
    date = message["date"]
    if date is not None and date.datetime is not None:
        return cast(datetime, date.datetime)
    found = _ENVELOPE_DATE.search(envelope)
    if not found:
        return None
    month, day, time, year = (part.decode() for part in found.groups())
    try:
        return datetime.strptime(f"{day} {month} {year} {time}", "%d %b %Y %H:%M:%S")
    except ValueError:
        return None


def _body(part: EmailMessage, encoding: str) -> _Body:
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment":
        return _Body()
    if kind == "message/rfc822":
        inner = part.get_payload()
        return _Body(cuts=(Cut("forwarded", str(inner[0] if isinstance(inner, list) else inner)),))
    if part.is_multipart():
        parts = [_body(cast(EmailMessage, each), encoding) for each in part.iter_parts()]
        if kind == "multipart/alternative":
            return next((each for each in parts if each.text.strip()), parts[0] if parts else _Body())
        text = "\n\n".join(each.text.strip("\n") for each in parts if each.text.strip())
        return _Body(text, sum((each.cuts for each in parts), ()), all(each.readable for each in parts))
    if kind not in ("text/plain", "text/html"):
        return _Body()
    content = part.get_payload(decode=True)
    decoded = _decoded(content if isinstance(content, bytes) else b"", part.get_content_charset("ascii"), encoding)
    if decoded is None:
        return _Body(readable=False)
    if kind == "text/html":
        return _Body(*html_text(decoded, code=False))
    text = decoded.replace("\r\n", "\n")
    if str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text, str(part.get_param("delsp", "")).lower() == "yes")
    return _Body(_unescaped(text))


def _decoded(content: bytes, declared: str, encoding: str) -> str | None:
    """Return the text of a part; None where its bytes are neither what it declares, nor UTF-8, nor ``encoding``."""
    codec = text_encoding(declared) or "utf-8"
    own = _WIDER.get(codec, codec)
    # Text that is declared as Western or not at all and is UTF-8 all the same is UTF-8.
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


EXPORT = Export("mbox mail (Gmail, Thunderbird, Apple Mail)", matches, items)
read = EXPORT.read
