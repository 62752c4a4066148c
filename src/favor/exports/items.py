"""What a format yields, a message or post at a time, and how these become the posts of a corpus."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from favor.corpora.dates import EPOCH_UNITS, epoch_unit
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.exports.files import Files
from favor.foundation.errors import UserError
from favor.foundation.names import printable

NO_WORDS = "without words of their own"
UNKNOWN = "unknown sender"  # stands for the author where the export names none and it is not the owner
SITTING = timedelta(minutes=30)
_SPACES_AT_END = re.compile(r"[ \t\xa0]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_ADDRESSEES = re.compile(r"(?:\s*@[\w.-]+(?:@[\w.-]+)?)+\s*")
_LINK = re.compile(r"https?://\S+")
# Before there was a button, people wrote RT and the post, or quoted it after the name.
_BY_HAND = re.compile(r"(?:(?<=\s)|^)(?:RT|MT):? ?@\w+.*\Z|[“\"]@\w+:[^”\"]*[”\"]?", re.DOTALL)


class Cut(NamedTuple):
    """A part that is not the author's own words, and why."""

    reason: str
    text: str


class Item(NamedTuple):
    """One message or post, without other people's words.

    ``author``: who wrote it, as the export tells people apart (an address, an id, a name); "" for the one whose export
    it is, where nothing names that person. ``names``: what else the person is called. ``text``: "" where none of it is
    the author's. ``moment``: by the clock that the export shows. ``label``: its place in the export. ``chat``: the
    conversation of a short message, "" for a text of its own. ``cuts``: what was taken out. ``left_out``: why it is
    not one of the author's texts at all, such as a draft. ``people``: others whom the export names.
    """

    author: str
    text: str
    moment: datetime | None
    label: str
    names: tuple[str, ...] = ()
    chat: str = ""
    cuts: tuple[Cut, ...] = ()
    left_out: str = ""
    people: tuple[str, ...] = ()


@dataclass(frozen=True)
class Export:
    """One format.

    ``title``: what messages call it. ``matches``: whether files are of it. ``items``: yields what they hold, the
    messages of a chat in order of time.
    """

    title: str
    matches: Callable[[Files], object]
    items: Callable[[Files, ReaderSettings], Iterator[Item]]

    def exports(self, path: Path) -> list[Files]:
        """Return the export at ``path``, or every one in this folder, by name. Raises ``UserError`` as ``Files``."""
        files = Files(path)
        if self.matches(files):
            return [files]
        return [files for files in map(Files, _inside(path)) if self.matches(files)]

    def read(self, path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
        """Yield the posts of an export, or of every export in a folder, in name order.

        Someone whom nothing names is called as the file or folder of the export is. What was cut and left out is said
        on the terminal. Raises ``UserError`` where ``path`` is neither, or an export is broken.
        """
        found = self.exports(path)
        if not found:
            raise UserError(
                f"{printable(str(path))}: neither {self.title} nor a folder of such; check the corpus key 'reader'"
                + Files(path).too_deep
            )
        counts = Counts(path)
        for other in [] if found[0].path == path else sorted({*_inside(path)} - {files.path for files in found}):
            counts.see(Item(UNKNOWN, "", None, printable(other.name), left_out="not such an export"))
        for files in found:
            for item in sittings(counts.of(self.items(files, settings))):
                if item.text and not item.left_out:
                    counts.posts += 1
                    form, moment = settings.date_format, item.moment
                    day = "" if moment is None else moment.strftime(form) if form else moment.isoformat()
                    label = item.label if len(found) == 1 else f"{files.path.name}, {item.label}"
                    yield RawPost(item.author or files.path.stem, UNKNOWN_TOPIC, "", item.text, day, label)
        counts.say()


def _inside(folder: Path) -> list[Path]:
    """Return what lies in a folder, by name, without hidden files; [] where it is a file."""
    inner = sorted(child for child in folder.iterdir() if child.name[0] != ".") if folder.is_dir() else []
    return [child for child in inner if child.is_file() or child.is_dir()]  # some links lead nowhere


class Counts:
    """Counts what an export holds: every item is in a post or left out for one reason.

    ``posts``: those that are made.
    """

    def __init__(self, path: Path) -> None:
        self._path, self.posts = path, 0
        self._reasons, self._cuts = Counter[str](), Counter[str]()

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass items on, counted."""
        for item in items:
            self.see(item)
            yield item

    def see(self, item: Item) -> None:
        """Count an item and what was cut from it."""
        self._reasons[item.left_out or ("" if item.text else NO_WORDS)] += 1
        self._cuts.update([] if item.left_out else [cut.reason for cut in item.cuts])

    def say(self) -> None:
        """Say on the terminal what was left out and cut, if anything was."""
        held, taken = self._reasons.total(), self._reasons.pop("", 0)
        if self._reasons or self._cuts:
            left_out, cuts = (f"{listed(each) or 'nothing'}" for each in (self._reasons, self._cuts))
            made = f"{taken:,} of {held:,} make {self.posts:,} posts"
            print(f"{self._path}: {made}; left out: {left_out}; cut: {cuts}", file=sys.stderr)


def tidy(text: str) -> str:
    """Return ``text`` without spaces at the ends of lines and without more than one blank line in a row."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return _BLANK_LINES.sub("\n\n", _SPACES_AT_END.sub("", plain)).strip()


def own_post(text: str, reply: bool) -> tuple[str, tuple[Cut, ...]]:
    """Return a post without links, without the names that a reply begins with, and without what it repeats."""
    cuts = tuple(Cut("reposted", found[0]) for found in _BY_HAND.finditer(text))
    own = _BY_HAND.sub("", text)
    addressed = _ADDRESSEES.match(own) if reply else None
    own = _LINK.sub("", own[addressed.end() :] if addressed else own)
    return tidy(re.sub(" {2,}", " ", own)), cuts


def moment_of(text: object) -> datetime | None:
    """Return the time that an export writes in the form of ISO 8601, or counts from 1970 on; None where it does not."""
    plain = str(text).strip()
    try:
        if unit := epoch_unit([plain]):
            return datetime.fromtimestamp(float(plain) / EPOCH_UNITS[unit], UTC)
        return datetime.fromisoformat(plain)
    except ValueError:
        return None


def sittings(items: Iterable[Item]) -> Iterator[Item]:
    """Join an author's messages of one sitting: a chat in which nobody is silent for more than half an hour.

    Such messages are too short to give a prompt each. Texts of their own, and what is left out, pass as they are.
    """
    open_items: dict[str, Item] = {}
    chat, last = "", None
    for item in items:
        if not item.chat or item.left_out:
            yield item
            continue
        if item.chat != chat or last is None or item.moment is None or abs(item.moment - last) > SITTING:
            yield from open_items.values()
            open_items = {}
        chat, last = item.chat, item.moment
        earlier = open_items.get(item.author)
        if earlier is not None:
            text = "\n".join(filter(None, (earlier.text, item.text)))
            people = item.people if item.people == earlier.people else earlier.people + item.people
            item = earlier._replace(text=text, cuts=earlier.cuts + item.cuts, people=people)
        open_items[item.author] = item
    yield from open_items.values()


def listed(counts: Counter[str]) -> str:
    """Return counts by reason, the largest first."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{reason} {count:,}" for reason, count in ordered)
