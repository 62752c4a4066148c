"""How often 95 % intervals hold the truth, and how often p finds a difference that is none, by number of authors.

    python benchmarks/coverage.py

draws new authors in every run: centres in 12 dimensions, eight prompts each, and texts around them as people and three
kinds of methods write: in the author's own voice, in nobody's, and in each for half of the outputs. Every printed kind
of interval and p is taken of them as the workflow does. Differences are taken again where they are hardest: of rates
near chance, of unequal numbers of texts, of authors who are missing, and of three seeds that shift all authors alike.
An interval holds where it has the truth: the known one of shares and differences, the mean over runs elsewhere. Few
authors' hits and ranks come in steps, so that a method may hold .92 of one truth and .99 of the next: rates and
correlations are drawn with the authors, a new truth in every run.
A share that is "not apart" has no interval, and is counted.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from favor.foundation.vectors import unit_rows
from favor.scores.common_prompts import Crossed, cosines
from favor.scores.prototypes import margins
from favor.statistics.agreement import kappa_draws
from favor.statistics.attacks import exposure, tpr_draws
from favor.statistics.between_authors import between_variance, mean_slope
from favor.statistics.bootstrap import (
    CORRELATION,
    FEWEST,
    RATE,
    Bounds,
    auc_draws,
    eer_draws,
    interval,
    macro_f1_draws,
    mean_draws,
    observed_and_resampled,
    pair_auc_draws,
    seed_draws,
    student_limits,
)
from favor.statistics.differences import Comparison, compare
from favor.statistics.exact import exponential_mean_limits, rate_limits
from favor.statistics.kept_share import NOT_KNOWN, Limits, kept_share, ratio_limits
from favor.statistics.paired import mcnemar_exact
from favor.statistics.rank_agreement import correlate, drawn_authors
from favor.statistics.sign_flips import author_sums, linear_shares, sign_flip_p
from favor.statistics.variance_components import random_effects, row_share_limits, shares

AUTHORS = (4, 6, 12, 24, 50)
DIMENSIONS, PROMPTS, TRAINING, TOPIC, CANDIDATES, NEGATIVES = 12, 8, 20, 6, 99, 120
AGREE = "0 is in the interval of a difference where p is .05 or more, and not elsewhere"
NEW = "new prompts"  # what no interval is for
SHIFT, OF_AUTHORS, SEEDS = 0.3, 0.5, 3  # deviations of what a seed does to all alike, and of authors; outputs have 1
# What is taken of a text, and what it is where nobody's voice is in it.
BOUNDS: dict[str, Bounds | None] = {"accuracy": RATE, "Gen→Src AUC": RATE, "margin": None}
Found = tuple[str, float, float, float, float]  # kind, truth (NaN: the mean over runs), value, low, high
Tested = tuple[str, float]  # kind, p where nothing differs


def one_run(generator: np.random.Generator, counts: np.ndarray) -> tuple[list[Found], list[Tested]]:
    """Return the intervals and p-values of one draw of authors; ``counts`` [1 + draws, authors]."""
    authors = counts.shape[1]
    centres = 0.6 * generator.normal(size=(authors, DIMENSIONS))
    owner = np.repeat(np.arange(authors), PROMPTS)
    prompt = np.tile(np.arange(PROMPTS), authors)
    topic = np.arange(authors) // TOPIC
    prototypes = unit_rows(unit_rows_of(centres[:, None], generator, TRAINING).mean(axis=1))
    people = unit_rows_of(centres[:, None], generator, PROMPTS).reshape(-1, DIMENSIONS)

    def written(share: float) -> np.ndarray:
        own = generator.random((authors, PROMPTS, 1)) < share
        around = np.where(own, centres[:, None], centres.mean(axis=0))
        return unit_rows_of(around, generator, 1)[..., 0, :].reshape(-1, DIMENSIONS)

    def measured(texts: np.ndarray, tested: bool = False) -> dict[str, np.ndarray]:
        similarity = texts @ prototypes.T
        guess = similarity.argmax(axis=1)
        first, second = np.nonzero(
            (topic[owner][:, None] == topic[owner]) & ((owner[:, None] != owner) | (prompt[:, None] != prompt))
        )
        scores, left, positive = (texts @ people.T)[first, second], owner[first], owner[first] == owner[second]
        draws = {
            "accuracy": mean_draws((guess == owner).astype(float), owner, counts),
            "similarity": mean_draws(similarity[np.arange(len(owner)), owner], owner, counts),
            "margin": mean_draws(margins(similarity, owner), owner, counts),
            "Gen→Src AUC": auc_draws(scores, positive, left, counts),
        }
        if not tested:
            return draws
        one, other = np.triu_indices(len(texts), k=1)
        apart = prompt[one] != prompt[other]
        pairs = (texts @ texts.T)[one, other][apart]
        return draws | {
            "macro-F1": macro_f1_draws(owner, guess, counts),
            "Gen→Src EER": eer_draws(scores, positive, left, counts),
            "verif. AUC": pair_auc_draws(pairs, owner[one][apart], owner[other][apart], counts),
        }

    found: list[Found] = []
    half, again = measured(written(0.5), True), measured(written(0.5), True)
    gold, own, nobody = (measured(texts) for texts in (people, written(1.0), written(0.0)))
    for name in ("accuracy", "Gen→Src AUC", "Gen→Src EER", "verif. AUC", "margin", "similarity"):
        bounds = None if name in ("margin", "similarity") else RATE
        of_pairs = counts if name == "verif. AUC" else None
        found += [(f"{name}, half a voice", np.nan, half[name][0], *interval(half[name], authors, bounds, of_pairs))]
        if name in nobody:
            found.append((f"{name}, nobody's voice", np.nan, nobody[name][0], *interval(nobody[name], authors, bounds)))
    nothing = {"accuracy": 1 / authors, "Gen→Src AUC": 0.5, "margin": 0.0}
    for name, bounds in BOUNDS.items():
        for kind, truth, draws in (("nobody", 0.0, nobody), ("half", 0.5, half), ("own voice", 1.0, own)):
            share = kept_share(draws[name], nothing[name], gold[name], authors, bounds)
            found.append((f"share of {name} kept, {kind}", truth, share.share, share.low, share.high))
    found += list(_spreads(generator, centres, counts, owner))
    found += list(_others(generator, counts))
    tested: list[Tested] = []
    for name in half:
        shares = linear_shares(half[name] - again[name], counts, np.full(authors, PROMPTS))
        span = 1.0 if name not in ("similarity", "margin") else np.inf
        result = compare(half[name], again[name], np.full(authors, PROMPTS), counts, shares, 1, span=span)
        tested.append((f"difference of {name}", result.p))
        found.append((f"difference of {name}", 0.0, result.delta, result.low, result.high))
    for kind, truth, result in _differences(generator, counts):
        found.append((kind, truth, result.delta, result.low, result.high))
        if not truth:
            tested.append((kind, result.p))
        agree = float((result.low <= 0 <= result.high) == (result.p >= 0.05)) if np.isfinite(result.low) else np.nan
        found.append((AGREE, 1.0, agree, agree, agree))
    return found, tested + list(_seeds(generator, counts))


def unit_rows_of(centres: np.ndarray, generator: np.random.Generator, texts: int) -> np.ndarray:
    """Return unit vectors [..., texts, d] around ``centres`` [..., 1 or texts, d]."""
    if texts == 1:
        centres = centres[..., None, :]
    shape = (*centres.shape[:-2], texts, centres.shape[-1])
    return unit_rows(centres + generator.normal(size=shape))


def _differences(generator: np.random.Generator, counts: np.ndarray) -> Iterator[tuple[str, float, Comparison]]:
    """Yield differences with their truths, where intervals and p have the least to go by."""
    authors = counts.shape[1]

    def of(first: np.ndarray, second: np.ndarray, author: np.ndarray, span: float = np.inf) -> Comparison:
        sides = [mean_draws(side, author, counts) for side in (first, second)]
        weights, shares = np.bincount(author, minlength=authors), author_sums(first - second, author, authors)
        return compare(sides[0], sides[1], weights, counts, shares, 1, span=span)

    chance, few = np.full(authors, 1 / authors), generator.beta(0.3, 2, size=authors)
    everyone = {texts: np.repeat(np.arange(authors), texts) for texts in (4, 8, 32)}
    for name, rates, texts in (
        ("all at chance, 4 texts", chance, 4),
        ("some above chance, 4 texts", few, 4),
        ("some above chance, 8 texts", few, 8),
        ("some above chance, 32 texts", few, 32),
    ):
        own = rates[everyone[texts]]
        hits = (generator.random((2, len(own))) < own).astype(float)
        yield f"difference of rates, {name}", 0.0, of(*hits, everyone[texts], 1.0)
    own, more = chance[everyone[8]], generator.beta(2, 2, size=authors)[everyone[8]]
    hits = generator.random((2, len(own))) < (0.3 * more + 0.7 * own, own)
    truth = 0.3 * (0.5 - 1 / authors)
    yield "difference of rates, one above chance", truth, of(*hits.astype(float), everyone[8], 1.0)
    unequal = np.repeat(np.arange(authors), generator.integers(1, 13, size=authors))
    for name, own in (
        ("normal authors", generator.normal(size=authors)),
        ("far authors (t of 3)", generator.standard_t(3, size=authors)),
    ):
        values = OF_AUTHORS * own[unequal] + generator.normal(size=len(unequal))
        yield f"difference, 1 to 12 texts, {name}", 0.0, of(values, np.zeros(len(values)), unequal)
    present = everyone[8][everyone[8] < max(3, authors // 3)]
    values = OF_AUTHORS * generator.normal(size=authors)[present] + generator.normal(size=len(present))
    yield "difference, a third of the authors", 0.0, of(values, np.zeros(len(values)), present)
    author, seed = np.tile(everyone[8], SEEDS), np.repeat(np.arange(SEEDS), len(everyone[8]))
    for name, shift in (("alike", 0.0), ("shifted", SHIFT)):
        values = shift * generator.normal(size=SEEDS)[seed] + OF_AUTHORS * generator.normal(size=authors)[author]
        values = values + generator.normal(size=len(author))
        drawn = seed_draws(values, author, counts, seed)
        shares, weights = author_sums(values, author, authors), np.bincount(author)
        found = compare(drawn, np.zeros_like(drawn), weights, counts, shares, 1)
        yield f"difference, three seeds, {name}", 0.0, found


def _spreads(
    generator: np.random.Generator, centres: np.ndarray, counts: np.ndarray, owner: np.ndarray
) -> Iterator[Found]:
    """Yield the spread left of methods that keep all, a quarter and nothing of it, and habits kept."""
    authors = len(centres)

    def texts(scale: float) -> np.ndarray:
        return scale * centres[owner] + 0.6 * generator.normal(size=(len(owner), centres.shape[1]))

    human = between_variance(texts(1.0), owner, counts).sum(axis=1)
    for share in (1.0, 0.25, 0.0):
        variance = between_variance(texts(share**0.5), owner, counts).sum(axis=1)
        limits = (Limits(*student_limits(draws, authors)) for draws in (variance, human))
        ends = ratio_limits(variance, human, *limits) if authors >= FEWEST else NOT_KNOWN
        yield f"spread left, {share:g}", share, variance[0] / human[0], *ends
    slope = mean_slope(texts(0.5), owner, centres, counts).mean(axis=1)
    ends = interval(slope, authors, counts=counts) if authors >= FEWEST else NOT_KNOWN
    yield "habits kept", 0.5, slope[0], *ends


def _others(generator: np.random.Generator, counts: np.ndarray) -> Iterator[Found]:
    """Yield rank correlations, skewed means, rates, kappa, exact limits, and a threshold statistic."""
    authors = counts.shape[1]
    places = drawn_authors(counts)
    for name, correlation in (("0", 0.0), ("from −.9 to .9", generator.uniform(-0.9, 0.9))):
        left = generator.normal(size=authors)
        right = correlation * left + (1 - correlation**2) ** 0.5 * generator.normal(size=authors)
        draws = correlate(rankdata(left[places], axis=-1), rankdata(right[places], axis=-1))
        truth = 6 / np.pi * np.arcsin(correlation / 2)  # of two normals
        yield f"rank correlation {name}", truth, draws[0], *interval(draws, authors, CORRELATION, counts)
    skewed = counts @ generator.exponential(size=authors) / authors
    holders = np.arange(max(3, authors // 4))  # of a personal adapter: the others have no decision
    owner = np.repeat(holders, 2 * PROMPTS)
    positive = np.tile(np.repeat([True, False], PROMPTS), len(holders))
    scores = (0.7 * generator.normal(size=authors))[owner] + positive + generator.normal(size=len(owner))
    area = auc_draws(scores, positive, owner, counts)
    yield "AUC, a quarter of the authors", np.nan, area[0], *interval(area, len(holders), RATE)
    yield "mean of skewed values", 1.0, skewed[0], *interval(skewed, authors)
    for often, decisions in (("one decision", 1), (f"{PROMPTS} decisions", PROMPTS)):
        rate = generator.uniform(0.05, 0.95)
        # An author's decisions agree more than those of two: correlation 0.3.
        own = np.full(authors, rate)
        if decisions > 1:
            own = generator.beta(rate * 7 / 3, (1 - rate) * 7 / 3, size=authors)
        hits = (generator.random((decisions, authors)) < own).astype(float).ravel()
        ends = rate_limits(hits, np.tile(np.arange(authors), decisions), counts)
        yield f"rate from .05 to .95, {often} per author", rate, hits.mean(), *ends
    found = generator.beta(9, 3, size=authors).repeat(PROMPTS)  # how often a vote on the author's items is right
    right = generator.binomial(3, generator.beta(4 * found, 4 * (1 - found)))
    kappa = kappa_draws(np.column_stack([right, 3 - right]), np.arange(authors).repeat(PROMPTS), counts)
    yield "Fleiss' kappa", np.nan, kappa[0], *interval(kappa, authors, CORRELATION)
    bits = exposure(generator.integers(1, CANDIDATES + 2, size=authors), CANDIDATES)
    truth = float(np.mean(exposure(np.arange(1, CANDIDATES + 2), CANDIDATES)))
    yield "exact limits of exposure", truth, bits.mean(), *exponential_mean_limits(bits.mean(), authors)
    shift = 0.5 * generator.normal(size=(authors, 1))
    texts = -(-NEGATIVES // authors)
    scores = generator.normal(size=(authors, 2 * texts)) + shift + 1.5 * np.repeat([1.0, 0.0], texts)
    owner, positive = np.repeat(np.arange(authors), 2 * texts), np.tile(np.repeat([True, False], texts), authors)
    draws = tpr_draws(scores.ravel(), positive, owner, counts, 0.01)
    ends = interval(draws, authors, RATE) if authors >= FEWEST else NOT_KNOWN
    yield f"TPR at 1 % FPR, {NEGATIVES} negatives", np.nan, draws[0], *ends
    for which, of_prompts in ((NEW, generator), ("the same prompts", np.random.default_rng(1))):
        vectors = unit_rows(
            0.5 * generator.normal(size=(authors, 1, DIMENSIONS))
            + 0.7 * of_prompts.normal(size=(1, PROMPTS, DIMENSIONS))
            + generator.normal(size=(authors, PROMPTS, DIMENSIONS))
        )
        yield from _common(vectors.reshape(-1, DIMENSIONS), counts, which)


def _common(vectors: np.ndarray, counts: np.ndarray, which: str) -> Iterator[Found]:
    authors = counts.shape[1]
    clients = [f"{number:03d}" for number in range(authors)]
    keys = [(client, prompt) for client in clients for prompt in range(PROMPTS)]
    crossed = Crossed.of(pd.DataFrame(keys, columns=["client", "prompt_id"]), clients)
    similarity = cosines(vectors)
    for name, draws in (
        ("similarity", crossed.draws(similarity, True, counts)),
        ("AUC", crossed.draws(similarity, True, counts, apart=True)),
    ):
        yield f"common prompts, {name}, {which}", np.nan, draws[0], *interval(draws, authors, counts=counts)
    author, prompt = np.divmod(np.arange(len(keys)), PROMPTS)
    parts = random_effects(vectors, (author, prompt))
    share = np.nan if parts is None else shares(parts)[0]
    yield f"common prompts, authors' share, {which}", np.nan, share, *row_share_limits(vectors, author, prompt)


def _seeds(generator: np.random.Generator, counts: np.ndarray) -> Iterator[Tested]:
    """Yield p of a difference that is none, where an author's difference is the same in three seeds."""
    authors = counts.shape[1]
    repeated, owner = np.repeat(generator.normal(size=authors), 3), np.repeat(np.arange(authors), 3)
    yield "three seeds, clusters of authors", sign_flip_p(author_sums(repeated, owner, authors), 1)
    yield "three seeds, clusters of seeds and authors", sign_flip_p(repeated, 1)
    left, right = (generator.random((authors, PROMPTS)) < generator.random((authors, 1)) for _ in range(2))
    yield "McNemar's over outputs", mcnemar_exact(left.ravel(), right.ravel())


