"""Neutral sentences, which no client wrote: what a model forgets is looked for in them.

``neutral.txt`` is from the middle of two English novels in the public domain, whose best-known lines a base model may
know by heart, shortened in places: Jane Austen, Sense and Sensibility (1811), chapter 21; Charlotte Bronte, Jane Eyre
(1847), chapter 12. Whoever has a corpus in another language gives sentences of its own
(``evaluation.likelihood.neutral``).
"""

from pathlib import Path

from favor.corpora.sources import decoded
from favor.foundation.errors import UserError


def neutral_passages(path: Path | None) -> list[str]:
    """Return passages of neutral sentences: those of the text file ``path``, or of ``neutral.txt`` beside this module.

    An empty line of the file ends a passage. Raises ``UserError`` for a file without text, or not in UTF-8.
    """
    path = path or Path(__file__).with_name("neutral.txt")
    text = decoded(path.read_bytes(), "utf-8", str(path), has_key=False)
    found = [" ".join(part.split()) for part in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")]
    if not any(found):
        raise UserError(f"{path}: holds no sentence; write some, or set 'evaluation.likelihood.neutral' to null")
    return [part for part in found if part]
