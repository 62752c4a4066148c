"""Hand-made style features of a text: rates of function words, marks, shapes and lengths; none names a topic.

Two sets stand apart, because published numbers hang on each: :func:`style_features`, by which the roster is made
style-diverse, and :func:`function_word_rates` with :func:`structure_rates`, the stylometric verifier of the scores.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

ROSTER_WORDS = re.findall(
    r"\w+",
    "a about after all also always am an and any are as at be because been but by can could did do even "
    "for from get go had has have he her his how i if in into is it its just know like little maybe me "
    "more much my never no not now of on one only or other our out over quite rather really she should so "
    "some such than that the their them then there these they thing think this those though thus to too "
    "up us very was we well were what when which while who will with would yet you your",
)
MARKS = (".", ",", "!", "?", ";", ":", "'", '"', "(", "-", "*", "/", "&", "...", "!!", ":)", "\n")
SHAPES = ("capitals", "capital_words", "small_i", "digits", "non_ascii", "contractions")
LENGTHS = ("word_length", "long_words", "sentence_words", "distinct_words")
FEATURES = (*ROSTER_WORDS, *MARKS, *SHAPES, *LENGTHS)

_ROSTER_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PERHAPS_WORD = re.compile(r"[A-Za-z\x80-\U0010ffff]+(?:'[A-Za-z\x80-\U0010ffff]+)*")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")

WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*")
_SENTENCE_END = re.compile(r"[.!?]+")

_LIST = """
    a about above across after again against ago all almost along already also although always am among an and
    another any anybody anyone anything are aren't around as at away back be because been before behind being below
    beside between both but by can can't cannot could couldn't despite did didn't do does doesn't doing don't down
    during each either else enough even ever every everybody everyone everything except few for from further had hadn't
    has hasn't have haven't he he's her here hers herself him himself his how however i i'd i'll i'm i've if in indeed
    instead into is isn't it it's its itself just least less let let's like many may maybe me might mine more most much
    must my myself near neither never nevertheless no nobody none nor not nothing now of off often on once one only onto
    or other others our ours ourselves out over own perhaps please quite rather really same several shall she she's
    should shouldn't since so some somebody someone something sometimes soon still such than that that's the their
    theirs them themselves then there there's therefore these they they're this those though through throughout thus
    till to together too toward towards under unless until up upon us very was wasn't we we'll we're we've well were
    weren't what whatever when whenever where wherever whether which while who whoever whom whose why will with within
    without won't would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
