"""The output filter: a generation that is too short or collapsed into repetition, told by two counts."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from favor.foundation.words import output_words
from favor.lm.settings import OutputFilter


def distinct_bigram_ratio(text: str, words: str = "paper") -> float:
    """Distinct bigrams over bigrams of the lower-cased words; 0.0 with fewer than 2 words."""
    tokens = output_words(words).split(text.lower())
    if len(tokens) < 2:
        return 0.0
    return len(set(pairwise(tokens))) / (len(tokens) - 1)


def quality_columns(texts: Sequence[str], filter: OutputFilter | None = None, words: str = "paper") -> pd.DataFrame:
    """Return the columns words (int32), distinct_bigram_ratio (float64) and passed (bool), one row per text.

    A text fails with fewer words (the empty text included) or a smaller distinct-bigram ratio than ``filter`` says, by
    default the paper's ("Data preprocessing and metrics"). ``words``: what counts as one
    (:func:`favor.foundation.words.output_words`), in the paper what white space separates.
    """
    counts = np.array([output_words(words).count(text) for text in texts], dtype=np.int32)
    ratios = np.array([distinct_bigram_ratio(text, words) for text in texts], dtype=np.float64)
    limits = filter or OutputFilter()
    passed = (counts >= max(limits.minimum_words, 1)) & (ratios >= limits.minimum_distinct_bigram_ratio)
    return pd.DataFrame({"words": counts, "distinct_bigram_ratio": ratios, "passed": passed})


def generations_table(
    run: pd.DataFrame, texts: Sequence[str], tokens: Sequence[Sequence[int]], settings: OutputFilter, words: str
) -> pd.DataFrame:
    """Return the table ``generations``: ``run`` (seed, method, client, prompt_id, sample) with its texts, filtered.

    ``settings``: which pass; ``words``: what counts as one (:func:`favor.foundation.words.output_words`).
    """
    frame = run.reset_index(drop=True).assign(text=list(texts), tokens=[len(row) for row in tokens])
    return frame.join(quality_columns(list(texts), settings, words))
