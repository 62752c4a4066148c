"""An archive of X (Twitter), a zip or folder: tweets in data/tweets.js and further parts, or in an old tweet.js."""

from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from typing import Any

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files, objects
from favor.exports.items import Export, Item, moment_of
from favor.exports.short_posts import own_post
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}
_TWEETS = r"(?:data/)?(?:community-)?tweets?(?:-part\d+)?\.js"
_LONG = r"(?:data/)?note-tweets?(?:-part\d+)?\.js"
_START = 60  # characters by which a tweet that is cut is found among the long ones


def matches(files: Files) -> bool:
    """Whether there is a file of tweets."""
    return bool(files.find(_TWEETS))


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the tweets, oldest first; those of one sitting belong together. Long ones are whole."""
    author = ""
    names: tuple[str, ...] = ()
    for name in files.find(r"(?:data/)?account\.js"):
        for row in _rows(files, name, "account"):
            author = str(row.get("username", ""))
            names = tuple(str(row[key]) for key in ("accountDisplayName", "accountId") if row.get(key))
    long = {}
    for name in files.find(_LONG):
        for row in _rows(files, name, "noteTweet"):
            text = row["core"].get("text") if isinstance(row.get("core"), dict) else None
            if isinstance(text, str):
                long[_start(text)] = text
    tweets = [
        (_moment(files, name, row), name, row) for name in files.find(_TWEETS) for row in _rows(files, name, "tweet")
    ]
    for moment, _, row in sorted(tweets, key=lambda tweet: tweet[0]):
        text = str(row.get("full_text") or row.get("text") or "")
        text = long.get(_start(text), text)
        own, cuts = own_post(unescape(text), bool(row.get("in_reply_to_screen_name") or row.get("in_reply_to_user_id")))
        people = tuple(str(each.get("name", "")) for each in objects(row.get("entities"), "user_mentions"))
        label = f"tweet {row.get('id_str') or row.get('id')}"
        yield Item(author, own, moment, label, names, chat="tweets", cuts=cuts, people=people)


def _start(text: str) -> str:
    """Return the start of a tweet without addressees and links, which a long one has otherwise; all if it is short."""
    own = " ".join(own_post(unescape(text), reply=True)[0].split())
    return own[:_START] if len(own) >= _START else f"{own} is short"


def _rows(files: Files, name: str, key: str) -> list[dict[str, Any]]:
    """Return the objects of a file, which assigns a JSON list to a name; old files do not wrap them in ``key``."""
    value = files.json(name, after="=")
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise files.broken(name, "holds no list of objects")
    return [row[key] if isinstance(row.get(key), dict) else row for row in value]


def _moment(files: Files, name: str, row: dict[str, Any]) -> datetime:
    date = str(row.get("created_at", ""))
    if found := moment_of(date):
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    for form in ("%a %b %d %H:%M:%S %z %Y", "%Y-%m-%d %H:%M:%S %z"):
        try:
            return datetime.strptime(date, form)
        except ValueError:
            continue
    raise files.broken(name, f"a tweet has the date {printable(date)!r}")


EXPORT = Export("an archive of X (Twitter), with tweets.js", matches, items)
read = EXPORT.read
