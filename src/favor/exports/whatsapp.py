"""Chats of WhatsApp as text (_chat.txt): "[date, time] name: text" or "date, time - name: text", in lines that go on.

Whether 03/04/23 is in March or April depends on the telephone, so the order is asked for: ``date_format`` of the
settings gives day, month and year in the order of the dates, whatever stands between them. Forwarded messages are not
marked in these files.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files
from favor.exports.items import Export, Item, tidy
from favor.foundation.errors import UserError
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}
ORDERS = {"dmy": "%d.%m.%Y", "mdy": "%m/%d/%Y", "ymd": "%Y-%m-%d"}  # and a form that says so
_BACK = timedelta(days=1)  # that a message may be older than the one before it
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_BY_PROGRAM = "\0"  # stands for the mark that begins what the program wrote in the place of a text
_LINE = re.compile(
    r"(?P<bracket>\[)?(?P<date>(?P<a>\d{1,4})[./-] ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{1,4}))\.?,?\s(?:[^\W\d]+\s)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?(?:\s?(?P<half>[apAP])\.?\s?[mM]\.?)?"
    r"(?(bracket)\]|\s-)\s(?P<rest>.*)"
)
_SENDER = re.compile(r"(?P<name>[^:\n\"“”«»]{1,80}?):(?: (?P<text>.*)|$)", re.DOTALL)
_NOTE = re.compile(r"\s*<[^<>\n]{6,60}>$")  # <Media omitted>, <This message was edited> in any language
_ATTACHED = re.compile(r"[\w-]+\.\w{3,4} \([^()\n]{5,40}\)(?:\n|$)")
_DELETED = {"this message was deleted", "you deleted this message", "null", "waiting for this message"}
_DELETED |= {"diese nachricht wurde gelöscht", "du hast diese nachricht gelöscht", "ce message a été supprimé"}
_DELETED |= {"se eliminó este mensaje", "eliminaste este mensaje", "questo messaggio è stato eliminato"}
_DELETED |= {"mensagem apagada", "essa mensagem foi apagada", "dit bericht is verwijderd"}


def matches(files: Files) -> bool:
    """Whether a text begins as a chat does."""
    return bool(_chats(files))


def _chats(files: Files) -> list[str]:
    heads = {name: files.head(name).decode("utf-8", "ignore") for name in files.find(r".*\.txt")}
    return [name for name, head in heads.items() if _LINE.match(_MARKS.sub("", head))]


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the messages of every chat; notices and attachments are no text of anybody.

    Raises ``UserError`` where the order of the dates is not known, or not that of the settings.
    """
    order = "".join(re.findall("%-?([dmyY])", settings.date_format or "")).lower()
    remedy = "set the corpus key 'date_format', such as %d/%m/%y" if settings.has_keys else "give --date-order"
    for name in _chats(files):
        pending: tuple[datetime, str, list[str]] | None = None
        for number, plain, found in _lines(files, name, settings):
            if found:
                if pending is not None:
                    yield from _message(name, *pending)
                try:
                    moment = _moment(found, order)
                except ValueError as error:
                    raise UserError(
                        f"{files.path}: {name}, line {number:,}: the date {printable(found['date'])} {error}; {remedy}"
                    ) from None
                pending = (moment, f"{name}, line {number:,}", [found["rest"]])
            elif pending is not None:
                pending[2].append(plain)
        if pending is not None:
            yield from _message(name, *pending)


def orders(files: Files, settings: ReaderSettings) -> set[str]:
    """Return the orders of day, month and year in which every date exists and no chat goes back by over a day."""
    possible = set[str]()
    chats = [[found for _, _, found in _lines(files, name, settings) if found] for name in _chats(files)]
    for order in ORDERS:
        try:
            moments = [[_moment(found, order) for found in chat] for chat in chats]
        except ValueError:
            continue
        if all(later - earlier > -_BACK for chat in moments for earlier, later in pairwise(chat)):
            possible.add(order)
    years_first = all(len(found["a"]) == 4 for chat in chats for found in chat)
    return {"ymd"} if years_first and possible else possible


def _lines(files: Files, name: str, settings: ReaderSettings) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    for number, line in enumerate(files.text(name, settings.table_encoding).split("\n"), start=1):
        plain = _MARKS.sub("", line.removesuffix("\r").replace(": \u200e", f": {_BY_PROGRAM}"))
        yield number, plain, _LINE.match(plain)


def _message(chat: str, moment: datetime, label: str, lines: list[str]) -> Iterator[Item]:
    found = _SENDER.match("\n".join(lines))
    text = (found["text"] or "") if found else ""
    if not found or text.startswith(_BY_PROGRAM):
        return  # a notice, or the place of an attachment
    name = " ".join(found["name"].removeprefix("~").split())
    text = tidy(_ATTACHED.sub("", _NOTE.sub("", text.replace(_BY_PROGRAM, ""))))
    if text and text.rstrip(".").casefold() not in _DELETED:
        yield Item(name, text, moment, label, chat=chat)


def _moment(found: re.Match[str], order: str) -> datetime:
    """Return when a message was sent. Raises ``ValueError`` that says what is wrong with its date."""
    order = "ymd" if len(found["a"]) == 4 else order
    if sorted(order) != sorted("dmy"):
        raise ValueError("may have day and month in either order")
    parts = dict(zip(order, (int(found[key]) for key in "abc"), strict=True))
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] in "pP" else 0)
    year = parts["y"] + (2000 if parts["y"] < 100 else 0)
    try:
        return datetime(year, parts["m"], parts["d"], hour, int(found["minute"]), int(found["second"] or 0))
    except ValueError:
        raise ValueError(f"does not exist in the order {order}") from None


EXPORT = Export("a chat of WhatsApp as text (_chat.txt)", matches, items)
read = EXPORT.read
