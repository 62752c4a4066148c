"""Text without its content: function words, punctuation and shapes of the other words, sentence by sentence.

What an n-gram model of such text knows is an author's grammar, as LambdaG's authors mask content with POSnoise (Halvani
and Graner 2021). Without a tagger, a content word is known by its capital and its ending. The list is English.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from favor.corpora.style_features import VERIFIER_WORDS

NUMBER, WORD, CAPITAL_WORD = "<0>", "<w>", "<W>"  # no token of a text begins like these
_FUNCTION_WORDS = frozenset(VERIFIER_WORDS)
_TOKEN = re.compile(
    r"(?P<word>[^\W\d_]+(?:'[^\W\d_]+)*)|(?P<number>\d+(?:[.,:]\d+)*)|(?P<mark>([^\w\s]|_)\4*)|(?P<line>\n)"
)
_ENDING = re.compile(r"(?:ing|ed|ly|s)$")
_LONGEST_MARK = 3  # "!!!!" is "!!!"


class Token(NamedTuple):
    """A token of masked text, and where it starts in the text."""

    form: str
    start: int


def is_function_word(word: str) -> bool:
    """Whether a word is on the list, or a contraction: of a word on the list, or with "n't"."""
    plain = word.lower()
    return plain in _FUNCTION_WORDS or plain.endswith("n't") or plain.split("'")[0] in _FUNCTION_WORDS


def masked_sentences(text: str) -> list[list[Token]]:
    """Return the sentences of ``text``.

    They end at line breaks and after full stops, marks of exclamation and question, and ellipses. Function words keep
    their letter case, a run of one mark is one token of up to three, numbers are one class. Other words are told apart
    by a capital and by the endings -ing, -ed, -ly and -s alone.
    """
    sentences: list[list[Token]] = [[]]
    for found in _TOKEN.finditer(text.replace("’", "'")):
        kind, form = found.lastgroup, found.group()
        if kind == "line":
            sentences.append([])
            continue
        if kind == "number":
            form = NUMBER
        elif kind == "mark":
            form = form[:_LONGEST_MARK]
        elif not is_function_word(form):
            ending = _ENDING.search(form.lower())
            form = (CAPITAL_WORD if form[0].isupper() else WORD) + (ending[0] if ending else "")
        sentences[-1].append(Token(form, found.start()))
        if kind == "mark" and form[0] in ".!?…":
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def function_word_share(sentences: Iterable[Iterable[str]]) -> float:
    """Return the share of function words among the words of masked sentences; 0 without a word."""
    forms = [form for sentence in sentences for form in sentence]
    function = sum(form[0].isalpha() for form in forms)
    content = sum(form.lower().startswith(WORD[:2]) for form in forms)
    return function / (function + content) if function + content else 0.0
