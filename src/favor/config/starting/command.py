"""The command ``favor init``: it looks at a corpus and writes a configuration for it."""

import re
import shlex
import sys
import unicodedata
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from favor.config.checks import RESERVED_EXPERIMENTS
from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.config.starting.sizes import REAL_BASE, THRESHOLDS, Sizes, sizes_of
from favor.config.starting.source import Source, look_at
from favor.corpora.settings import Splitting
from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.foundation.names import printable
from favor.foundation.section import NAME

READERS = {
    "table": "one row per post",
    "text_folder": "a folder per author with a text file per post",
    "blog_xml": "the files of the Blog Authorship Corpus",
}
EXPORTED = "an export, or a folder of one per author"


def run(
    data: Path, output: Path | None, checkout: Path, date_format: str | None = None, encoding: str | None = None
) -> None:
    """Look at the data, write a configuration and say what was found.

    Raises ``UserError`` where it cannot work; nothing is written then.
    """
    name = re.sub(r"\W+", "_", data.absolute().name.partition(".")[0]).strip("_") or "own"
    output = output or Path(f"{name}.yaml")
    if output.is_dir():
        raise UserError(f"--output {output} is a folder; name a file in it")
    if output.exists():
        raise UserError(f"{output} exists; check it with 'favor check', or name another file with --output")
    try:
        source = look_at(data, Splitting(minimum_posts=THRESHOLDS[-1][0]), date_format, encoding)
    except UserError as error:
        raise UserError(str(error).replace("set the corpus key 'encoding'", "give --encoding")) from None
    base = Path(REAL_BASE) if Path(REAL_BASE).is_file() else checkout / REAL_BASE
    try:
        sizes = sizes_of(source.authors, base.is_file(), str(source.path))
    except UserError as error:
        raise UserError("; ".join([str(error), *filter(None, [_columns(source)]), *_dropped(source)])) from None
    with atomic_path(output) as written:
        written.write_text(configuration(source, sizes, name, output, base), encoding="utf-8")
        resolve(read_files([written]))
    for line in found(source, sizes):
        print(line, file=sys.stderr)
    print(f"{output} is written; its comments say why. Next: favor check {shlex.quote(str(output))}")


def found(source: Source, sizes: Sizes) -> list[str]:
    """Return what was found, as lines."""
    columns = _columns(source)
    caution = (
        "too few authors to train a style encoder: FAVoR's target lies in MiniLM's space, which is of meaning; "
        "an encoder of style such as LUAR is better"
    )
    return [
        f"{source.reader}: {READERS.get(source.reader, EXPORTED)}" + (f"; {columns}" if columns else ""),
        *([f"what is not UTF-8 is read as {source.encoding}; --encoding sets another"] if source.encoding else []),
        f"{source.authors['documents'].sum():,} posts of {len(source.authors):,} authors, of whom {sizes.eligible} "
        f"have {sizes.minimum_posts} posts and {sizes.minimum_words:,} words",
        *_dropped(source),
        f"{sizes.clients} are clients, {sizes.asce_a} train a style encoder, {sizes.background} a base model",
        *([f"dates are not all read: {source.roles.undated}"] if source.roles.undated else []),
        *([] if sizes.asce_a else [caution]),
    ]


def _columns(source: Source) -> str:
    """Return which column was taken for what, "" where the data have none."""
    return ", ".join(f"{role} = {printable(name)}" for role, name in source.roles.columns.items())


def _dropped(source: Source) -> list[str]:
    """Return a line on the rows that cleaning drops, if it drops any."""
    listed = ", ".join(f"{reason.replace('_', ' ')} {rows:,}" for reason, rows in source.dropped.items())
    return [f"other rows are dropped: {listed}"] if listed else []


def configuration(source: Source, sizes: Sizes, name: str, output: Path, base: Path) -> str:
    """Return the text of the configuration."""
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    templates.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "sort_keys": False}
    return templates.get_template("own.yaml").render(
        source=source,
        sizes=sizes,
        name=_key(output.stem),
        title=name.replace("_", " ").capitalize(),
        data=printable(source.path.name),
        file=shlex.quote(printable(str(output))),
        base=str(base),
        posts=int(source.authors["documents"].sum()),
        authors=len(source.authors),
        columns=printable(", ".join(source.columns)),
        reader_note=READERS.get(source.reader, EXPORTED),
    )


def _key(name: str) -> str:
    """Return a name that corpus, experiment and folder can have: ASCII, no name of the workflow's own."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"\W+", "_", plain)[:50].strip("_")
    return found if re.match(NAME, found) and found not in RESERVED_EXPERIMENTS else f"own_{found}".strip("_")
