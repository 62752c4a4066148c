"""An export of Substack: posts.csv and one HTML file per post in posts/, a zip or folder. Its author is not named."""

import csv
import io
from collections.abc import Iterator
from pathlib import PurePosixPath

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files
from favor.exports.items import Export, Item, moment_of
from favor.exports.markup import html_text
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}


def matches(files: Files) -> bool:
    """Whether there is a list of posts."""
    return any(b"post_id" in files.head(name) for name in files.find(r"posts\.csv"))


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the posts in the order of the list. Drafts, and what has no page, such as sound, are left out."""
    pages = {PurePosixPath(page).stem: page for page in files.find(r"posts/[^/]+\.html")}
    for name in files.find(r"posts\.csv"):
        for row in _rows(files, name):
            identity = row.get("post_id") or ""
            page = pages.pop(identity, None)
            text, cuts = html_text(files.text(page)) if page else ("", ())
            draft = "" if (row.get("is_published") or "").lower() == "true" else "draft"
            label, left_out = f"post {printable(identity)}", draft if page else "without a page"
            yield Item("", text, moment_of(row.get("post_date")), label, cuts=cuts, left_out=left_out)
    for page in pages.values():
        yield Item("", "", None, printable(page), left_out="not in the list")


def _rows(files: Files, name: str) -> Iterator[dict[str, str | None]]:
    """Yield the rows of the list by column. Raises ``UserError`` where a quote is left open or followed by text."""
    rows = csv.DictReader(io.StringIO(files.text(name), newline=""), strict=True)
    try:
        yield from rows
    except csv.Error as error:
        raise files.broken(name, f"is broken off at line {rows.line_num + 1} ({error})") from None


EXPORT = Export("an export of Substack, with posts.csv", matches, items)
read = EXPORT.read
