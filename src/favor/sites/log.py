"""``log.jsonl`` of a coordinator or a site: what it sent, took and refused, when, and the digest of every file.

Lines are added and never changed. What a command does twice stands there twice.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from favor.foundation.errors import UserError
from favor.foundation.received import opened
from favor.sites.manifest import now

LOG = "log.jsonl"


def note(folder: Path, what: str, who: str, files: Iterable[tuple[str, str]] = (), **more: object) -> None:
    """Add a line: the time in UTC, ``what`` happened with ``who``, and (name, SHA-256) of the ``files`` concerned."""
    line = {"time": now(), "what": what, "who": who, "files": dict(files), **more}
    with (folder / LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=True) + "\n")


def received_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, "" for what is none."""
    with suppress(UserError), opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""