def _runs(authors: int, draws: int, seed: int, runs: range) -> list[tuple[list[Found], list[Tested]]]:
    counts = observed_and_resampled(authors, seed, draws)
    return [one_run(np.random.default_rng([seed, authors, run]), counts) for run in runs]


def simulate(
    authors: int, runs: int, draws: int, seed: int = 1, processes: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (intervals: kind, covers, width, defined; tests: kind, p05, p0025) of ``runs`` draws of ``authors``."""
    one_part = partial(_runs, authors, draws, seed)
    if processes == 1:
        parts = [one_part(range(runs))]
    else:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(one_part, [range(first, min(first + 25, runs)) for first in range(0, runs, 25)]))
    found, tested = defaultdict(list), defaultdict(list)
    for intervals, tests in (made for part in parts for made in part):
        for kind, *numbers in intervals:
            found[kind].append(numbers)
        for kind, p in tests:
            tested[kind].append(p)
    rows = []
    for kind, numbers in found.items():
        truth, value, low, high = np.array(numbers, dtype=float).T
        aim = np.where(np.isnan(truth), np.nanmean(value), truth)
        known = np.isfinite(low)
        held = (low <= aim + 1e-9) & (aim <= high + 1e-9)
        width = float(np.median((high - low)[known])) if known.any() else np.nan
        rows.append((kind, held[known].mean() if known.any() else np.nan, width, known.mean()))
    levels = [(kind, np.mean(np.array(p) < 0.05), np.mean(np.array(p) < 0.0025)) for kind, p in tested.items()]
    return (
        pd.DataFrame(rows, columns=["kind", "covers", "width", "defined"]),
        pd.DataFrame(levels, columns=["kind", "p05", "p0025"]),
    )


def main() -> None:
    """Print both tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="draws of authors")
    parser.add_argument("--draws", type=int, default=300, help="of the bootstrap")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--authors", type=int, nargs="+", default=AUTHORS)
    settings = parser.parse_args()
    start = time.perf_counter()
    made = {
        number: simulate(number, settings.runs, settings.draws, processes=settings.processes)
        for number in settings.authors
    }
    head = "".join(f" {number} |" for number in made)
    rule = "---|" * (len(made) + 1)
    kinds = list(enumerate(next(iter(made.values()))[0]["kind"]))
    print(f"| 95 % interval covers, by authors |{head}\n|{rule}")
    for place, kind in sorted(kinds, key=lambda one: one[1].endswith(NEW)):
        rows = [intervals.iloc[place] for intervals, _ in made.values()]
        shares = [f" ({row.defined:.0%})" if row.defined < 0.995 else "" for row in rows]
        known = zip(rows, shares, strict=True)
        cells = ["–" if np.isnan(row.covers) else f"{row.covers:.2f}{share}" for row, share in known]
        print(f"| {kind} | {' | '.join(cells)} |")
    print(f"\n| p < .05, p < .0025 where nothing differs |{head}\n|{rule}")
    for place, kind in enumerate(next(iter(made.values()))[1]["kind"]):
        rows = [tests.iloc[place] for _, tests in made.values()]
        print(f"| {kind} | {' | '.join(f'{row.p05:.3f}, {row.p0025:.4f}' for row in rows)} |")
    print(f"\n{settings.runs} runs, {settings.draws} draws: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
