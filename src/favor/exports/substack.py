"""An export of Substack: posts.csv and one HTML file per post in posts/, a zip or folder. Its author is not named."""

import csv
import io
import re
from collections.abc import Iterator

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
    """Yield the posts in the order of the list. Drafts are left out; a post without a text, such as sound, is none."""
    for name in files.find(r"posts\.csv"):
        for row in csv.DictReader(io.StringIO(files.text(name), newline="")):
            identity = row.get("post_id") or ""
            for page in files.find(rf"posts/{re.escape(identity)}\.html") if identity else ():
                text, cuts = html_text(files.text(page))
                published = (row.get("is_published") or "").lower() == "true"
                label = f"post {printable(identity)}"
                yield Item(
                    "", text, moment_of(row.get("post_date")), label, cuts=cuts, left_out="" if published else "draft"
                )


EXPORT = Export("an export of Substack, with posts.csv", matches, items)
read = EXPORT.read
