"""One writer's texts for training: read with their dates and writing prompts, cleaned, and split."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.corpora.dates import NONE, day_of
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings, clean_text
from favor.corpora.settings import ColumnRole, Splitting
from favor.corpora.splits import split_of
from favor.corpora.tabular import read_rows
from favor.exports.text_folder import day_of_file
from favor.foundation.errors import UserError
from favor.foundation.names import nearest, printable
from favor.voice.texts import AUTHOR_WORDS, TABLES, WORDS, has_authors, own_files

WRITER = "writer"  # stands for the one client in tables and random streams
FEWEST_TEXTS = 20
COLUMNS = {name: name for name in ("author", "text", "prompt", "date")}


class OwnTexts(NamedTuple):
    """``texts``: the table ``client_texts`` of the one client. ``remarks``: what was left out, and how it is split."""

    texts: pd.DataFrame
    remarks: list[str]


def own_texts(path: Path, author: str, columns: Mapping[ColumnRole, str]) -> OwnTexts:
    """Read the texts of ``author`` at ``path``, a table or a folder, and split them 80/10/10.

    The newest are held out where every text has a date. Which of the others validate is random: whether a text can be
    told to have been trained on is a question about texts of one time. Without dates the whole split is random.
    ``columns``: the table's names by role. In a table with authors only the rows of ``author`` are taken; in a folder
    that holds one named ``author`` only that. Texts are cleaned as the workflow cleans posts, and of equal ones the
    first stays. Raises ``UserError`` where the author is not there, or has too little text: what is missing is said.
    """
    settings = ReaderSettings(has_keys=False, columns=dict(columns))
    posts = _folder(path, author) if path.is_dir() else _table(path, author, settings)
    remarks: list[str] = []
    rows: dict[str, tuple[str, int]] = {}
    for post in posts:
        text = clean_text(post.text)
        if WORDS.count(text):
            rows.setdefault(text, (clean_text(post.prompt), day_of(post.date)))
    if len(rows) < len(posts):
        remarks.append(f"{len(posts) - len(rows)} of {len(posts)} texts are empty or repeat another and are left out")
    words = {text: WORDS.count(text) for text in rows}
    _check(path, author, len(rows), sum(words.values()))
    dated = sum(day != NONE for _, day in rows.values())
    order, splits = list(rows), split_of(WRITER, len(rows), Splitting(minimum_posts=3))
    if dated == len(rows):
        order.sort(key=lambda text: rows[text][1])
        splits = np.concatenate([splits[splits != "test"], splits[splits == "test"]])
        remarks.append(
            "split by date: the newest 10 % are held out; of the older ones as many, drawn at random, validate"
        )
    else:
        missing = f"{len(rows) - dated} texts have no date that can be read" if dated else "the texts have no dates"
        remarks.append(f"split at random, because {missing}")
    frame = pd.DataFrame(
        {
            "client": WRITER,
            "document_id": [f"{WRITER}-{number:05d}" for number in range(len(order))],
            "split": splits,
            "topic": UNKNOWN_TOPIC,
            "prompt": [rows[text][0] for text in order],
            "text": order,
            "words": [words[text] for text in order],
        }
    ).astype({"words": "int32"})
    trained = frame["split"] == "train"
    frame["allocated_words"] = frame["words"].where(trained, 0).astype("int32")
    frame["training_text"] = frame["text"].where(trained, "")
    return OwnTexts(frame, remarks)


def _check(path: Path, author: str, texts: int, words: int) -> None:
    missing = []
    if words < AUTHOR_WORDS:
        missing.append(f"{AUTHOR_WORDS - words:,} words")
    if texts < FEWEST_TEXTS:
        missing.append(f"{FEWEST_TEXTS - texts} texts")
    if missing:
        raise UserError(
            f"{path}: {texts} texts and {words:,} words by {author}, and {FEWEST_TEXTS} texts and {AUTHOR_WORDS:,} "
            f"words are needed; add {' and '.join(missing)}"
        )


def _table(path: Path, author: str, settings: ReaderSettings) -> Sequence[RawPost]:
    if not path.exists():
        raise UserError(f"{printable(str(path))}: file not found; check the name")
    if path.suffix.lower() not in TABLES or not path.is_file():
        raise UserError(
            f"{printable(str(path))}: give a folder of texts or a table ({', '.join(TABLES)}) with a column 'text'"
        )
    found, authored = [], has_authors(path, settings)
    required = ("text", "author") if authored else ("text",)
    authors = set()
    for label, row in read_rows(path, settings, COLUMNS, required, "text (optional: author, prompt, date)"):
        name = row.get("author", "").strip() if authored else author
        authors.add(name)
        if name == author:
            found.append(RawPost(name, "", row.get("prompt", ""), row["text"], row.get("date", ""), label))
    if not found:
        raise UserError(f"{path}: nobody there is named '{author}'; {nearest(author, authors, _first(authors))}")
    return found


def _folder(path: Path, author: str) -> Sequence[RawPost]:
    """Return the texts of the folder named ``author`` in ``path``, or all in ``path``, which then is the author's."""
    place, settings = path, ReaderSettings(has_keys=False)
    if (path / author).is_dir():
        place = path / author
    else:
        inside = sorted(each.name for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))
        if inside and not any(each.is_file() for each in path.iterdir()):
            raise UserError(
                f"{path}: holds folders, none of which is named '{author}' ({_first(inside)}); give the folder of "
                f"{author}'s own texts, or rename it '{author}'"
            )
    files = own_files(place, author)
    return [RawPost(author, "", "", file.text, day_of_file(file, settings), str(file.place)) for file in files]


def _first(names: set[str] | list[str]) -> str:
    shown = sorted(names)[:5]
    return f"found: {', '.join(shown)}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
