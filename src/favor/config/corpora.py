"""What a corpus takes from its reader, and what can be wrong with its keys."""

from pathlib import Path

from favor.corpora.dates import names_days
from favor.corpora.settings import Corpus
from favor.corpora.sources import NO_ENCODING, text_encoding
from favor.foundation.declarations import declared_value
from favor.foundation.names import printable, shared_value
from favor.foundation.registry import CORPUS_READERS
from favor.foundation.section import check_known, refuse, set_keys

_NO_CSV = (".jsonl", ".ndjson", ".parquet", ".pq")
# Formats that a generated corpus is written in.
DEMO_READERS = {"blog": "blog_csv", "mythos": "mythos"}


def complete_corpus(corpus: Corpus, where: str) -> None:
    """Fill in what the reader's own file declares. Raises ``UserError`` that names the key."""
    check_known(corpus.reader, CORPUS_READERS.names(), f"{where}.reader")
    reader = CORPUS_READERS.path(corpus.reader)
    for key, otherwise in (("encoding", "utf-8"), ("excluded_authors", []), ("excluded_texts", [])):
        if getattr(corpus, key) is None:
            set_keys(corpus, **{key: declared_value(reader, key.upper(), otherwise)})


def check_corpus(corpus: Corpus, where: str) -> None:
    """Check what concerns this corpus alone. Raises ``UserError`` that names the key."""
    if text_encoding(corpus.encoding) is None:
        refuse(f"{where}.encoding", f"{corpus.encoding!r} {NO_ENCODING}")
    if corpus.filters.maximum_near_duplicates is not None and corpus.near_duplicates is None:
        refuse(f"{where}.filters.maximum_near_duplicates", f"needs '{where}.near_duplicates'; set that too")
    for unit in ("posts", "words") if corpus.demo is not None else ():
        least, most = getattr(corpus.demo, f"minimum_{unit}"), getattr(corpus.demo, f"maximum_{unit}")
        if most < least:
            refuse(f"{where}.demo.maximum_{unit}", f"{most} is less than minimum_{unit}, {least}; raise it")
    wanted = DEMO_READERS[corpus.demo.shape] if corpus.demo else None
    if wanted and corpus.reader in DEMO_READERS.values() and corpus.reader != wanted:
        refuse(
            f"{where}.reader",
            f"'{corpus.reader}' cannot read a generated corpus of shape '{corpus.demo and corpus.demo.shape}'; "
            f"set it to {wanted}",
        )
    own = declared_value(CORPUS_READERS.path(corpus.reader), "COLUMNS", corpus.columns)
    if corpus.separator is not None and (not own or set(Path(corpus.path or "").suffixes) & {*_NO_CSV}):
        refuse(
            f"{where}.separator", "its source has no such sign, which stands between the columns of a CSV; remove it"
        )
    if corpus.date_format is not None and not names_days(corpus.date_format):
        refuse(
            f"{where}.date_format",
            f"'{printable(corpus.date_format)}' names no day; give day, month and year, such as %d.%m.%Y, "
            "or 'seconds' or 'milliseconds' since 1970",
        )
    for role in corpus.columns:
        if role not in own:
            valid = f"it reads {', '.join(own)}" if own else "its source has no columns"
            refuse(f"{where}.columns.{role}", f"the reader '{corpus.reader}' does not read it; {valid}")
    names = dict(sorted({**own, **corpus.columns}.items()))
    both = shared_value(names)
    if both:
        refuse(f"{where}.columns", f"'{names[both[0]]}' is both {both[0]} and {both[1]}; name a column for each")


def check_corpus_path(corpus: Corpus, where: str) -> None:
    """Check that the raw corpus exists and can be read twice. Raises ``UserError`` that names the key."""
    if corpus.demo is not None or corpus.path is None:
        return
    path = Path(corpus.path)
    if not corpus.path.strip():
        refuse(f"{where}.path", "it is empty; give the raw corpus, or null to take 'corpus_path'")
    if not path.exists():
        refuse(f"{where}.path", f"{printable(corpus.path)} does not exist; correct the path")
    if not (path.is_file() or path.is_dir()):
        refuse(f"{where}.path", f"{printable(corpus.path)} is a pipe or a device; save it as a file")
