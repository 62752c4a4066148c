"""Chats and mails among texts: what no reader knows and what holds other people's words as well."""

import re
from collections import Counter
from typing import NamedTuple

from favor.exports.mail_text import is_header, plain

_LINES, _CHARACTERS = 60, 50_000  # of the beginning, which decide
_FEW = 3  # lines of one name, which a diary may have
_HEAD_LINE, _ENDS = 70, (".", "!", "?", "…", ":")  # characters of a line of a time and a name, and no end of one
_TABLE = "which is not read; make a CSV of your own messages with the columns date, author and text"
# What a service's files begin with, and how to give what they hold.
_SERVICES = {
    "Telegram's HTML": (r'class="from_name"', "with everybody's messages; export the chat again as JSON (result.json)"),
    "a chat of Discord": (r'class="?chatlog__|\A=+\s+Guild: |"guild"\s*:\s*\{', _TABLE),
    "a chat of Signal": (r'class="?(?:msg me|msg sender|msg-sender)|<title>Signal|"sent_at"\s*:', _TABLE),
    "a chat of iMessage": (
        r'class="(?:sent|received)(?: iMessage)?">|class="announcement">.{0,99}conversation',
        _TABLE,
    ),
    "a chat of Facebook or Instagram": (r'class="[^"]*\b(?:_a6-h|_2lek)\b|"sender_name"\s*:', _TABLE),
    "a chat of Slack": (r'class="c-message|"(?:client_msg_id|user_profile)"\s*:', _TABLE),
    "a chat of Google": (r'"(?:conversation_state|topic_id)"\s*:|class="haudio', _TABLE),
    "a chat of Teams or Skype": (r'"(?:MessageList|messagetype)"\s*:', _TABLE),
    "a backup of text messages": (r"<sms [^>]*\bbody=", _TABLE),
    "a file of subtitles": (r"\d:\d\d[.,]\d{3} --> \d", "in the words of all who speak; remove it"),
}
_CHAT = "looks like a chat in a form that is not read; export it again (docs/your-voice.md), or remove it"
_NAMED = re.compile(
    r'class="?[^">]*\b(?:sender|author|user-?name|nick(?:name)?|display-?name|speaker)\w*[^>]*>\s*(?:<[^>]*>\s*)*([^<>\n]{1,60})',
    re.IGNORECASE,
)
_HALF = r"(?!\.?\d|:)(?:\s?\(?[ap]\.?\s?m\b\.?\)?)?"
_CLOCKS = [  # a date may be divided by points as well
    re.compile(rf"(?<![\d:]){clock}{_HALF}", re.IGNORECASE)
    for clock in (r"\d{1,2}:\d\d(?::\d\d)?", r"(?<!\.)\d{1,2}\.\d\d(?:\.\d\d)?")
]
_DAYS = re.compile(  # words of a date, which change as names do
    r"(?:mon|tues?|wed|thu|fri|sat|sun|lun|mar|mer|mié|jeu|jue|ven|vie|sam|sáb|dim|dom|seg|ter|qua|qui|sex)\w{0,6}|[dmf][oir]|s[ao]"
    r"|(?:mon|diens|mitt|donners|frei|sams|sonn)\w*(?:tag|woch)|(?:jan|feb|fév|mär|apr|avr|abr|ma[iy]|ju[nl]|jui|aug|ao[uû]|sep|o[ck]t|out|nov|de[czs]|d[ée]c)\w{0,7}",
    re.IGNORECASE,
)
_NICK = re.compile(r"[^<>]{0,40}<[@+ ]?(?P<name>[^<>\s/!]{1,30})> \S")
_WORD = re.compile(r"[^\W\d]\w*|\+\d{5,}")
_TURN = re.compile(
    r"\W*(?P<name>you|me|user|human|prompt|response|ai|chatgpt|assistant|claude|gemini|copilot|gpt-\w+|deepseek|grok|bard)"
    r"(?: said)?\W{0,3}(?::|：|\*\*$|$)",
    re.IGNORECASE,
)
_PEOPLE = {"you", "me", "user", "human", "prompt"}
_ADDRESSED = re.compile(r"<[^<>\s@]+@[^<>\s@]+>[^.]{0,200}\d:\d\d")
_MAIL_LINE = re.compile(r"(?:from|to|cc|subject|date|message-id|received|return-path|mime-version): ?\S", re.IGNORECASE)


