"""LaMP (Salemi et al. 2024): profiles of LaMP-1 and LaMP-3 to LaMP-7, of the user-based and the time-based version.

A file ``train_questions.json``, ``dev_questions.json`` or ``test_questions.json``, or a folder with them. Each document
of a profile is a post. Questions name no user: :class:`Owners` says whose a profile is.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from favor.corpora.json_lists import JsonObject, json_objects, profile_of, text_key, text_of
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.foundation.errors import UserError

COLUMNS: dict[str, str] = {}  # the format has none to name
SPLITS = ("train", "dev", "test")
ID = str | int  # LaMP writes ids, and ratings that are asked for, either way
QUESTIONS, OUTPUTS = "_questions.json", "_outputs.json"
FILES = f"train{QUESTIONS}, dev{QUESTIONS} or test{QUESTIONS}"
_MAIL_FILE = re.compile(r"[\w.-]+\.txt")  # stands in LaMP-6 where a mail of Avocado belongs
WORDS = 8  # texts of so many words are not written twice by chance
JOINED, APART = 0.5, 0.1  # share of the smaller profile from which two are one author's, and below which they are not
_TWEET = {"id", "text", "date"}  # keys of LaMP-7, of which a question's gold output is its author's text too


class Owners:
    """Authors by what they wrote, as questions come in.

    A question is an earlier author's where that author's texts and its profile share half of the smaller of the two.
    Where they share less, but a tenth or more, or where two authors come into question, nobody can tell: ``None``.
    ``several``: texts have several writers, as papers do. Then half of the texts may be a colleague's too, so that
    questions are never joined, and one that shares half of its texts is nobody's.
    """

    def __init__(self, several: bool = False) -> None:
        self.several = several
        self._owners: dict[int, tuple[str, ...]] = {}  # by text
        self._sizes: Counter[str] = Counter()

    def author_of(self, question: str, texts: Sequence[str]) -> str | None:
        """Return the author of a profile: an earlier one, ``question`` as a new one, or None where it is not known."""
        keys = {text_key(text) for text in texts if len(text.split()) >= WORDS}
        shared = Counter(owner for key in keys for owner in self._owners.get(key, ()))
        share = {owner: number / min(len(keys), self._sizes[owner]) for owner, number in shared.items()}
        near = [owner for owner, each in share.items() if each >= (JOINED if self.several else APART)]
        if not near:
            return question
        return None if self.several or len(near) > 1 or share[near[0]] < JOINED else near[0]

    def add(self, author: str, text: str) -> bool:
        """Note that a text is ``author``'s, and return whether that is new."""
        key = text_key(text)
        owners = self._owners.get(key, ())
        if author in owners:
            return False
        self._owners[key] = (*owners, author)
        self._sizes[author] += len(text.split()) >= WORDS
        return True


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield each author's documents once, in file order; ``{split}-{question id}`` of the first question is the author.

    Questions whose author cannot be told are left out, and counted on standard error. Raises ``UserError`` for LaMP-2,
    whose descriptions of films no user wrote, for LaMP-6 without its mails, and for a file that is broken.
    """
    settings.column_names(COLUMNS)
    owners: Owners | None = None
    unknown: list[str] = []
    names: set[str] = set()
    for file in _files(path):
        split = file.name.partition("_")[0]
        outputs: dict[str, str] | None = None
        for number, question in json_objects(file, settings.table_encoding):
            name = f"{split}-{text_of(question, 'id', f'{file}: question {number}', ID)}"
            where = f"{file}: question {name.partition('-')[2]}"
            if name in names:
                raise UserError(f"{where}: the id is given twice; fetch the file again")
            names.add(name)
            documents = profile_of(question, where)
            if not documents:
                continue
            if owners is None:
                owners = Owners(several="abstract" in documents[0])
            posts = [(_text(document, where), _day(document.get("date"))) for document in documents]
            if path.is_dir() and set(documents[0]) <= _TWEET:  # a file beside ``path`` is none of the job's inputs
                outputs = _outputs(file, settings) if outputs is None else outputs
                if outputs and name not in outputs:
                    raise UserError(
                        f"{where} has no output in {file.name.replace(QUESTIONS, OUTPUTS)}; fetch both files again"
                    )
                posts += [(outputs[name], "")] if outputs else []
            author = owners.author_of(name, [text for text, _ in posts])
            if author is None:
                unknown.append(name)
                continue
            for place, (text, date) in enumerate(posts, start=1):
                if not text.strip() or owners.add(author, text):
                    yield RawPost(author, UNKNOWN_TOPIC, "", text, date, f"{name}, document {place}")
    if unknown:
        print(
            f"{path}: {len(unknown):,} questions are left out, because they share texts with others and it cannot be "
            f"told whether they are one author's; the first is {unknown[0]}",
            file=sys.stderr,
        )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.name.startswith(tuple(f"{split}_" for split in SPLITS)):
            raise UserError(f"{path}: not {FILES}; name one, or their folder")
        return [path]
    found = [path / f"{split}{QUESTIONS}" for split in SPLITS if (path / f"{split}{QUESTIONS}").is_file()]
    if not found:
        raise UserError(f"{path}: holds no {FILES}; give the folder of a task")
    return found


def _text(document: JsonObject, where: str) -> str:
    if "description" in document:
        raise UserError(
            f"{where}: LaMP-2 has descriptions of films and tags, none of which its user wrote; take another task"
        )
    text = text_of(document, "abstract" if "abstract" in document else "text", where)
    if _MAIL_FILE.fullmatch(text):
        raise UserError(
            f"{where}: {text} stands for a mail; make LaMP-6 from the Avocado collection by the benchmark's own "
            "create_avocado_dataset.py"
        )
    return text


def _day(date: object) -> str:
    """Return a day, which LaMP writes 2014-3-5; "" where there is none, or a year alone."""
    parts = re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", str(date))
    return f"{parts[1]}-{int(parts[2]):02d}-{int(parts[3]):02d}" if parts else ""


def _outputs(questions: Path, settings: ReaderSettings) -> dict[str, str]:
    """Return the gold outputs beside a file of questions by author; those of the test are not always published."""
    path = questions.with_name(questions.name.replace(QUESTIONS, OUTPUTS))
    if not path.is_file():
        print(f"{path}: not there, so that the texts of profiles alone are read", file=sys.stderr)
        return {}
    split = path.name.partition("_")[0]
    rows = (each for _, each in json_objects(path, settings.table_encoding))
    return {f"{split}-{text_of(row, 'id', str(path), ID)}": text_of(row, "output", str(path), ID) for row in rows}
