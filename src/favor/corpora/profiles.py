"""Whose profile is it: benchmarks of personalisation give a profile of texts per question, and often no name."""

import hashlib
from collections import Counter
from collections.abc import Sequence

WORDS = 8  # texts of so many words are not written twice by chance
JOINED, APART = 0.5, 0.1  # share of the smaller profile from which two are one author's, and below which they are not


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


def text_key(text: str) -> int:
    """Return a digest of a text by which copies are found, however it is spaced."""
    plain = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "big")
