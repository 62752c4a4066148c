"""Corpora: where texts come from, which of them are kept, and which role their authors take."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from favor.config.section import Natural, NotNegative, Section, Seed, Similarity, check_known, key, refuse, section

# Formats that a generated corpus is written in.
DEMO_READERS = {"blog": "blog_csv", "mythos": "mythos"}

ColumnRole = Literal["author", "text", "topic", "prompt", "date"]


class DemoCorpus(Section):
    """A generated corpus."""

    shape: Literal["blog", "mythos"] = key(
        "blog", "Blog posts for the reader `blog_csv`, or stories with writing prompts for the reader `mythos`."
    )
    seed: Seed = key(2026, "Random seed of the generated corpus.")
    authors: int = key(48, "Number of authors.", ge=4)
    minimum_posts: int = key(40, "Number of posts of the smallest author.", ge=1)
    maximum_posts: int = key(330, "Number of posts of the largest author.", ge=1)
    minimum_words: int = key(60, "Number of words of the shortest post.", ge=1)
    maximum_words: int = key(300, "Number of words of the longest post.", ge=1)
    volume_alpha: NotNegative = key(0.7, "Exponent of the long tail of volumes.")
    tiny_authors: int = key(2, "Number of extra authors with three posts each.", ge=0)
    shared_pairs: int = key(1, "Number of extra pairs of accounts that share posts.", ge=0)

    def check(self, where: str) -> None:
        """Check that no maximum is below its minimum. Raises ``UserError`` that names the key."""
        for unit in ("posts", "words"):
            least, most = getattr(self, f"minimum_{unit}"), getattr(self, f"maximum_{unit}")
            if most < least:
                refuse(f"{where}.maximum_{unit}", f"{most} is less than minimum_{unit}, {least}; raise it")


class Roles(Section):
    """How many authors each role takes; no author has two roles."""

    clients: int = key(50, "Authors who are clients of the federation.", ge=2)
    asce_a: Natural = key(50, "Authors whose texts train the style encoder.")
    asce_b: Natural = key(50, "Authors whose texts train the independent second style encoder.")
    background: Natural = key(0, "Authors whose texts pretrain a small base model.")


class Corpus(Section):
    """One corpus: its source, its filters, and the roles of its authors."""

    title: str = key("Corpus", "Name printed in tables.")
    paper_dataset: Literal["BlogText", "Mythos-Reddit"] | None = key(
        None, "Corpus of the paper whose published values are printed beside yours; null prints none."
    )
    reader: str = key("blog_csv", "Format of the source: a module of `src/favor/corpora/readers`.")
    path: str | None = key(None, "Raw corpus, a file or a folder; null takes `corpus_path`.")
    demo: DemoCorpus | None = key(None, "Generates this corpus instead of reading one.")
    encoding: str = key("utf-8", "Text encoding of the raw files.")
    columns: dict[ColumnRole, str] = key(
        {}, "Column names of a `table` or `mythos` source, by role: `author`, `text`, `topic`, `prompt`, `date`."
    )
    words: Literal["paper", "unicode", "segmented", "characters"] = key(
        "paper",
        "What counts as a word: runs of A to Z in documents and what white space separates in continuations, as the "
        "paper counts (`paper`); letters of any script (`unicode`); words of languages without spaces too, by ICU's "
        "dictionaries (`segmented`); or single letters (`characters`).",
    )
    shared_authors: Literal["drop", "merge"] = key(
        "drop", "What happens to authors who share five or more long posts: they are dropped or merged into one."
    )
    near_duplicates: Similarity | None = key(
        0.7,
        "Jaccard similarity of their five-word sequences from which two posts are near duplicates, which are counted "
        "and give no prompts; null looks for none.",
    )
    minimum_posts: int = key(10, "Authors with fewer posts are left out.", ge=3)
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

    def check(self, where: str, readers: list[str]) -> None:
        """Check what concerns this corpus alone. Raises ``UserError`` that names the key."""
        check_known(self.reader, readers, f"{where}.reader")
        try:
            "".encode(self.encoding)  # Python also has encodings that are not of text, such as base64
        except (LookupError, ValueError) as error:
            refuse(
                f"{where}.encoding",
                f"{str(error).partition(';')[0]}; name one that Python knows, such as utf-8 or cp1252",
            )
        if self.demo is not None:
            self.demo.check(f"{where}.demo")
        wanted = DEMO_READERS[self.demo.shape] if self.demo else None
        if wanted and self.reader in DEMO_READERS.values() and self.reader != wanted:
            refuse(
                f"{where}.reader",
                f"'{self.reader}' cannot read a generated corpus of shape '{self.demo and self.demo.shape}'; "
                f"set it to {wanted}",
            )
        named = sorted(self.columns.items())
        for position, (role, column) in enumerate(named):
            for other, taken in named[:position]:
                if column == taken:
                    refuse(f"{where}.columns", f"'{column}' is both {other} and {role}; name a column for each")

    def check_path(self, where: str) -> None:
        """Check that the raw corpus exists. Raises ``UserError`` that names the key."""
        if self.demo is None and self.path is not None and not Path(self.path).exists():
            refuse(f"{where}.path", f"{self.path} does not exist; correct the path")