"""
VERIFIER_WORDS: tuple[str, ...] = tuple(_LIST.split())
PUNCTUATION = (".", ",", "!", "?", ";", ":", "'", '"', "-", "(", ")", "/", "*", "&", "~", "_", "@", "#")
_COUNTED = (
    "ellipses, repeated marks, dashes, digits, upper case, line breaks, double spaces, emoticons, capitalised words, "
    "all-capital words, lone lower-case i, lower-case sentence starts, contractions, word length, sentence length, "
    "sentence length deviation, long words, distinct words"
)
STRUCTURE = (*(f"rate of {mark}" for mark in PUNCTUATION), *_COUNTED.split(", "))


def _rates(counts: Counter[str], vocabulary: Sequence[str]) -> np.ndarray:
    """Return how often each word of ``vocabulary`` occurs per counted word: float64 [len(vocabulary)]."""
    return np.array([counts[word] for word in vocabulary], dtype=np.float64) / max(counts.total(), 1)


def style_features(text: str) -> np.ndarray:
    """Return the features of ``text``, float64 [len(FEATURES)], in the order of ``FEATURES``; zeros for no words.

    Function words, contractions and shapes of words are rates per word, marks and shapes of characters rates per
    character, lengths means in characters or words; distinct words are counted over the first 1,000.
    """
    counts, opening = Counter(words := _roster_words(text)), words[:1000]
    if not words:
        return np.zeros(len(FEATURES))
    lower = {word: word.lower().replace("’", "'") for word in counts}
    lowered = Counter(map(lower.__getitem__, words))
    sentences = text.replace(".", "\n").replace("!", "\n").replace("?", "\n").split("\n")
    beyond = Counter(_BEYOND_ASCII.findall(text))
    capitals, digits = (sum(map(text.count, signs)) for signs in (string.ascii_uppercase, string.digits))
    shapes = (
        (capitals + sum(beyond[sign] for sign in beyond if sign.isupper())) / len(text),
        sum(counts[word] for word in counts if len(word) > 1 and word.isupper()) / len(words),
        counts["i"] / len(words),
        (digits + sum(beyond[sign] for sign in beyond if sign.isdigit())) / len(text),
        beyond.total() / len(text),
        sum(lowered[word] for word in lowered if "'" in word) / len(words),
    )
    lengths = (
        sum(map(len, words)) / len(words),
        sum(counts[word] for word in counts if len(word) > 6) / len(words),
        len(words) / max(sum(map(bool, map(str.strip, sentences))), 1),
        len({lower[word] for word in opening}) / len(opening),
    )
    marks = (text.count(mark) / len(text) for mark in MARKS)
    return np.array([*_rates(lowered, ROSTER_WORDS), *marks, *shapes, *lengths])


def _roster_words(text: str) -> list[str]:
    """Return the runs of letters with inner apostrophes; a pattern that knows the letters of ASCII alone is faster."""
    found = _PERHAPS_WORD.findall(text)
    if text.isascii():
        return found
    return [word for part in found for word in ((part,) if part.isascii() else _ROSTER_WORD.findall(part))]


def standardise(features: np.ndarray) -> np.ndarray:
    """Return ``features`` [n, d] with mean 0 and standard deviation 1 a column; constant columns become 0."""
    deviation = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def function_word_rates(text: str) -> np.ndarray:
    """Occurrences of every function word per word of the text: float64 [len(VERIFIER_WORDS)]."""
    words = [word.lower() for word in WORD.findall(text.replace("’", "'"))]
    return _rates(Counter(words), VERIFIER_WORDS)


def structure_rates(text: str) -> np.ndarray:
    """The features named in ``STRUCTURE``: float64 [len(STRUCTURE)].

    Rates of marks, digits, cases and breaks are per character; those of words per word; lengths in characters per
    word and words per sentence; distinct words over the square root of words.
    """
    text = text.replace("’", "'")
    characters = max(len(text), 1)
    words = WORD.findall(text)
    total = max(len(words), 1)
    parts = [part for part in _SENTENCE_END.split(text) if WORD.search(part)]
    lengths = np.array([len(WORD.findall(part)) for part in parts] or [0], dtype=np.float64)
    per_character = [
        *(text.count(mark) for mark in PUNCTUATION),
        len(re.findall(r"\.{2,}|…", text)),
        len(re.findall(r"[!?]{2,}", text)),
        len(re.findall(r"--|–|—", text)),
        sum(character.isdigit() for character in text),
        sum(character.isupper() for character in text),
        text.count("\n"),
        len(re.findall(r"  ", text)),
        len(re.findall(r"[:;=]['-]?[)(DPpO/\\|]|<3|\^_*\^", text)),
    ]
    per_word = [
        sum(word[0].isupper() for word in words),
        sum(word.isupper() and len(word) > 1 for word in words),
        sum(word == "i" for word in words),
        sum(part.lstrip(" \n\t\"'()-*")[:1].islower() for part in parts),
        sum("'" in word for word in words),
    ]
    shape = [
        sum(map(len, words)) / total,
        float(lengths.mean()),
        float(lengths.std()),
        sum(len(word) > 6 for word in words) / total,
        len({word.lower() for word in words}) / np.sqrt(total),
    ]
    return np.array(
        [*(value / characters for value in per_character), *(value / total for value in per_word), *shape],
        dtype=np.float64,
    )
