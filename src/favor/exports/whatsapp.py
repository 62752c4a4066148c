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
from favor.exports.items import UNKNOWN, Export, Item, tidy
from favor.foundation.errors import UserError
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}
ORDERS = {"dmy": "%d.%m.%Y", "mdy": "%m/%d/%Y", "ymd": "%Y-%m-%d"}  # and a form that says so
_FIRST_YEAR, _LAST_YEAR = 2009, 2099  # of WhatsApp, by the calendar that is read
_BACK = timedelta(days=1)  # that a message may be older than the one before it
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_TEXT = r".*\.txt"
_BY_PROGRAM = "\0"  # stands for the mark that begins what the program wrote in the place of a text
_LINE = re.compile(
    r"(?P<bracket>\[)?(?P<date>(?P<a>\d{1,4})[./-] ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{1,4}))\.?[,،]?\s"
    r"(?P<before>[^\W\d][^\s\d]{0,15}(?:\s?[^\W\d]\.?)?\s?)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?(?:\s?(?P<half>[^\W\d][^\d\[\]:-]{0,15}?))?"
    r"(?(bracket)\]|\s-)\s(?P<rest>.*)"
)
_MORNING = {"am", "오전", "上午", "午前", "凌晨", "清晨", "早上", "पूर्वाह्न", "ص", "sa", "öö", "de", "πμ", "vorm", "fm"}
_EVENING = {"pm", "오후", "下午", "午後", "中午", "傍晚", "晚上", "अपराह्न", "م", "ch", "ös", "du", "μμ", "nachm", "em"}
_AT = {"", "um", "uhr", "klo", "kl", "at", "à", "às", "om", "в", "alle", "ore", "o", "h"}
_SENDER = re.compile(r"(?P<name>[^:：\n\"“”«»]{1,80}?)[:：](?!//|\d) ?(?P<text>.*)", re.DOTALL)
_NOTE = re.compile(r"(?<!\s)\s*<[^<>\n]{6,60}>$")  # <Media omitted>, <This message was edited> in any language
_ATTACHED = re.compile(
    r"^(?:[^\n]{0,99}\.\w{2,4}(?: \([^()\n]{5,40}\)| ?<[^<>\n]{6,40}>)"
    r"|(?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d+\.\w+)(?:\n|$)",
    re.MULTILINE,
)
# What a program writes in the place of a text: deleted messages, calls, attachments that were not exported.
_PROGRAM = re.compile(
    r"this message was deleted|you deleted this message|null|waiting for this message.*|diese nachricht wurde gelöscht"
    r"|du hast diese nachricht gelöscht|ce message a été supprimé|se eliminó este mensaje|eliminaste este mensaje"
    r"|este mensaje fue eliminado|questo messaggio è stato eliminato|mensagem apagada|ess?t?a mensagem foi apagada"
    r"|dit bericht is verwijderd|bu mesaj silindi|bu mesajı sildiniz|denne beskeden? (?:er|blev) slettet"
    r"|detta meddelande (?:har raderats|raderades)|сообщение удалено|данное сообщение удалено|此消息已删除|此訊息已刪除"
    r"|このメッセージは削除されました|삭제된 메시지입니다|missed (?:group )?(?:voice|video) call"
    r"|(?:image|video|audio|sticker|gif|document|contact card|media|imagem|imagen|vídeo|áudio|figurinha|documento|bild"
    r"|immagine|afbeelding|sprachnachricht) (?:omitted|ocultad[oa]|omitid[oa]|weggelassen|omess[oa]|weggelaten)"
    r"|poll:\n.*",
    re.IGNORECASE | re.DOTALL,
)


