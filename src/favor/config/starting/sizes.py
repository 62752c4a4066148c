"""Which authors take part and how much they train on, from how much text there is."""

from typing import NamedTuple

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.names import printable

LONG_POST = 80  # words of a post that gives a prompt of 32 tokens and an own continuation of 48
REAL_BASE = "resources/SmolLM2-135M-Instruct.Q4_1.gguf"  # of "make real-base"
FEWEST_CLIENTS = 6
ENCODER_AUTHORS, BACKGROUND_AUTHORS, PRETRAINED_CLIENTS = 12, 20, 8  # those of the tutorial
MOST_CLIENTS, MOST_ENCODER_AUTHORS = 24, 50
# Posts and words of an author: the first that many authors have, or that leaves none out.
THRESHOLDS = ((40, 6000), (20, 3000), (10, 1500))
MANY = 60
MOST_PROMPTS = 4
WORDS = {True: 1000, False: 2500}  # that a client trains on, with the real base and with one made here
TRAINING_SHARE = 0.7  # of an author's words, that is surely there to train on


class Sizes(NamedTuple):
    """Thresholds and roles. ``real``: whether the real base is there. ``eligible``: authors above the thresholds.

    ``prompts``: per client; as many as half of those who have any give, up to ``MOST_PROMPTS``.
    """

    minimum_posts: int
    minimum_words: int
    eligible: int
    real: bool
    clients: int
    asce_a: int
    background: int
    words_per_client: int
    prompts: int


def sizes_of(authors: pd.DataFrame, real: bool, source: str) -> Sizes:
    """Return sizes for authors (documents, words, long_test_posts), given that their posts can be split.

    Raises ``UserError`` that says how many authors are missing.
    """
    needed = FEWEST_CLIENTS if real else PRETRAINED_CLIENTS + ENCODER_AUTHORS + BACKGROUND_AUTHORS
    least = FEWEST_CLIENTS if real else PRETRAINED_CLIENTS
    above = [authors[(authors["documents"] >= posts) & (authors["words"] >= words)] for posts, words in THRESHOLDS]
    writing = [int((enough["long_test_posts"] > 0).sum()) for enough in above]
    many = min(MANY, len(above[-1]))
    at = next((at for at, enough in enumerate(above) if len(enough) >= many and writing[at] >= least), -1)
    (posts, words), enough, writers = THRESHOLDS[at], above[at], writing[at]
    if len(enough) < needed or writers < least:
        why = "as clients" if real else "to train a base model, a style encoder and clients"
        remedy = "" if real else f"; with the base of 'make real-base' {FEWEST_CLIENTS} are enough"
        if len(authors) == 1:
            remedy = f"; the one author is {printable(authors.index[0])}, whose voice is what 'favor voice' is for"
        raise UserError(
            f"{source}: {len(enough)} of {len(authors)} authors have {posts} posts and {words:,} words, and {writers} "
            f"of them posts of {LONG_POST} words to test on, but {needed} are needed {why}{remedy}"
        )
    background = 0 if real else max(BACKGROUND_AUTHORS, len(enough) // 2)
    left = len(enough) - background
    asce_a = min(MOST_ENCODER_AUTHORS, left // 2) if left >= 2 * ENCODER_AUTHORS else 0
    asce_a = asce_a or (0 if real else ENCODER_AUTHORS)
    clients = min(MOST_CLIENTS, left - asce_a, max(least, writers - asce_a - background))
    budget = min(WORDS[real], int(TRAINING_SHARE * enough["words"].min()) // 100 * 100)
    long_posts = enough["long_test_posts"]
    prompts = min(MOST_PROMPTS, int(long_posts[long_posts > 0].median()))
    return Sizes(posts, words, len(enough), real, clients, asce_a, background, budget, prompts)
