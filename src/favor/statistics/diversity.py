"""How varied a set of texts is: Vendi score, n-gram kernel, compression ratio, self-BLEU, self-repetition.

All of them depend on how long and how many the texts are: give them texts of one length, and compare sets of one size.
"""

import zlib
from collections import Counter
from collections.abc import Sequence
from math import exp, log

import numpy as np

Words = Sequence[str]


def vendi_score(kernel: np.ndarray) -> float:
    """Return exp(-sum_i l_i ln l_i) over the eigenvalues l of ``kernel`` / n (Friedman and Dieng 2023, eq. 1).

    ``kernel`` [n, n] is positive semidefinite with ones on its diagonal. The score counts how many texts that have
    nothing in common would be as varied: 1 for n equal texts, n for n that share nothing. NaN for no texts.
    """
    if not len(kernel):
        return float("nan")
    weights = np.linalg.eigvalsh(kernel / len(kernel))
    weights = weights[weights > 1e-12]  # rounding makes zeros slightly negative
    return float(np.exp(-(weights * np.log(weights)).sum()))


def ngram_kernel(texts: Sequence[Words], lengths: Sequence[int] = (1, 2)) -> np.ndarray:
    """Return the mean over ``lengths`` of the cosines of n-gram counts: float64 [n, n].

    It is the kernel of the n-gram Vendi score. Texts shorter than an n-gram share none with any other text.
    """
    kernels = []
    for length in lengths:
        counts = [Counter(ngrams(words, length)) for words in texts]
        places = {gram: place for place, gram in enumerate(sorted(set().union(*counts)))}
        matrix = np.zeros((len(texts), len(places)))
        for row, count in enumerate(counts):
            for gram, number in count.items():
                matrix[row, places[gram]] = number
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-300)
        kernel = matrix @ matrix.T
        np.fill_diagonal(kernel, 1.0)
        kernels.append(kernel)
    return np.mean(kernels, axis=0)


def compression_ratio(texts: Sequence[str]) -> float:
    """Return the bytes of all texts, one a line, over those of their DEFLATE stream (Shaib et al. 2024).

    Higher is more repetitive. zlib at level 9; gzip's stream is 12 bytes longer. NaN for no texts.
    """
    if not texts:
        return float("nan")
    content = "\n".join(texts).encode("utf-8")
    return len(content) / len(zlib.compress(content, 9))


def self_bleu(texts: Sequence[Words], order: int = 4) -> float:
    """Return the mean BLEU of every text against all the others as references (Zhu et al. 2018).

    BLEU is that of Papineni et al. 2002: clipped precisions of 1- to ``order``-grams, their geometric mean, the
    brevity penalty by the closest reference's length, the shorter on a tie, no smoothing. NaN with fewer than 2 texts.
    """
    if len(texts) < 2:
        return float("nan")
    counts = [[Counter(ngrams(words, length)) for words in texts] for length in range(1, order + 1)]
    tops = [_two_largest(of_length) for of_length in counts]
    sizes = np.array([len(words) for words in texts])
    return float(
        np.mean([_bleu_in_set(number, counts, tops, np.delete(sizes, number)) for number in range(len(texts))])
    )


def _bleu_in_set(
    number: int,
    counts: Sequence[Sequence[Counter[tuple[str, ...]]]],
    tops: Sequence[dict[tuple[str, ...], tuple[int, int, int]]],
    references: np.ndarray,
) -> float:
    logarithms = []
    for of_length, top in zip(counts, tops, strict=True):
        own = of_length[number]
        # The most that any other text has: the largest count, or the second where the largest is this text's.
        clipped = sum(min(count, top[gram][1 if top[gram][2] == number else 0]) for gram, count in own.items())
        if not clipped:
            return 0.0
        logarithms.append(log(clipped / sum(own.values())))
    size = sum(counts[0][number].values())
    nearest = min(references.tolist(), key=lambda other: (abs(other - size), other))
    return exp(min(0.0, 1 - nearest / size) + sum(logarithms) / len(logarithms))


def _two_largest(counts: Sequence[Counter[tuple[str, ...]]]) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """Return, per n-gram: its largest count, its second largest, and the text that has the largest."""
    found: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for number, count in enumerate(counts):
        for gram, value in count.items():
            first, second, owner = found.get(gram, (0, 0, -1))
            found[gram] = (value, first, number) if value > first else (first, max(second, value), owner)
    return found


def self_repetition(texts: Sequence[Words], length: int = 4) -> float:
    """Return the mean over texts of ln(1 + sum of N_i), after Salkar et al. 2022.

    N_i is how many other texts hold the text's i-th distinct n-gram. NaN for no texts.
    """
    if not texts:
        return float("nan")
    grams = [set(ngrams(words, length)) for words in texts]
    holders = Counter(gram for held in grams for gram in held)
    return float(np.mean([log(1 + sum(holders[gram] - 1 for gram in held)) for held in grams]))


def vendi_growth(
    kernel: np.ndarray, authors: np.ndarray, sizes: Sequence[int], generator: np.random.Generator, subsets: int
) -> list[float]:
    """Return the mean Vendi score of the texts of ``sizes[i]`` authors, over random subsets of the authors [n]."""
    names = np.unique(authors.astype(str))
    place = np.searchsorted(names, authors.astype(str))
    curve = []
    for size in sizes:
        drawn = [generator.choice(len(names), size, replace=False) for _ in range(subsets if size < len(names) else 1)]
        members = [np.flatnonzero(np.isin(place, chosen)) for chosen in drawn]
        curve.append(float(np.mean([vendi_score(kernel[np.ix_(rows, rows)]) for rows in members])))
    return curve


def vendi_of_size(kernel: np.ndarray, size: int, generator: np.random.Generator, subsets: int) -> float:
    """Return the mean Vendi score of ``size`` of the n texts, over random subsets; that of all where ``size`` is n."""
    if size == len(kernel):
        return vendi_score(kernel)
    drawn = [generator.choice(len(kernel), size, replace=False) for _ in range(subsets)]
    return float(np.mean([vendi_score(kernel[np.ix_(rows, rows)]) for rows in drawn]))


def ngrams(words: Words, length: int) -> list[tuple[str, ...]]:
    """Return the n-grams of ``words`` in order, with repeats."""
    return [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]
