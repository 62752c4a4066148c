"""Masking personal data in a writer's texts: mail addresses, accounts, long numbers, and people whom exports name."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_FORMS = re.compile(
    r"(?P<address>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<account>(?<![\w@/])@[^\W\d][\w.]*\w(?:@[\w-]+(?:\.[\w-]+)+)?)"
    r"|(?P<iban>\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b)"
    # A day or a span of years is not a number of anybody's.
    r"|(?P<day>(?<!\d)(?:\d{4}(?P<a>[-./])\d{1,2}(?P=a)\d{1,2}|\d{1,2}(?P<b>[-./])\d{1,2}(?P=b)\d{4}"
    r"|(?:1[5-9]|20)\d\d ?[-–] ?(?:1[5-9]|20)\d\d)(?![-./]?\d))"
    r"|(?P<number>(?<![\w.,])\+?\(?\d(?:[ ./()-]{0,2}\d){6,}(?!\w))"
)
_KINDS = {"address": "address", "account": "account", "iban": "number", "number": "number"}
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NAMES_TOGETHER = re.compile(r"\[name\](?: +\[name\])+")
_SHORTEST = 3  # letters of a part of a name


def mask_texts(texts: Sequence[str], people: Iterable[str], own: Iterable[str]) -> tuple[list[str], Counter[str]]:
    """Return ``texts`` with "[address]", "[account]", "[number]" and "[name]", and how many of each there are.

    A name is a capitalised part of the names of ``people``, unless it is part of the writer's ``own``. One that the
    texts have more often as an ordinary word (will, may) is masked only beside another part of a name. Numbers are
    IBANs and those of seven digits or more. Street addresses, and people whom the exports do not name, are not found.
    """
    ours = {part.casefold() for name in own for part in _WORD.findall(name)}
    parts = {part for name in people if "@" not in name for part in _WORD.findall(name)}
    parts = {part for part in parts if len(part) >= _SHORTEST and part[0].isupper() and part.casefold() not in ours}
    used = Counter(word for text in texts for word in _WORD.findall(text))
    ordinary = {part for part in parts if used[part.lower()] > used[part]}
    counts = Counter[str]()

    def form(match: re.Match[str]) -> str:
        kind = _KINDS.get(match.lastgroup or "")
        if kind is None:
            return match[0]
        counts[kind] += 1
        return f"[{kind}]"

    masked = []
    for text in texts:
        plain, names = _mask_names(_FORMS.sub(form, text), parts, ordinary)
        counts["name"] += names
        masked.append(plain)
    return masked, +counts


def _mask_names(text: str, parts: set[str], ordinary: set[str]) -> tuple[str, int]:
    words = list(_WORD.finditer(text))
    named = [word[0].removesuffix("'s").removesuffix("’s") in parts for word in words]
    pieces, end = [], 0
    for place, word in enumerate(words):
        name = word[0].removesuffix("'s").removesuffix("’s")
        beside = any(
            not text[words[first].end() : words[first + 1].start()].strip(" .")
            for first, other in ((place - 1, place - 1), (place, place + 1))
            if 0 <= other < len(words) and named[other]
        )
        if named[place] and (name not in ordinary or beside):
            pieces += [text[end : word.start()], "[name]"]
            end = word.start() + len(name)
    plain = _NAMES_TOGETHER.sub("[name]", "".join([*pieces, text[end:]]))
    return plain, plain.count("[name]") - text.count("[name]")