def _chats(files: Files) -> list[str]:
    """Return the texts that begin as a chat does."""
    heads = {name: files.head(name).decode("utf-8", "ignore") for name in files.find(_TEXT)}
    return [name for name, head in heads.items() if _LINE.match(_MARKS.sub("", head).lstrip())]


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the messages of every chat; notices, attachments and what the program wrote are left out.

    Raises ``UserError`` where the order of the dates is not known, or not that of the settings.
    """
    order = "".join(re.findall("%-?([dmyY])", settings.date_format or "")).lower()
    chats = _chats(files)
    for other in sorted({*files.find(_TEXT)} - {*chats}):
        yield Item(UNKNOWN, "", None, printable(other), left_out="not a chat")
    remedy = "set the corpus key 'date_format', such as %d/%m/%y" if settings.has_keys else "give --date-order"
    for name in chats:
        messages: list[tuple[str, re.Match[str], list[str]]] = []
        for number, plain, found in _lines(files, name, settings):
            if found:
                messages.append((f"{name}, line {number:,}", found, [found["rest"]]))
            elif messages:
                messages[-1][2].append(plain)
        for label, found, lines in messages:
            try:
                moment = _moment(found, order)
            except ValueError as error:
                if "morning" in str(error) or "calendar" in str(error):
                    remedy = "export the chat again with times of 24 hours and years of our era"
                date = printable(found["date"])
                raise UserError(f"{files.path}: {label}: the date {date} {error}; {remedy}") from None
            yield _message(name, moment, label, lines)


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
    whole = re.sub("\r\n?", "\n", files.text(name, settings.table_encoding))
    for number, line in enumerate(whole.split("\n"), start=1):
        if len(line) > settings.maximum_field_characters:
            raise files.broken(name, f"line {number:,} is longer than {settings.maximum_field_characters:,} characters")
        plain = _MARKS.sub("", line.replace(": \u200e", f": {_BY_PROGRAM}"))
        yield number, plain, _LINE.match(plain)


def _message(chat: str, moment: datetime, label: str, lines: list[str]) -> Item:
    found = _SENDER.fullmatch("\n".join(lines))
    if not found:
        return Item(UNKNOWN, "", moment, label, left_out="notice")
    name = " ".join(found["name"].removeprefix("~").split())
    text, by_program = found["text"].removeprefix(_BY_PROGRAM), found["text"].startswith(_BY_PROGRAM)
    own = tidy(_ATTACHED.sub("", _NOTE.sub("", text.replace(_BY_PROGRAM, ""))))
    # What a program wrote is a line of its own; behind the name of a file a caption may follow.
    if (by_program and not _ATTACHED.match(text)) or _PROGRAM.fullmatch(own.rstrip(".")):
        return Item(name, "", moment, label, chat=chat, left_out="by the program")
    return Item(name, own, moment, label, chat=chat, left_out="" if own else "attachment")


def _moment(found: re.Match[str], order: str) -> datetime:
    """Return when a message was sent. Raises ``ValueError`` that says what is wrong with its date."""
    order = "ymd" if len(found["a"]) == 4 else order
    if sorted(order) != sorted("dmy"):
        raise ValueError("may have day and month in either order")
    parts = dict(zip(order, (int(found[key]) for key in "abc"), strict=True))
    hour = int(found["hour"])
    for word in (re.sub(r"[.\s]", "", found[part] or "").casefold() for part in ("before", "half")):
        if word in _EVENING:
            hour = hour if word == "中午" and hour == 11 else hour % 12 + 12
        elif word in _MORNING:
            hour %= 12
        elif word not in _AT:
            raise ValueError(f"has '{printable(word)}' at its time, which may be morning or evening")
    year = parts["y"] + (2000 if parts["y"] < 100 else 0)
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        raise ValueError(f"is of the year {year}, as another calendar has it")
    try:
        return datetime(year, parts["m"], parts["d"], hour, int(found["minute"]), int(found["second"] or 0))
    except ValueError:
        raise ValueError(f"does not exist in the order {order}") from None


EXPORT = Export("a chat of WhatsApp as text (_chat.txt)", _chats, items)
read = EXPORT.read
