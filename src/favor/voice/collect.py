"""``favor voice collect``: one writer's own texts from exports, as a table of documents."""

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pandas as pd

from favor.corpora.dates import date_of, day_of
from favor.corpora.documents import text_digest
from favor.corpora.posts import ReaderSettings
from favor.corpora.schemas import DOCUMENTS
from favor.corpora.tabular import PARQUET_SUFFIXES
from favor.exports.files import Files
from favor.exports.formats import open_export
from favor.exports.items import NO_WORDS, UNKNOWN, Export, Item, listed, sittings
from favor.exports.whatsapp import ORDERS
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.parquet import write_parquet
from favor.foundation.seeds import derive_seed
from favor.voice.texts import AUTHOR_WORDS, WORDS

SHOWN_CUTS, SHOWN_NAMES, SHOWN_CHARACTERS = 10, 12, 160
SEED = 2026
_OWNER = ""  # author of items whose export names nobody
# What is masked.
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


@dataclass
class Found:
    """What one export holds of a writer.

    ``texts``: day ("" where there is none) and text of each document. ``authors``: messages and posts of everybody by
    author, ``mine`` those of the writer. ``names``: of every author. ``cuts``: place, reason and text of each.
    ``left_out``: of ``mine``, by reason; the others are in a document. ``dropped``: documents that are not taken.
    """

    path: Path
    format: str
    title: str
    texts: list[tuple[str, str]] = field(default_factory=list)
    authors: Counter[str] = field(default_factory=Counter)
    mine: Counter[str] = field(default_factory=Counter)
    names: dict[str, set[str]] = field(default_factory=dict)
    cuts: list[tuple[str, str, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    people: set[str] = field(default_factory=set)


def run(arguments: argparse.Namespace) -> None:
    """Collect what a command line names, print the report and write the table.

    Raises ``UserError``, before anything is written, where an export is unknown, broken or without the writer, or
    where there is too little text.
    """
    if arguments.out.suffix.lower() not in PARQUET_SUFFIXES:
        raise UserError(f"--out: {printable(str(arguments.out))} is not named as a Parquet file; end it in .parquet")
    how = {"until": arguments.until, "mask": arguments.mask, "date_order": arguments.date_order}
    table, lines = collect(arguments.exports, arguments.me, **how)
    write_parquet(table, arguments.out, DOCUMENTS)
    print("\n".join([*lines, f"{arguments.out}: {_summary(table)}"]))


def collect(
    exports: Sequence[Path],
    me: Sequence[str],
    *,
    until: str | None = None,
    mask: bool = False,
    date_order: str | None = None,
    least_words: int = AUTHOR_WORDS,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table ``documents`` of one writer, oldest first, and the lines of a report.

    ``me``: names, addresses or ids of the writer; the first becomes the author. ``until``: last day that is taken, as
    2022-11-30; texts without a date are left out then. ``mask``: whether personal data is masked
    (:func:`mask_texts`). ``date_order``: of WhatsApp's dates, "dmy", "mdy" or "ymd". A document's topic
    is the format that it comes from.
    """
    if not all(name.strip() for name in me):
        raise UserError("--me: a name is empty; give the writer's name, address or id")
    if until is not None and date_of(day_of(until)) != until:
        raise UserError(f"--until: '{printable(until)}' is not a day; give one such as 2022-11-30")
    settings = ReaderSettings(date_format=ORDERS[date_order] if date_order else None, has_keys=False)
    found = [_read(path, me, settings) for path in exports]
    kept: list[tuple[str, str, str]] = []  # day, text, format
    seen: set[bytes] = set()
    for one in found:
        for day, text in one.texts:
            reason = _reason(day, text, until, seen)
            one.dropped.update([reason] if reason else [])
            if not reason:
                kept.append((day, text, one.format))
    kept.sort(key=lambda each: (not each[0], each[0]))
    texts = [text for _, text, _ in kept]
    lines = [line for one in found for line in _lines(one)]
    if mask:
        people = {name for one in found for name in one.people}
        own = {name for one in found for author in one.mine for name in (author, *one.names[author])}
        texts, masked = mask_texts(texts, people, {*me, *own})
        lines.append(f"masked: {listed(masked) or 'nothing'}")
    words = [WORDS.count(text) for text in texts]
    if sum(words) < least_words:
        left = listed(sum((one.left_out + one.dropped for one in found), Counter[str]()))
        raise UserError(
            f"{sum(words):,} words by '{me[0]}', and {least_words:,} are needed; give more exports"
            + (f" (left out: {left})" if left else "")
        )
    width = max(5, len(str(len(texts))))
    table = pd.DataFrame(
        {
            "author": me[0],
            "document_id": [f"{me[0]}-{number:0{width}d}" for number in range(1, len(texts) + 1)],
            "topic": [form for _, _, form in kept],
            "prompt": "",
            "text": texts,
            "words": words,
            "date": [day for day, _, _ in kept],
        }
    )
    return table, [*lines, *_sample(found)]


def _reason(day: str, text: str, until: str | None, seen: set[bytes]) -> str:
    """Return why a text is left out, "" where it is kept."""
    if until is not None and not day:
        return "without a date"
    if until is not None and day > until:
        return f"after {until}"
    digest = text_digest(text.encode("utf-8", "replace"))
    if digest in seen:
        return "repeated"
    seen.add(digest)
    return ""


def _read(path: Path, me: Sequence[str], settings: ReaderSettings) -> Found:
    name, export, files = open_export(path)
    wanted = {_plain(each) for each in me}
    found = _pass(name, export, files, settings, wanted)
    known = {author for author in found.mine if author == _OWNER or _plain(author) in wanted}
    named = found.authors.keys() - {_OWNER, UNKNOWN}
    if named and not found.mine.keys() - {_OWNER}:
        raise UserError(f"{path}: nobody is called {_listed(me)} there; found {_everybody(found)}")
    if len(found.mine) > len(known) and len(found.mine) > 1:
        which = ", ".join(f"'{author}' ({count:,})" for author, count in found.mine.most_common(SHOWN_NAMES))
        raise UserError(f"{path}: {_listed(me)} may be several people: {which}; give those that are you, each as --me")
    if any(found.authors[author] > count for author, count in found.mine.items()):  # sometimes under another name
        found = _pass(name, export, files, settings, wanted | {_plain(author) for author in found.mine})
    if not found.mine:
        raise UserError(f"{path}: nobody is called {_listed(me)} there; found {_everybody(found)}")
    return found


def _pass(form: str, export: Export, files: Files, settings: ReaderSettings, wanted: set[str]) -> Found:
    found = Found(files.path, form, export.title)

    def counted(items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            found.authors[item.author] += 1
            found.names.setdefault(item.author, set()).update(item.names)
            found.people.update(item.people)
            if item.author != _OWNER and not {_plain(each) for each in (item.author, *item.names)} & wanted:
                found.people.update((item.author, *item.names))
            else:
                found.mine[item.author] += 1
                reason = item.left_out or ("" if WORDS.count(item.text) else NO_WORDS)
                found.left_out.update([reason] if reason else [])
            yield item

    for item in sittings(counted(export.items(files, settings))):
        if item.author in found.mine and not item.left_out:
            # No more of it is shown, even where white space is taken out.
            found.cuts += [(item.label, cut.reason, cut.text[: 5 * SHOWN_CHARACTERS]) for cut in item.cuts]
            if WORDS.count(item.text):
                day = "" if item.moment is None else date_of(day_of(item.moment.isoformat()))
                found.texts.append((day, item.text))
    return found


def _plain(name: str) -> str:
    return " ".join(name.removeprefix("@").split()).casefold()


def _listed(names: Sequence[str]) -> str:
    return " or ".join(f"'{printable(name)}'" for name in names)


def _everybody(found: Found) -> str:
    shown = [
        f"'{printable(author)}'" + "".join(f" ({printable(name)})" for name in sorted(found.names[author])[:1])
        for author, _ in found.authors.most_common(SHOWN_NAMES)
    ]
    more = len(found.authors) - len(shown)
    return (", ".join(shown) or "nobody") + (f" and {more:,} more" if more > 0 else "")


def _lines(found: Found) -> list[str]:
    others = found.authors.total() - found.mine.total()
    who = ", ".join(printable(author) for author in found.mine if author) or "the owner"
    lines = [f"{found.path}, read as {found.title}: {found.mine.total():,} by {who}, {others:,} by others"]
    cuts = Counter(reason for _, reason, _ in found.cuts)
    lines += [f"  cut: {listed(cuts)}"] if cuts else []
    messages = found.mine.total() - found.left_out.total()
    if messages == len(found.texts):
        left_out = found.left_out + found.dropped
        return lines + ([f"  left out: {listed(left_out)}"] if left_out else [])
    lines += [f"  left out: {listed(found.left_out)}"] if found.left_out else []
    dropped = f"; left out of these: {listed(found.dropped)}" if found.dropped else ""
    return [*lines, f"  the other {messages:,} make {len(found.texts):,} documents, one per sitting{dropped}"]


def _sample(found: Sequence[Found]) -> list[str]:
    """Return lines that show some of the cuts, the same ones for the same exports."""
    every = [(one.path.name, *cut) for one in found for cut in one.cuts]
    drawn = Random(derive_seed(SEED, "cuts that are shown")).sample(range(len(every)), min(SHOWN_CUTS, len(every)))
    if not drawn:
        return []
    lines = [f"{len(drawn)} of {len(every):,} cuts, drawn at random. Are they other people's words?"]
    for path, label, reason, text in (every[place] for place in sorted(drawn)):
        line = " ".join(text.split())
        shown = line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}..."
        lines.append(f"  {path}, {label}, {reason}: {printable(shown)}")
    return lines


def _summary(table: pd.DataFrame) -> str:
    days = [day for day in table["date"] if day]
    span = f", {days[0]} to {days[-1]}" if days else ""
    undated = len(table) - len(days)
    without = f", {undated:,} without a date" if undated else ""
    return f"{len(table):,} documents, {table['words'].sum():,} words{span}{without}"


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
