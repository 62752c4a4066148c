"""Whether texts are in the language of other authors, by the words that are commonest among those: function words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from favor.foundation.errors import UserError
from favor.voice.texts import WORDS

COMMON = 50  # words of the list
LEAST = 0.5  # of the list that an author uses in the same language
FEW = 1 / 3  # of the usual share of its words in a text


@dataclass(frozen=True)
class Language:
    """The commonest ``words`` of several authors, and which share of their text is made of them (``usual``)."""

    words: frozenset[str]
    usual: float

    @classmethod
    def of(cls, authors: Mapping[str, Sequence[str]]) -> "Language":
        """Return the language of authors, each of whom counts alike."""
        rates: dict[str, float] = {}
        for texts in authors.values():
            own = Counter(word for text in texts for word in _words(text))
            for word, number in own.items():
                rates[word] = rates.get(word, 0.0) + number / own.total() / len(authors)
        common = sorted(rates, key=lambda word: (-rates[word], word))[:COMMON]
        return cls(frozenset(common), sum(rates[word] for word in common))

    def foreign(self, texts: Sequence[str]) -> str:
        """Return why the ``texts`` of an author, thousands of words, are in another language, or "" if they are not."""
        used = self.words & {word for text in texts for word in _words(text)}
        if len(used) >= LEAST * len(self.words):
            return ""
        return f"they use {len(used)} of the others' {len(self.words)} commonest words"

    def few(self, text: str) -> bool:
        """Whether one text has few of the words: it is in another language, or a list."""
        words = _words(text)
        return sum(word in self.words for word in words) < FEW * self.usual * len(words)


def check_language(own: Sequence[str], contrast: Mapping[str, Sequence[str]]) -> Language:
    """Return the language of the contrast. Raises ``UserError`` where the author's texts are not in it."""
    language = Language.of(contrast)
    reason = language.foreign(own)
    if reason:
        raise UserError(
            f"the author's texts are not in the language of the other authors ({reason}); name authors who write in "
            "that language with --contrast"
        )
    return language


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORDS.split(text)]
