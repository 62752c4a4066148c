"""Words of any script."""

from __future__ import annotations

import unicodedata

import regex  # type: ignore[import-untyped]

# Scripts that put no spaces between words: each of their characters, with its marks, stands for a word.
_UNSPACED = "".join(
    rf"\p{{Script={name}}}" for name in ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
)
_APOSTROPHES = regex.compile("['’‘`ʼ＇]")
_COMPARED = regex.compile(rf"(?V1)[{_UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+")


def compared_words(text: str) -> list[str]:
    """Return the words by which two texts are compared: letter case, accents' encoding and punctuation do not count.

    Apostrophes join. In scripts without spaces every character is one.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _COMPARED.findall(_APOSTROPHES.sub("", plain))
