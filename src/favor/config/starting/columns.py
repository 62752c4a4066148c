"""What a table's columns are: author, text, date and topic, by their names and by what is in them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from favor.corpora.dates import NONE, day_of, epoch_unit
from favor.corpora.tabular import AUTHOR_COLUMNS
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.words import compared_words

NAMES = {
    "author": (*AUTHOR_COLUMNS, "name", "id"),
    "text": (
        *("text", "full_text", "body", "content", "post", "message", "comment", "selftext", "tweet", "review", "story"),
        *("article", "entry", "mail", "email"),
        *("inhalt", "beitrag", "nachricht", "kommentar", "texte", "testo", "texto"),
    ),
    "date": (
        *("date", "datetime", "created", "created_at", "timestamp", "time", "posted", "posted_on", "published"),
        *("created_utc", "createdat", "created_time", "timestamp_ms", "pubdate", "publish_date", "published_at", "day"),
        *("datum", "tag", "data", "fecha"),
    ),
    "topic": (
        *("topic", "theme", "category", "subject", "subreddit", "genre", "section", "forum", "board"),
        *("thema", "rubrik", "kategorie", "sujet"),
    ),
}
FORMATS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y%m%d", "%Y.%m.%d", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
    *("%m/%d/%Y %H:%M:%S", "%a %b %d %H:%M:%S %z %Y", "%b %d, %Y %I:%M %p", "%d %b %Y %H:%M"),
    *("%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S GMT"),
)
LONGEST_NAME = 100  # characters of an author's name
LONGEST_HEADER = 10  # words of a column's name
FEWEST_POSTS = 3  # per author, on average: fewer, and the column numbers posts
TEXT_WORDS = 5  # per row, on average
DATES = 2000  # looked at, the commonest
MOSTLY = 0.9  # of the rows have a date that is read


@dataclass
class Column:
    """What was seen of a column: its distinct values with their rows, up to the longest name, and its words."""

    values: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    words: int = 0
    longest: int = 0

    def see(self, value: str) -> None:
        """Take a value in; empty ones are passed over."""
        if value:
            self.rows += 1
            self.words += len(value.split() if value.isascii() else compared_words(value))
            self.longest = max(self.longest, len(value))
            if self.longest <= LONGEST_NAME:
                self.values[value] += 1

    @property
    def names_authors(self) -> bool:
        """Whether its values may be authors: short, several, and each on several rows."""
        return self.longest <= LONGEST_NAME and 1 < len(self.values) <= self.rows / FEWEST_POSTS


class Roles(NamedTuple):
    """The columns by role, the roles whose column was told by its content, and the form of the dates.

    ``date_format``: None where dates are read without one. ``undated``: why a column of dates is not all read, or "".
    """

    columns: dict[str, str]
    guessed: list[str]
    date_format: str | None
    undated: str


def look(rows: Iterable[Mapping[str, str]]) -> dict[str, Column]:
    """Return what is in the columns of a table, by name."""
    columns: dict[str, Column] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, Column()).see(value.strip())
    return columns


def check_header(columns: Mapping[str, Column], source: str) -> None:
    """Raise ``UserError`` where the names of columns look like a row of the table: it then has no header."""
    for name, column in columns.items():
        again = column.names_authors and column.values[name.strip()] >= FEWEST_POSTS
        if again or len(name.split()) > LONGEST_HEADER or day_of(name) != NONE:
            raise UserError(
                f"{source}: its first line is a row, not the names of columns: {printable(name[:LONGEST_NAME])}; put a "
                "line of names first, such as author,text"
            )


def roles_of(columns: Mapping[str, Column], source: str, date_format: str | None = None) -> Roles:
    """Return which column has which role; ``date_format``: the form of its dates, None to find it.

    Raises ``UserError`` where none can be the author's or the text's, or has dates of that form.
    """
    if not columns:
        raise UserError(f"{source}: has no row below the names of its columns; fetch the file again")
    found, guessed = {}, []
    texts = {name: column for name, column in columns.items() if column.words >= TEXT_WORDS * max(column.rows, 1)}
    authors = {
        name: column
        for name, column in columns.items()
        if column.names_authors and name not in texts and not all(day_of(value) != NONE for value in column.values)
    }
    for role, candidates, sizes in (
        ("text", texts, {name: column.words for name, column in texts.items()}),
        ("author", authors, {name: len(column.values) for name, column in authors.items()}),
    ):
        if not candidates:
            if role == "author" and (alone := _named(columns, role)) and len(columns[alone].values) == 1:
                raise UserError(
                    f"{source}: column '{printable(alone)}' has one author, whose voice is what 'favor voice' is for"
                )
            what = {
                "text": f"no column holds texts ({TEXT_WORDS} words per row or more)",
                "author": f"no column names authors (short values, each on {FEWEST_POSTS} rows or more; floating-point "
                "numbers such as 123.0 count as none, so store them as whole numbers or text)",
            }[role]
            raise UserError(f"{source}: {what}; its columns are {printable(', '.join(columns))}")
        named = _named(candidates, role)
        found[role] = named or max(candidates, key=sizes.__getitem__)
        guessed += [] if named else [role]
    others = {name: column for name, column in columns.items() if name not in found.values()}
    # A topic is on several rows: a mail's subject is none.
    topics = {name: column for name, column in others.items() if column.names_authors}
    if topic := _named(topics, "topic"):
        found["topic"] = topic
    form, undated = None, ""
    if date := _named({name: column for name, column in others.items() if name != topic}, "date"):
        form, undated = form_of(dict(others[date].values.most_common(DATES)), date_format)
        if undated:
            undated = f"{printable(date)}: {undated}"
        else:
            found["date"] = date
    if date_format is not None and "date" not in found:
        why = undated or "no column is called as dates are"
        raise UserError(f"{source}: --date-format {printable(date_format)}: {why}")
    return Roles(found, guessed, form, undated)


def form_of(dates: Mapping[str, int], given: str | None = None) -> tuple[str | None, str]:
    """Return the form of dates, None where they are read without one; and, else "", why they cannot be read.

    ``dates``: how many rows have each. ``given``: the form that they should have.
    """
    needed = MOSTLY * sum(dates.values())
    if not dates:
        return None, "it holds no dates"
    plain = sum(rows for date, rows in dates.items() if day_of(date) != NONE)
    if given is None and plain >= needed:
        return None, ""
    if given is None and (unit := epoch_unit(dates)) is not None:
        return unit, ""
    forms = FORMATS if given is None else (given,)
    read = {form: sum(rows for date, rows in dates.items() if day_of(date, form) != NONE) for form in forms}
    most = max(read.values())
    best = [form for form, count in read.items() if count == most]
    if given is None and plain and plain >= most:
        odd = printable(next(date for date in dates if day_of(date) == NONE))
        return None, (
            f"{100 * plain / sum(dates.values()):.0f} % of its dates are read, {100 * MOSTLY:.0f} % are asked for, and "
            f"others are such as {odd}; correct them, or name the column as 'date' under 'columns': the others then "
            "count as posts without one"
        )
    if most < needed:
        if given is None and most:
            one, other = (
                next(date for date in dates if (day_of(date, best[0]) == NONE) == odd) for odd in (False, True)
            )
            return None, f"dates have several forms, such as {printable(one)} and {printable(other)}; write all in one"
        of = "of no form that is known; give it as --date-format" if given is None else "of another form"
        return None, f"dates such as {printable(next(iter(dates)))} are {of}"
    if len(best) > 1:
        return None, f"{printable(next(iter(dates)))} may be {' or '.join(best)}; give one of them as --date-format"
    return best[0], ""


def _named(columns: Iterable[str], role: str) -> str | None:
    """Return the column that is called what columns of a role are called, the commonest name first."""
    full = {name.strip().casefold().replace(" ", "_").replace("-", "_"): name for name in columns}
    plain = {name.rpartition(".")[2]: column for name, column in full.items()} | full
    return next((plain[name] for name in NAMES[role] if name in plain), None)
