"""Diversity of sets of texts: by hand, and against other people's implementations."""

import gzip
from itertools import combinations

import numpy as np
import pytest
from torchmetrics.functional.text import bleu_score
from vendi_score import vendi

from favor.statistics.diversity import (
    compression_ratio,
    ngram_kernel,
    self_bleu,
    self_repetition,
    vendi_growth,
    vendi_score,
)

TEXTS = [
    ["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "sat", "on", "the", "rug"],
    ["the", "cat", "sat", "on", "the", "mat", "and", "looked", "at", "the", "moon", "tonight"],
    ["a", "dog", "sat", "on", "the", "mat", "and", "the", "cat", "sat", "on", "the", "rug"],
    ["nobody", "ever", "saw", "a", "whale", "that", "sat", "on", "the", "rug"],
]


def test_vendi_score_counts_texts_that_have_nothing_in_common() -> None:
    assert vendi_score(np.eye(5)) == pytest.approx(5.0)
    assert vendi_score(np.ones((5, 5))) == pytest.approx(1.0)
    pairs = np.kron(np.eye(3), np.ones((2, 2)))  # three pairs of equal texts
    assert vendi_score(pairs) == pytest.approx(3.0)
    # eigenvalues of [[1, c], [c, 1]] / 2 are (1 + c) / 2 and (1 - c) / 2: .75 and .25 for c = .5
    assert vendi_score(np.array([[1, 0.5], [0.5, 1]])) == pytest.approx(
        np.exp(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    )
    assert np.isnan(vendi_score(np.zeros((0, 0))))


def test_vendi_score_is_that_of_its_authors() -> None:
    rows = np.random.default_rng(1).normal(size=(30, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert vendi_score(rows @ rows.T) == pytest.approx(vendi.score_K(rows @ rows.T))
    assert vendi_score(ngram_kernel(TEXTS)) == pytest.approx(vendi.score_K(ngram_kernel(TEXTS)))


def test_ngram_kernel_by_hand() -> None:
    kernel = ngram_kernel([["a", "b"], ["a", "c"], ["a", "b"]])
    # unigrams: cosine 1/2 between the first two; bigrams: none in common; equal texts: 1
    np.testing.assert_allclose(kernel, [[1, 0.25, 1], [0.25, 1, 0.25], [1, 0.25, 1]])


def test_compression_ratio_is_gzips_without_its_longer_frame() -> None:
    texts = [" ".join(words) for words in TEXTS]
    content = "\n".join(texts).encode()
    assert compression_ratio(texts) == len(content) / (len(gzip.compress(content, 9)) - 12)
    assert compression_ratio(texts * 50) > 10 * compression_ratio(texts)
    assert np.isnan(compression_ratio([]))


def test_self_bleu_is_the_mean_of_another_implementation() -> None:
    expected = []
    for number, words in enumerate(TEXTS):
        others = [" ".join(other) for place, other in enumerate(TEXTS) if place != number]
        expected.append(float(bleu_score([" ".join(words)], [others])))
    assert 0 < min(expected) < max(expected) < 1
    assert self_bleu(TEXTS) == pytest.approx(np.mean(expected), abs=1e-6)
    assert self_bleu([TEXTS[0]] * 3) == pytest.approx(1.0)
    assert self_bleu([["a", "b", "c", "d"], ["e", "f", "g", "h"]]) == 0.0
    assert np.isnan(self_bleu(TEXTS[:1]))
    # References of 3 and 5 words are equally close. The shorter one counts, so there is no penalty. torchmetrics takes
    # the first.
    tie = [["a", "b", "c", "d"], ["a", "b", "c", "d", "x"], ["a", "b", "c"]]
    longer = np.exp(np.mean(np.log([4 / 5, 3 / 4, 2 / 3, 1 / 2])))
    assert self_bleu(tie) == pytest.approx((1.0 + longer + 0.0) / 3)


def test_self_repetition_by_hand() -> None:
    # 2-grams: ab bc | ab bd | xy: ab is in one other text, each of bc, bd, xy in none
    texts = [["a", "b", "c"], ["a", "b", "d"], ["x", "y"]]
    assert self_repetition(texts, length=2) == pytest.approx(2 * np.log(2) / 3)
    assert self_repetition(texts) == 0.0


def test_growth_is_the_mean_over_subsets_of_authors() -> None:
    rows = np.random.default_rng(2).normal(size=(8, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kernel, authors = rows @ rows.T, np.repeat(np.array(["a", "b", "c", "d"], dtype=object), 2)
    curve = vendi_growth(kernel, authors, [2, 4], np.random.default_rng(0), subsets=400)
    every = [
        vendi_score(kernel[np.ix_(rows, rows)])
        for pair in combinations("abcd", 2)
        for rows in [np.flatnonzero(np.isin(authors.astype(str), pair))]
    ]
    assert curve[0] == pytest.approx(np.mean(every), rel=0.02)
    assert curve[1] == pytest.approx(vendi_score(kernel))
