"""Which of a client's own texts are nearest to a prompt: BM25 (Robertson and Zaragoza 2009) by the library bm25s."""

from collections.abc import Sequence

import bm25s
import numpy as np


def nearest_texts(texts: Sequence[str], query: str, count: int) -> list[int]:
    """Return the places of the ``count`` texts of highest BM25 score for ``query``, best first; the first on a tie.

    Words are those of the library's tokenizer: lower case, English stop words left out. A query without a known word
    scores every text 0.
    """
    corpus = bm25s.tokenize(list(texts), show_progress=False)
    if not corpus.vocab:
        return list(range(min(count, len(texts))))
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    (words,) = bm25s.tokenize([query], return_ids=False, show_progress=False)
    known = [word for word in words if word in corpus.vocab]
    scores = index.get_scores(known) if known else np.zeros(len(texts))
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]
