"""An archive of Medium: one HTML file per post in posts/, as a zip or folder. Responses are posts as well."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import PurePosixPath

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files
from favor.exports.items import Export, Item, moment_of
from favor.exports.markup import html_text
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}
_POSTS = r"(?:posts/)?(?:draft|\d{4}-\d\d-\d\d)_[^/]+\.html"
_BODY = re.compile(r'<section[^>]*class="e-content"[^>]*>(?P<html>.*)</section>\s*(?:<footer|</article)', re.DOTALL)
_AUTHOR = re.compile(r"<a\b(?P<attributes>[^>]*\bp-author\b[^>]*)>(?P<name>[^<]*)<")
_ACCOUNT = re.compile(r'href="[^"]*/@?(?P<account>[^"/]+)/?"')
_TIME = re.compile(r'<time[^>]*datetime="(?P<time>[^"]*)"')


def matches(files: Files) -> bool:
    """Whether there are posts named as Medium names them."""
    return bool(files.find(_POSTS))


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the posts in name order. Drafts are left out, and posts without a body are unreadable."""
    for name in files.find(_POSTS):
        html = files.text(name)
        body, author, time = _BODY.search(html), _AUTHOR.search(html), _TIME.search(html)
        text, cuts = html_text(body["html"] if body else "")
        name_shown = unescape(author["name"]).strip() if author else ""
        account = _ACCOUNT.search(author["attributes"]) if author else None
        file = PurePosixPath(name).name
        yield Item(
            account["account"] if account else name_shown,
            text,
            moment_of(time["time"] if time else file[:10]),
            printable(file),
            (name_shown,) if name_shown else (),
            cuts=cuts,
            left_out="draft" if file.startswith("draft_") else "" if body else "unreadable",
        )


EXPORT = Export("an archive of Medium, with posts/*.html", matches, items)
read = EXPORT.read
