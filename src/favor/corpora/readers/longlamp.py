"""LongLaMP (Kumar et al. 2024): product reviews, paper abstracts and posts on topics, of either of its settings.

One file of a configuration (``train``, ``val`` or ``test`` as Parquet, JSON Lines or a JSON list), or a folder of them.
Each document of a profile is a post, and so is the output of a row.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from favor.corpora.json_lists import json_objects, profile_of, text_key, text_of
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.tabular import JSONL_SUFFIXES, PARQUET_SUFFIXES, table_objects
from favor.foundation.errors import UserError

COLUMNS: dict[str, str] = {}  # the format has none to name


class Task(NamedTuple):
    """Where a row names its author, and a document of its profile has the author's text."""

    author: str
    text: str


TASKS = (Task("reviewerId", "reviewText"), Task("name", "abstract"), Task("author", "content"))


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield each author's documents once, in file order, then what rows ask for: their outputs.

    Documents that name another author than their row are left out, and counted on standard error. Raises ``UserError``
    for a file that is broken or of another format.
    """
    settings.column_names(COLUMNS)
    seen: set[int] = set()
    others = 0
    for file in _files(path):
        for label, row in _rows(file, settings):
            where = f"{file}: {label}"
            task = _task(row, where)
            author = text_of(row, task.author, where)
            documents = profile_of(row, where)
            own = [each for each in documents if each.get("author", author) == author]
            others += len(documents) - len(own)
            texts = [*(text_of(each, task.text, where) for each in own), text_of(row, "output", where)]
            for place, text in enumerate(texts, start=1):
                key = text_key(f"{author} {text}")
                if not text.strip() or key not in seen:
                    seen.add(key)
                    yield RawPost(author, UNKNOWN_TOPIC, "", text, "", f"{label}, document {place}")
    if others:
        print(f"{path}: {others:,} documents of profiles name another author and are left out", file=sys.stderr)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    suffixes = (".json", *JSONL_SUFFIXES, *PARQUET_SUFFIXES)
    found = sorted(file for file in path.iterdir() if file.suffix.lower() in suffixes and not file.name.startswith("."))
    if not found:
        raise UserError(f"{path}: holds no .parquet, .jsonl or .json file; give the folder of one configuration")
    return found


def _rows(file: Path, settings: ReaderSettings) -> Iterator[tuple[str, Mapping[str, object]]]:
    if file.name.lower().removesuffix(".gz").removesuffix(".zip").endswith(".json"):
        for number, row in json_objects(file, settings.table_encoding):
            yield f"row {number}", row
    else:
        yield from table_objects(file, settings)


def _task(row: Mapping[str, object], where: str) -> Task:
    for task in TASKS:
        if task.author in row and {"profile", "output"} <= row.keys():
            return task
    names = ", ".join(task.author for task in TASKS)
    raise UserError(f"{where}: not a row of LongLaMP, which has profile, output and one of {names}; check the path")
