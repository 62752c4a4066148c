"""An archive of X (Twitter), a zip or folder: tweets in data/tweets.js and further parts, or in an old tweet.js."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from typing import Any

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files, objects
from favor.exports.items import Export, Item, moment_of, own_post

COLUMNS: dict[str, str] = {}
_TWEETS = r"(?:data/)?(?:community-)?tweets?(?:-part\d+)?\.js"
_LONG = r"(?:data/)?note-tweets?(?:-part\d+)?\.js"
_CUT = re.compile(r"(?:…|\s+https?://\S+)+\s*\Z")  # ends a tweet of which the rest is elsewhere
_UNDATED = datetime.min.replace(tzinfo=UTC)


def matches(files: Files) -> bool:
    """Whether there is a file of tweets."""
    return bool(files.find(_TWEETS))


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the tweets, undated ones first, then by time; those of one sitting belong together. Long ones are whole."""
    author = ""
    names: tuple[str, ...] = ()
    for name in files.find(r"(?:data/)?account\.js"):
        for row in _rows(files, name, "account"):
            author = str(row.get("username", ""))
            names = tuple(str(row[key]) for key in ("accountDisplayName", "accountId") if row.get(key))
    long: dict[datetime | None, list[str]] = defaultdict(list)
    for name in files.find(_LONG):
        for row in _rows(files, name, "noteTweet"):
            text = row["core"].get("text") if isinstance(row.get("core"), dict) else None
            if isinstance(text, str):
                long[_second(moment_of(row.get("createdAt")))].append(text)
    tweets = [(_moment(row), row) for name in files.find(_TWEETS) for row in _rows(files, name, "tweet")]
    seen: set[str] = set()
    for moment, row in sorted(tweets, key=lambda tweet: tweet[0] or _UNDATED):
        text = str(row.get("full_text") or row.get("text") or "")
        reply = bool(row.get("in_reply_to_screen_name") or row.get("in_reply_to_user_id"))
        # A long tweet has the time of the one that is cut, which it begins with. Where several fit, none is taken.
        near = long[_second(moment)] if moment and _CUT.search(text) else []
        fitting = [each for each in near if _begins(each, text)]
        if len(fitting) == 1:
            text = fitting[0]
            long[_second(moment)].remove(text)
        own, cuts = own_post(unescape(text), reply)
        people = tuple(str(each.get("name", "")) for each in objects(row.get("entities"), "user_mentions"))
        identity = row.get("id_str") or row.get("id")
        left_out = "repeated" if identity and str(identity) in seen else ""
        seen.add(str(identity))
        label = f"tweet {identity}"
        yield Item(author, own, moment, label, names, chat="tweets", cuts=cuts, people=people, left_out=left_out)
    for second in (second for second, texts in long.items() for _ in texts):
        yield Item(author, "", second, "long tweet", names, left_out="long text of no tweet or of several")


def _begins(whole: str, cut: str) -> bool:
    """Whether a long tweet begins with a cut one; addressees and white space, which only one may have, do not count."""
    texts = [" ".join(own_post(unescape(text), reply=True)[0].split()) for text in (whole, _CUT.sub("", cut))]
    return texts[0].startswith(texts[1])


def _second(moment: datetime | None) -> datetime | None:
    return moment and moment.astimezone(UTC).replace(microsecond=0)


def _rows(files: Files, name: str, key: str) -> list[dict[str, Any]]:
    """Return the objects of a file, which assigns a JSON list to a name; old files do not wrap them in ``key``."""
    value = files.json(name, after="=")
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise files.broken(name, "holds no list of objects")
    return [row[key] if isinstance(row.get(key), dict) else row for row in value]


def _moment(row: dict[str, Any]) -> datetime | None:
    date = str(row.get("created_at", ""))
    if found := moment_of(date):
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    for form in ("%a %b %d %H:%M:%S %z %Y", "%Y-%m-%d %H:%M:%S %z"):
        try:
            return datetime.strptime(date, form)
        except ValueError:
            continue
    return None


EXPORT = Export("an archive of X (Twitter), with tweets.js", matches, items)
read = EXPORT.read
