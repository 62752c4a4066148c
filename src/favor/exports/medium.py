"""An archive of Medium: one HTML file per post in posts/, as a zip or folder. Responses are posts as well."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files
from favor.exports.items import Export, Item, moment_of
from favor.exports.markup import html_text, parsed
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}
_POSTS = r"(?:posts/)?(?:draft|\d{4}-\d\d-\d\d)_[^/]+\.html"
# Body, author and time of a post.
_PARTS = ("//section[@class='e-content']", "//a[contains(@class, 'p-author')]", "//time/@datetime")
_ACCOUNT = re.compile(r".*/@?(?P<account>[^\"/]+)/?")


def matches(files: Files) -> bool:
    """Whether there are posts named as Medium names them."""
    return bool(files.find(_POSTS))


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the posts in name order. Drafts are left out, and posts without a body are unreadable."""
    for name in files.find(_POSTS):
        page, file = parsed(files.text(name)), PurePosixPath(name).name
        body, author, time = ([None] if page is None else page.xpath(path) or [None] for path in _PARTS)
        text, cuts = ("", ()) if body[0] is None else html_text(body[0])
        name_shown = "" if author[0] is None else "".join(author[0].itertext()).strip()
        account = None if author[0] is None else _ACCOUNT.fullmatch(author[0].get("href") or "")
        yield Item(
            account["account"] if account else name_shown,
            text,
            moment_of(time[0] or file[:10]),
            printable(file),
            (name_shown,) if name_shown else (),
            cuts=cuts,
            left_out="draft" if file.startswith("draft_") else "unreadable" if body[0] is None else "",
        )


EXPORT = Export("an archive of Medium, with posts/*.html", matches, items)
read = EXPORT.read
