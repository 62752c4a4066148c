"""A mail's own words: without quoted mail, forwarded mail and signatures, which no standard marks."""

import re

from favor.exports.items import Cut

_DAY = r"(?=.*(?:@|\d{4}|\d[:.]\d\d))"
# "On 3 May 2021, Ann wrote:" in the languages of common mail programs.
_WROTE = re.compile(
    rf"{_DAY}(?:on|am|le|el|il|em|op|den|dnia|w dniu|\d).{{5,300}}\b(?:wrote|writes|schrieb|a écrit|escribió|"
    r"ha scritto|escreveu|schreef|skrev|napisał\w*|пишет|написал\w*)\b.{0,120}:",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(rf"{_DAY}.{{5,300}}:")
_DASHED = re.compile(r"-{3,} ?\w[^-\n]{3,60}\w ?-{3,}")  # ---------- Forwarded message ---------
_FORWARD = re.compile(
    "forw|weitergeleitet|transf|reenviad|inoltrat|doorgestuurd|encaminhad|vidarebe|przekazan|пересыл", re.IGNORECASE
)
_FROM = re.compile(r"\*?(?:from|von|de|da|van|från|fra|od|от) ?:\*? ?\S.*", re.IGNORECASE)
_HEADER = re.compile(r"\*?[^\W\d_][\w-]{0,11}(?: [\w-]{1,10})? ?:\*?(?: .*)?")
_RULE = re.compile(r"[_*-]{5,}")
_SENT_FROM = re.compile(
    r"(?:sent from (?:my |the )?(?:\w+ ){0,2}(?:iphone|ipad|android|phone|mobile|galaxy|blackberry|outlook|mail|yahoo)"
    r"|get outlook for |von meinem \w+ gesendet|envoyé de mon |enviado desde mi |inviato da |verstuurd vanaf mijn )"
    r".{0,60}",
    re.IGNORECASE,
)
_SIGNATURE_LINES = 10  # of text after "--" without a space, which may also divide a mail
_HEADERS = 3
_AHEAD = 9  # lines that are looked at after a divider


def own_words(text: str) -> tuple[str, tuple[Cut, ...]]:
    """Return the lines of a plain mail that are the sender's own, and what was cut.

    Cut are lines marked with ">" and the line that introduces them, what follows a divider with the header of an
    earlier mail, and signatures after "-- ". A quotation without any mark cannot be told from the sender's words.
    """
    lines = text.replace("\r\n", "\n").split("\n")
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
        elif _SENT_FROM.fullmatch(lines[at].strip()):
            cuts.append(Cut("signature", lines[at]))
            at += 1
        else:
            kept.append(lines[at])
            at += 1
    return "\n".join(kept), tuple(cut for cut in cuts if cut.text.strip())


def _end_of_quotation(lines: list[str], at: int) -> int:
    """Return the place after the marked lines from ``at``; blank lines between them belong to them."""
    end = at
    for place in range(at, len(lines)):
        if lines[place].startswith(">"):
            end = place + 1
        elif lines[place].strip():
            break
    return end


def _introduction(kept: list[str]) -> list[str]:
    """Take the lines that introduce a quotation off the end of ``kept``, and return them."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    start = end
    while start and kept[start - 1].strip():
        start -= 1
    sizes = range(1, min(3, end - start) + 1)
    size = next((size for size in sizes if _WROTE.fullmatch(_joined(kept[end - size : end]))), 0)
    if not size and 0 < end - start <= 2 and len(kept) - end <= 1 and _INTRODUCES.fullmatch(_joined(kept[start:end])):
        size = end - start
    taken = kept[end - size :] if size else []
    if size:
        del kept[end - size :]
    return taken


def _reason_for_rest(lines: list[str], at: int) -> str:
    """Return why everything from line ``at`` on is cut, "" where it is not."""
    line = lines[at].strip()
    if not line:
        return ""
    rest = [each for each in lines[at + 1 : at + 1 + _AHEAD] if each.strip()]
    if lines[at] == "-- " or (line == "--" and _ends_soon(lines[at + 1 :])):
        return "signature"
    if not rest:
        return ""
    if _DASHED.fullmatch(line) and any(_HEADER.fullmatch(each.strip()) for each in rest[:2]):
        return "forwarded" if _FORWARD.search(line) else "quoted"
    if line.endswith(":") and _FORWARD.search(line) and _is_header(rest):
        return "forwarded"
    if (_RULE.fullmatch(line) and _is_header(rest)) or _is_header([line, *rest]):
        return "quoted"
    marked = rest[0].startswith(">") or (len(rest) > 2 and any(each.startswith(">") for each in rest[1:3]))
    if not marked and any(_WROTE.fullmatch(_joined(lines[at : at + size])) for size in (1, 2, 3)):
        return "quoted"
    return ""


def _ends_soon(lines: list[str]) -> bool:
    own = [line for line in lines if line.strip()]
    marked = next((place for place, line in enumerate(own) if line.startswith(">")), len(own))
    return marked <= _SIGNATURE_LINES


def _is_header(lines: list[str]) -> bool:
    """Whether the lines begin with the header of a mail, as Outlook and Apple Mail write it in any language."""
    first = [line.strip() for line in lines[:_HEADERS]]
    return len(first) == _HEADERS and bool(_FROM.fullmatch(first[0])) and all(map(_HEADER.fullmatch, first))


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)
