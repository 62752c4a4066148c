"""A mail's own words: without quoted mail, forwarded mail and signatures, which no standard marks."""

import re

from favor.exports.items import Cut

_DAY = r"(?=.*(?:@|\d{4}|\d[:.]\d\d))"
_VERBS = (
    r"wrote|writes|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|napisał\w*|пишет|написал\w*|написа|"
    r"kirjoitti|yazdı|şunu yazdı|írta|napsal\w*|a scris|έγραψε"
)
# "On 3 May 2021, Ann wrote:" in the languages of common mail programs.
_WROTE = re.compile(
    rf"{_DAY}(?:-{{2,}} ?)?(?:on|am|le|el|il|em|op|den|dnia|w dniu|ti|pe|ke|\d).{{5,300}}"
    rf"(?:\b(?:{_VERBS})\b|写道|寫道|のメール|작성|书写).{{0,120}}:",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(rf"{_DAY}.{{5,300}}:")
# An address in brackets, a date and a colon at the end, or a verb, introduce a quotation in any language.
_ADDRESSED = re.compile(
    rf"(?=.*(?:\d{{4}}|\d[:.]\d\d)).{{0,300}}<[^<>\s@]+@[^<>\s@]+>(?:.{{0,40}}:| (?:{_VERBS}))", re.IGNORECASE
)
_SPLIT_ADDRESS = re.compile(r"(<[^<>\s@]+@[^<>\s@]+)\n(> ?[^\n>]{0,40}:[ \t]*$)", re.MULTILINE)
_SPACES, _MARKS = re.compile("[\xa0\u2000-\u200b\u202f\u3000]"), re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INDENTED = re.compile(r"^[ \xa0\u3000]{1,3}(?=>)", re.MULTILINE)
_DASHED = re.compile(r"-{3,} ?\w[^-\n]{3,60}\w ?-{3,}")  # ---------- Forwarded message ---------
_ORIGINAL = re.compile(
    "(?=.*(?:origin|ursprüngl|oorspronk|oprindelig|opprinnelig|исходн|原始|元の|원본))"
    ".*(?:mess|nachricht|mens|bericht|besked|melding|meddel|wiadom|сообщ|письмо|邮件|郵件|メッセージ|메|mail)",
    re.IGNORECASE,
)
_FORWARD = re.compile(
    "forw|weitergeleitet|transf|reenviad|inoltrat|doorgestuurd|encaminhad|vidarebe|przekazan|пересыл|转发|轉寄|転送",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"(?:from|von|de|da|van|från|fra|od|от|lähettäjä|kimden|feladó|από|発信者|差出人|发件人|寄件者|寄件人|보낸 ?사람)",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?P<label>[^\W\d_][^:<>@,;.?!]{0,24}?) ?: ?(?P<value>.*)")
_ADDRESS, _TIME = re.compile(r"[^\s<>]@[^\s<>]"), re.compile(r"\d{4}|\d[:.]\d\d")
_RULE = re.compile(r"[_*=-]{3,}")
_LIST_FOOTER = re.compile(r"_{5,}|-{5,}")
_SENT_FROM = re.compile(
    r".{0,40}\bOutlook\b.{0,20}<https?://aka\.ms/\w+>|"
    r"(?:sent (?:from|via|using|with(?-i:(?= [A-Z]))) |get outlook for |gesendet (?:von|mit) |von meinem \w+ gesendet"
    r"|envoyé (?:de|depuis) |enviado (?:desde|do|de|a partir) |inviato da|verstuurd vanaf |verzonden vanaf "
    r"|skickat från |sendt fra |wysłane z |отправлено (?:с|из) |lähetetty |发自我的|從我的).{0,60}|.{0,20}から送信",
    re.IGNORECASE,
)
_SIGNATURE_LINES = 10  # of text after "--" without a space or "sent from", which may also divide a mail
_FULL_LINE = 60  # characters of a marked line that a mail program breaks
_FEWEST, _MOST = 3, 8  # lines of a header
_FOOTER_LINES = 8


def own_words(text: str) -> tuple[str, tuple[Cut, ...]]:
    """Return the lines of a plain mail that are the sender's own, and what was cut.

    Cut are lines marked with ">" and the line that introduces them, what follows a divider with the header of an
    earlier mail, and signatures after "-- ". A quotation without any mark cannot be told from the sender's words.
    """
    lines = _SPLIT_ADDRESS.sub(r"\1\2", _INDENTED.sub("", text.replace("\r\n", "\n"))).split("\n")
    kept: list[str] = []
    cuts: list[Cut] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith(">"):
            end = _end_of_quotation(lines, at)
            cuts.append(Cut("quoted", "\n".join(_introduction(kept) + lines[at:end])))
            at = end
        elif reason := _reason_for_rest(lines, at):
            cuts.append(Cut(reason, "\n".join(lines[at:])))
            break
        elif _SENT_FROM.fullmatch(plain(lines[at])):
            end = _end_of_signature(lines, at) if any(map(str.strip, kept)) else at + 1
            cuts.append(Cut("signature", "\n".join(lines[at:end])))
            at = end
        else:
            kept.append(lines[at])
            at += 1
    return "\n".join(kept), tuple(cut for cut in cuts if cut.text.strip())


def plain(line: str) -> str:
    """Return a line as it is compared: ordinary spaces and colons, no marks of direction, no stars of bold text."""
    return _SPACES.sub(" ", _MARKS.sub("", line)).replace("：", ":").replace("*", "").strip()


def _end_of_quotation(lines: list[str], at: int) -> int:
    """Return the place after the marked lines from ``at``; blank lines between them belong to them."""
    end = at
    for place in range(at, len(lines)):
        if lines[place].startswith(">") or (end == place and _is_broken(lines[place - 1 : place + 2])):
            end = place + 1
        elif lines[place].strip():
            break
    return end


def _is_broken(lines: list[str]) -> bool:
    """Whether the second line is the end of the marked one before it, which a mail program broke."""
    first, second, *more = lines
    whole = len(first) >= _FULL_LINE and first.startswith(">") and first[-1] not in ".!?:" and second[:1].islower()
    return whole and all(line.startswith(">") for line in more)


def _end_of_signature(lines: list[str], at: int) -> int:
    """Return the place after a line such as "sent from": what follows is not the writer's, unless more is quoted."""
    places = range(at + 1, min(len(lines), at + 1 + _SIGNATURE_LINES))
    end = next((place for place in places if _reason_for_rest(lines, place)), None)
    if end is None and not any(line.startswith(">") for line in lines[at:]) and len(lines) == places.stop:
        return places.stop
    return end or at + 1


def _introduction(kept: list[str]) -> list[str]:
    """Take the lines that introduce a quotation off the end of ``kept``, and return them."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    start = end
    while start and end - start < 4 and kept[start - 1].strip():
        start -= 1
    size = next((size for size in range(1, min(3, end - start) + 1) if _introduces(kept[end - size : end])), 0)
    if not size and 0 < end - start <= 2 and len(kept) - end <= 1 and _INTRODUCES.fullmatch(_joined(kept[start:end])):
        size = end - start
    taken = kept[end - size :] if size else []
    if size:
        del kept[end - size :]
    return taken


def _introduces(lines: list[str]) -> bool:
    joined = _joined(lines)
    alone = len(lines) == 1 or (joined[:1].isdigit() and all(map(plain, lines)))
    return bool(_WROTE.fullmatch(joined) or (alone and _ADDRESSED.fullmatch(joined)))


def _reason_for_rest(lines: list[str], at: int) -> str:
    """Return why everything from line ``at`` on is cut, "" where it is not."""
    line = plain(lines[at])
    if not line:
        return ""
    rest = [each for each in lines[at + 1 : at + 1 + _MOST] if each.strip()]
    if lines[at] == "-- " or (line == "--" and _ends_soon(lines[at + 1 :])):
        return "signature"
    if not rest:
        return ""
    if _LIST_FOOTER.fullmatch(line) and "mailing list" in rest[0] and len(lines) - at <= _FOOTER_LINES:
        return "boilerplate"
    if _DASHED.fullmatch(line) and (_ORIGINAL.search(line) or any(_HEADER.fullmatch(plain(each)) for each in rest[:2])):
        return "forwarded" if _FORWARD.search(line) else "quoted"
    if line.endswith(":") and _FORWARD.search(line) and is_header(rest):
        return "forwarded"
    if (_RULE.fullmatch(line) and is_header(rest, line.startswith("_" * 20))) or is_header([line, *rest]):
        return "quoted"
    marked = rest[0].startswith(">") or (len(rest) > 2 and any(each.startswith(">") for each in rest[1:3]))
    if not marked and any(_introduces(lines[at : at + size]) for size in (1, 2, 3)):
        return "quoted"
    return ""


def _ends_soon(lines: list[str]) -> bool:
    own = [line for line in lines if line.strip()]
    marked = next((place for place, line in enumerate(own) if line.startswith(">")), len(own))
    return marked <= _SIGNATURE_LINES


def is_header(lines: list[str], divided: bool = False) -> bool:
    """Whether the lines begin with the header of a mail: three lines of label, colon and value, or more.

    The first is a sender: it has an address, and another line a date; or it has a word for "from" that is known, as a
    later line may that has an address. ``divided``: after the divider of Outlook, a date suffices. A value may go on
    in the next line.
    """
    fields: list[tuple[str, str]] = []
    for line in map(plain, lines[:_MOST]):
        if found := _HEADER.fullmatch(line):
            fields.append((found["label"], found["value"]))
        elif fields and (line.startswith("<") or fields[-1][1].endswith((",", ";"))):
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line}")
        else:
            break
    if len(fields) < _FEWEST or not fields[0][1]:
        return False
    senders = [at for at, (_, value) in enumerate(fields) if _ADDRESS.search(value)]
    senders = [at for at in senders if not at or _FROM.fullmatch(fields[at][0])]
    dated = any(_TIME.search(value) for at, (_, value) in enumerate(fields) if at not in senders)
    return bool(_FROM.fullmatch(fields[0][0]) or (dated and (senders or divided)))


def _joined(lines: list[str]) -> str:
    return " ".join(map(plain, lines))
