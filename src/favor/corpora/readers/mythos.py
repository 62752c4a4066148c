"""Mythos-Reddit (Ashok Kumar et al. 2025): (writing prompt, story) pairs of r/WritingPrompts authors.

The public release carries prompts, URLs and lengths, not the stories; the user joins them and gives one table (CSV,
JSONL or Parquet) with the columns ``author``, ``prompt`` and ``text`` (the story), optionally ``topic``.
"""

from collections.abc import Iterator
from pathlib import Path

from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.tabular import read_rows, table_columns
from favor.foundation.errors import UserError

COLUMNS = {"author": "author", "prompt": "prompt", "text": "text", "topic": "topic", "date": "date"}
EXPECTED = "author, prompt and text (the story); optional: topic, date"
# Reddit writes the first three where an account or a story is gone; the last is its moderation robot.
EXCLUDED_AUTHORS = ["[deleted]", "[removed]", "[deleted by user]", "AutoModerator"]
EXCLUDED_TEXTS = ["[deleted]", "[removed]", "[deleted by user]", "[ Removed by Reddit ]", "[removed by reddit]"]


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the stories in file order.

    Raises ``UserError`` for the bare public release (no story column, or not one story in it), a missing column or a
    broken row.
    """
    found = table_columns(path, settings)
    if settings.columns.get("text", "text") not in found:
        raise _bare_release(path, f"it has no column '{settings.columns.get('text', 'text')}'")
    stories = 0
    for label, row in read_rows(path, settings, COLUMNS, ("author", "prompt", "text"), EXPECTED):
        stories += bool(row["text"].strip())
        topic = row.get("topic", "").strip() or UNKNOWN_TOPIC
        yield RawPost(row["author"], topic, row["prompt"], row["text"], row.get("date", ""), label)
    if not stories:
        raise _bare_release(path, f"every '{settings.columns.get('text', 'text')}' is empty")


def _bare_release(path: Path, evidence: str) -> UserError:
    return UserError(
        f"{path}: the stories are missing ({evidence}): the public Mythos release carries only prompts, URLs and "
        f"lengths; fetch the stories behind its URLs and give one table with the columns {EXPECTED}"
    )
