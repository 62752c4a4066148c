"""What cleaning does to one text."""

import html
import re

LINK_MARKER = "urlLink"  # stands in the corpus where a post had a link
_LINK = re.compile(rf"\b{LINK_MARKER}\b")
# Control characters other than tab and line ends, and invisible marks that split words or start files.
INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff]")

SPACES = re.compile("  +")


def clean_text(text: str) -> str:
    """Return ``text`` with entities resolved, link markers and control characters removed and white space settled.

    Bytes 0x80-0x9f left over from cp1252 become the characters they stood for. Idempotent but for entities, which
    are resolved once ("&amp;lt;" is the text "&lt;").
    """
    if "&" in text:
        text = html.unescape(text)
    if LINK_MARKER in text:
        text = _LINK.sub(" ", text)
    text = text.strip(" \t\r\n")
    if not text.isprintable():  # of white space, a printable text has spaces alone
        text = INVISIBLE.sub(_visible, text)
    else:
        return SPACES.sub(" ", text)
    if "\n" in text or "\r" in text:
        lines = [" ".join(line.split()) for line in text.replace("\r", "\n").split("\n")]
        return "\n".join([line for line in lines if line])
    return " ".join(text.split())


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if "\x80" <= character <= "\x9f":
        return character.encode("latin-1").decode("cp1252", errors="ignore")
    return "" if character in "\u200b\u2060\ufeff" else " "