def service(beginning: str) -> str:
    """Return of which service a file is, and what to do with it; "" where none is known by how it begins."""
    found = (f"{name}, {remedy}" for name, (sign, remedy) in _SERVICES.items() if re.search(sign, beginning))
    return next(found, "")


def several_people(text: str, page: str = "") -> str:
    """Return what is wrong with a text that is a chat or a mail; "" for a text of one. ``page``: its HTML."""
    beginning = page[:_CHARACTERS] or text[:_CHARACTERS]
    if name := service(beginning):
        return f"is {name}"
    if _repeat(_NAMED.findall(page[:_CHARACTERS])):
        return "is a page of several people's words (comments or a chat); remove it"
    lines = [line.strip() for line in text[:_CHARACTERS].split("\n") if line.strip()]
    turns = [found["name"].casefold() for line in lines if (found := _TURN.match(line))]
    if min(sum(each in _PEOPLE for each in turns), sum(each not in _PEOPLE for each in turns)) > 1:
        return "is a conversation with an assistant, whose words it holds as well; remove it"
    lines = lines[:_LINES]
    headed = sum(bool(_MAIL_LINE.match(line)) for line in lines[:8]) > 2 or is_header(lines)
    if headed or sum(bool(_ADDRESSED.search(line)) for line in lines) > 1:
        return "looks like a mail; name it .eml if it is one, or export the mailbox (mbox)"
    lines = ["", *map(plain, lines), ""]
    heads = [head for at in range(1, len(lines) - 1) if (head := _head(lines[at], lines[at - 1], lines[at + 1]))]
    said = [head.name for head in heads if head.dated]
    if (len(set(said)) > 1 or len(said) > _FEW) and 2 * len(said) > len(lines) - 2:
        return _CHAT
    places = zip(*((head.name, head.before, head.after) for head in heads), strict=True)
    speak = any(_repeat([*filter(None, names)]) for names in places)
    return _CHAT if speak and 8 * len(heads) >= len(lines) - 2 else ""


class _Head(NamedTuple):
    """What stands before a message. ``before``, ``after``: who speaks, in a line of its own. ``dated``: with a day."""

    name: str
    before: str = ""
    after: str = ""
    dated: bool = False


def _head(line: str, *around: str) -> _Head | None:
    """Return what a line with a time in its beginning says of who speaks; None for another line."""
    if found := _NICK.match(line):
        return _Head(found["name"])
    clock = next(filter(None, (form.search(line[:60]) for form in _CLOCKS)), None)
    if not clock:
        return None
    before, behind = line[: clock.start()], line[clock.end() :]
    said = re.match(r"(?P<name>[^:：\t|]{0,70}?)(?P<sign>[:：\t|] ?\S|[:：]$|,\")", behind.lstrip("\t|, "))
    dated = len(re.findall(r"\d+", before + (said["name"] if said else ""))) > 1
    if said and (name := _names(said["name"]) or (_names(before) if before.endswith("(") else "")):
        return _Head(name, dated=dated or "\t" in said["sign"])
    if re.fullmatch(r"\[[^\[\]]+\] \[[^\d]*", before):  # [name] [time] words
        return _Head(_names(before.partition("]")[0]))
    name = _names(before) + _names(behind)
    if len(line) > _HEAD_LINE or (name and line[-1] in _ENDS):
        return None
    over, under = (_names(each) if len(each.split()) < 5 and each[-1:] not in _ENDS[:-1] else "" for each in around)
    return _Head(name, over, under)


def _names(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text) if not _DAYS.fullmatch(word))


def _repeat(names: list[str]) -> bool:
    """Whether several people speak in turn: four times or more, most of them more than once."""
    counts = Counter(" ".join(name.split()) for name in names)
    return len(counts) > 1 and counts.total() > 3 and 2 * len(counts) <= counts.total()
