"""Corpora: where texts come from, which of them are kept, and which role their authors take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from favor.config.declarations import declared_value
from favor.config.section import (
    OR_NULL,
    Filled,
    Natural,
    NotNegative,
    Positive,
    Section,
    Seed,
    Share,
    Similarity,
    check_known,
    fill,
    key,
    refuse,
    section,
)
from favor.foundation.names import printable, shared_value
from favor.foundation.registry import CORPUS_READERS

# Formats that a generated corpus is written in.
DEMO_READERS = {"blog": "blog_csv", "mythos": "mythos"}

MOST_AUTHORS = 1_000_000  # plans and generated corpora are made in memory

ColumnRole = Literal["author", "text", "topic", "prompt", "date"]


class DemoCorpus(Section):
    """A generated corpus."""

    shape: Literal["blog", "mythos"] = key(
        "blog", "Blog posts for the reader `blog_csv`, or stories with writing prompts for the reader `mythos`."
    )
    seed: Seed = key(2026, "Random seed of the generated corpus.")
    authors: int = key(48, "Number of authors.", ge=4, le=MOST_AUTHORS)
    minimum_posts: int = key(40, "Number of posts of the smallest author.", ge=1)
    maximum_posts: int = key(330, "Number of posts of the largest author.", ge=1, le=100_000)
    minimum_words: int = key(60, "Number of words of the shortest post.", ge=1)
    maximum_words: int = key(300, "Number of words of the longest post.", ge=1, le=100_000)
    volume_alpha: NotNegative = key(0.7, "Exponent of the long tail of volumes.")
    tiny_authors: int = key(2, "Number of extra authors with three posts each.", ge=0, le=MOST_AUTHORS)
    shared_pairs: int = key(1, "Number of extra pairs of accounts that share posts.", ge=0, le=MOST_AUTHORS)
    topics: int = key(5, "Number of topics; authors have each in turn, then the unknown one.", ge=1, le=5)

    def check(self, where: str) -> None:
        """Check that no maximum is below its minimum. Raises ``UserError`` that names the key."""
        for unit in ("posts", "words"):
            least, most = getattr(self, f"minimum_{unit}"), getattr(self, f"maximum_{unit}")
            if most < least:
                refuse(f"{where}.maximum_{unit}", f"{most} is less than minimum_{unit}, {least}; raise it")


class Roles(Section):
    """How many authors each role takes; no author has two roles."""

    clients: int = key(50, "Authors who are clients of the federation.", ge=2, le=MOST_AUTHORS)
    asce_a: int = key(50, "Authors whose texts train the style encoder.", ge=0, le=MOST_AUTHORS)
    asce_b: int = key(50, "Authors whose texts train the independent second style encoder.", ge=0, le=MOST_AUTHORS)
    background: int = key(0, "Authors whose texts pretrain a small base model.", ge=0, le=MOST_AUTHORS)


class AuthorFilters(Section):
    """Which authors take no role but that of the background; the paper has no such filters, so none is set."""

    languages: list[Annotated[str, StringConstraints(pattern="^[a-z]{2,3}$")]] = key(
        [], "Authors whose most frequent language is not one of these are left out (ISO 639 codes); [] keeps all."
    )
    language_share: Share = key(0.8, "With `languages`: least share of an author's posts in that language.")
    minimum_characters_per_token: Positive | None = key(
        None, "Authors with fewer characters per token are left out: their text is of another language, or garbled."
    )
    maximum_quoted_mail: Share | None = key(
        None, "Authors a larger share of whose posts quotes or forwards mail are left out."
    )
    maximum_near_duplicates: Share | None = key(
        None, "Authors a larger share of whose posts has a near duplicate are left out."
    )

    @property
    def any_set(self) -> bool:
        """Whether any author may be left out."""
        limits = (self.minimum_characters_per_token, self.maximum_quoted_mail, self.maximum_near_duplicates)
        return bool(self.languages) or any(limit is not None for limit in limits)


class Corpus(Section):
    """One corpus: its source, its filters, and the roles of its authors."""

    title: Filled = key("Corpus", "Name printed in tables.")
    paper_dataset: Literal["BlogText", "Mythos-Reddit"] | None = key(
        None, "Corpus of the paper whose published values are printed beside yours; null prints none."
    )
    reader: str = key("blog_csv", "Format of the source: a module of `src/favor/corpora/readers`.")
    path: str | None = key(None, "Raw corpus, a file or a folder; null takes `corpus_path`.")
    demo: DemoCorpus | None = key(None, "Generates this corpus instead of reading one.")
    encoding: Annotated[str, OR_NULL] = key(
        None,
        "Text encoding of the raw files, or of those posts of `blog_xml` that are not UTF-8; null takes the reader's "
        "own: cp1252 for `blog_xml`, utf-8 for the others.",
    )
    columns: dict[ColumnRole, str] = key(
        {}, "Column names of the source where they differ, by role: `author`, `text`, `topic`, `prompt`, `date`."
    )
    excluded_authors: Annotated[list[str], OR_NULL] = key(
        None,
        "Author names that stand for nobody, or for a robot; their posts are dropped. Null takes the reader's own: "
        "`[deleted]`, `AutoModerator` and the like for `mythos`, none for the others.",
    )
    excluded_texts: Annotated[list[str], OR_NULL] = key(
        None,
        "Texts that stand for a post that is gone; they are dropped. Null takes the reader's own: `[removed]`, "
        "`[deleted]` and the like for `mythos`, none for the others.",
    )
    words: Literal["paper", "unicode", "segmented", "characters"] = key(
        "paper",
        "What counts as a word: runs of A to Z in documents and what white space separates in continuations, as the "
        "paper counts (`paper`); letters of any script (`unicode`); words of languages without spaces too, by ICU's "
        "dictionaries (`segmented`); or single letters (`characters`).",
    )
    shared_authors: Literal["drop", "keep_larger", "merge"] = key(
        "drop",
        "What happens to authors who share five or more long posts: they are dropped, all but the one with the most "
        "words are dropped, or they are merged into one.",
    )
    near_duplicates: Similarity | None = key(
        0.7,
        "Jaccard similarity of their five-word sequences from which two posts are near duplicates, which are counted "
        "and give no prompts; null looks for none.",
    )
    filters: AuthorFilters = section(AuthorFilters, "Which authors take no role but that of the background.")
    minimum_posts: int = key(10, "Authors with fewer posts are left out.", ge=3)
    split: Literal["random", "temporal"] = key(
        "random",
        "How an author's posts are divided: shuffled, as the paper does, or by date, the oldest to train on and the "
        "newest to test on.",
    )
    undated: Literal["refuse", "drop"] = key(
        "refuse", "With `split: temporal`: whether posts without a date stop the run, or are left out and counted."
    )
    tokenizer: str | None = key(
        None, "Base model whose tokenizer counts tokens; null takes the base model of this corpus's first experiment."
    )
    minimum_tokens: Natural = key(30000, "Authors with fewer tokens are left out.")
    roles: Roles = section(Roles, "How many authors each role takes.")
    background_minimum_words: Natural = key(2000, "Background authors have at least this many words.")
    selection: Literal["style_diverse", "random"] = key(
        "style_diverse", "How clients are chosen: one author per style cluster in turn, or at random."
    )
    style_clusters: int = key(10, "Number of style clusters that clients are drawn from.", ge=1)
    seed: Seed = key(2026, "Random seed of splits and roles.")

    def complete(self, where: str) -> None:
        """Fill in what the reader's own file declares. Raises ``UserError`` that names the key."""
        check_known(self.reader, CORPUS_READERS.names(), f"{where}.reader")
        reader = CORPUS_READERS.path(self.reader)
        if self.encoding is None:
            fill(self, encoding=declared_value(reader, "ENCODING", "utf-8"))
        if self.excluded_authors is None:
            fill(self, excluded_authors=declared_value(reader, "EXCLUDED_AUTHORS", []))
        if self.excluded_texts is None:
            fill(self, excluded_texts=declared_value(reader, "EXCLUDED_TEXTS", []))

    def check(self, where: str) -> None:
        """Check what concerns this corpus alone. Raises ``UserError`` that names the key."""
        try:
            "".encode(self.encoding)  # Python also has encodings that are not of text, such as base64
        except (LookupError, ValueError) as error:
            refuse(
                f"{where}.encoding",
                f"{str(error).partition(';')[0]}; name one that Python knows, such as utf-8 or cp1252",
            )
        if self.filters.maximum_near_duplicates is not None and self.near_duplicates is None:
            refuse(f"{where}.filters.maximum_near_duplicates", f"needs '{where}.near_duplicates'; set that too")
        if self.demo is not None:
            self.demo.check(f"{where}.demo")
        wanted = DEMO_READERS[self.demo.shape] if self.demo else None
        if wanted and self.reader in DEMO_READERS.values() and self.reader != wanted:
            refuse(
                f"{where}.reader",
                f"'{self.reader}' cannot read a generated corpus of shape '{self.demo and self.demo.shape}'; "
                f"set it to {wanted}",
            )
        own = declared_value(CORPUS_READERS.path(self.reader), "COLUMNS", self.columns)
        for role in self.columns:
            if role not in own:
                valid = f"it reads {', '.join(own)}" if own else "its source has no columns"
                refuse(f"{where}.columns.{role}", f"the reader '{self.reader}' does not read it; {valid}")
        names = dict(sorted({**own, **self.columns}.items()))
        both = shared_value(names)
        if both:
            refuse(f"{where}.columns", f"'{names[both[0]]}' is both {both[0]} and {both[1]}; name a column for each")

    def check_path(self, where: str) -> None:
        """Check that the raw corpus exists and can be read twice. Raises ``UserError`` that names the key."""
        if self.demo is not None or self.path is None:
            return
        path = Path(self.path)
        if not self.path.strip():
            refuse(f"{where}.path", "it is empty; give the raw corpus, or null to take 'corpus_path'")
        if not path.exists():
            refuse(f"{where}.path", f"{printable(self.path)} does not exist; correct the path")
        if not (path.is_file() or path.is_dir()):
            refuse(f"{where}.path", f"{printable(self.path)} is a pipe or a device; save it as a file")
