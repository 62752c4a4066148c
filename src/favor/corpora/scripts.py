"""Letters of a corpus: counts of A to Z and of words, Unicode scripts, and posts in which no word was found."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from fontTools import unicodedata as scripts  # type: ignore[import-untyped]

from favor.corpora.schemas import SCRIPTS
from favor.foundation.errors import UserError
from favor.foundation.words import UNSPACED

_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
NONE = "none"  # of posts without a letter


@cache
def _script(character: str) -> str:
    """Return the name of a letter's script, "" for what is not a letter."""
    return scripts.script_name(scripts.script(character)) if character.isalpha() else ""


def letters_beyond_ascii(text: str) -> Counter[str]:
    """Return the number of letters of ``text`` but A to Z by the Unicode name of their script."""
    found = Counter[str]()
    for character, count in Counter(_BEYOND_ASCII.findall(text)).items():
        if name := _script(character):
            found[name] += count
    return found


class ScriptCounts:
    """Counts of a corpus as its posts are read, before any is dropped for anything but being empty."""

    def __init__(self) -> None:
        self.letters: Counter[str] = Counter()
        self.plain = 0
        self.posts: Counter[str] = Counter()
        self.wordless: Counter[str] = Counter()

    def add(self, text: str, plain: int, dropped: bool) -> None:
        """Count a cleaned post of ``plain`` letters A to Z; ``dropped``: too few words were found in it."""
        self.plain += plain
        letters = {"Latin": plain} if plain else {}
        if not text.isascii():
            letters = Counter(letters) + letters_beyond_ascii(text)
        for name, count in letters.items():
            self.letters[name] += count
        main = max(sorted(letters), key=letters.__getitem__) if letters else NONE
        self.posts[main] += 1
        self.wordless[main] += dropped

    def table(self) -> pd.DataFrame:
        """Return the ``scripts`` table."""
        rows = [
            (name, self.letters[name], self.posts[name], self.wordless[name])
            for name in sorted({*self.letters, *self.posts})
        ]
        return pd.DataFrame(rows, columns=SCRIPTS.names).astype(SCRIPTS.empty().dtypes.to_dict())

    def check(self, source: str, words: str) -> None:
        """Raise ``UserError`` where most letters of the corpus are of a kind that ``words`` does not count.

        Under "paper" these are all but A to Z, under "unicode" those of scripts without spaces, whose runs would each
        count as one word.
        """
        total = self.letters.total()
        unspaced = sum(self.letters[name] for name in UNSPACED)
        lost = {"paper": total - self.plain, "unicode": unspaced}.get(words, 0)
        if total and lost > total / 2:
            most = ", ".join(f"{name} {count / total:.0%}" for name, count in self.letters.most_common(3))
            remedy = "segmented or characters" if unspaced > total / 2 else "unicode"
            raise UserError(
                f"{source}: {lost / total:.0%} of the letters are not in words as corpus key 'words: {words}' counts "
                f"them (scripts: {most}); set it to {remedy}"
            )


_IS_LETTER = np.isin(np.arange(256), list(string.ascii_letters.encode()))


def count_letters_and_words(texts: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Return the letters A to Z of each text in UTF-8, and its words as the paper counts them.

    A word begins at a letter that neither a letter nor an apostrophe after a letter precedes, so the counts are
    those of :func:`favor.foundation.words.document_words` under "paper".
    """
    if not texts:
        return [], []
    signs = np.frombuffer(b"  " + b" ".join(texts) + b" ", dtype=np.uint8)
    letters = _IS_LETTER[signs]
    begins = letters[2:] & ~letters[1:-1] & ~(letters[:-2] & (signs[1:-1] == ord("'")))
    starts = np.cumsum([0, *(len(text) + 1 for text in texts[:-1])])
    per_text = (np.add.reduceat(found, starts, dtype=np.int64).tolist() for found in (letters[2:], begins))
    return next(per_text), next(per_text)
