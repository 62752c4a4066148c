"""How often a report holds a false sentence of a kind, where the truth is planted.

    python benchmarks/claims.py

draws authors, eight texts each, and the tables of a report on FAVoR, the base and thirteen more rows; the claims are
those of the report. A sentence on a list of rows is false if it is of any of them. Rates differ between authors as a
beta distribution with the sum 4 does; the authors' own texts are right in .55.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import astuple

import numpy as np
import pandas as pd

from favor.report.facts import BASE, HEADLINE, Facts, attributed, compared, readings
from favor.statistics.bootstrap import RATE, interval, observed_and_resampled, standard_error
from favor.statistics.differences import compare
from favor.statistics.kept_share import kept_share

AUTHORS, TEXTS, DRAWS, OWN = (6, 12, 24), 8, 300, 0.55
ROWS = ("favor", "base_only", *(f"row_{number}" for number in range(13)))


def rates(generator: np.random.Generator, authors: int, mean: float) -> np.ndarray:
    """Return every author's share of right texts, of a row that has ``mean`` of them on average."""
    return generator.binomial(TEXTS, generator.beta(4 * mean, 4 * (1 - mean), authors)) / TEXTS


def tables(
    generator: np.random.Generator,
    authors: int,
    means: dict[str, float],
    tested: str = "",
    own_gain: float | None = None,
) -> Facts:
    """Return the tables of one report; ``means``: of every row. ``tested``: the row with pairs.

    ``own_gain``: of every row's adapters; None where nothing is asked of their likelihoods.
    """
    counts = observed_and_resampled(authors, int(generator.integers(2**31)), DRAWS)
    of_authors = {row: rates(generator, authors, mean) for row, mean in {**means, "gold": OWN}.items()}
    drawn = {row: counts @ values / authors for row, values in of_authors.items()}
    kept, read, pairs = [], [], []
    for row in of_authors:
        share = kept_share(drawn[row], 1 / authors, drawn["gold"], authors, RATE)
        ends = {"": share.share, "low": share.low, "high": share.high}
        ends |= {"score": share.score, "score_low": share.score_low, "score_high": share.score_high}
        kept += [(row, f"kept_{HEADLINE}", variant, value) for variant, value in ends.items()]
    for row in means if own_gain is not None else ():
        ends = dict(zip(("", "low", "high"), (drawn[row][0], *interval(drawn[row], authors, RATE)), strict=True))
        read += [
            (row, "likelihood_top1", variant, value) for variant, value in (ends | {"chance": 1 / authors}).items()
        ]
        gain = counts @ generator.normal(own_gain, 0.05, authors) / authors
        ends = dict(zip(("", "low", "high"), (gain[0], *interval(gain, authors)), strict=True))
        read += [(row, "likelihood_own_gain", variant, value) for variant, value in ends.items()]
    for left, right in [(tested, row) for row in means if row != tested and tested]:
        both, shares = (drawn[left], drawn[right]), (of_authors[left] - of_authors[right]) / authors
        found = compare(*both, np.full(authors, TEXTS), counts, shares, 1, span=1.0)
        error = standard_error(both[0] - both[1], authors, counts)
        pairs.append(("unseen", HEADLINE, left, right, *astuple(found)[:-1], error))
    names = ["encoder", "metric", "left_method", "right_method", "left", "right", "delta", "low", "high", "p", "error"]
    scored = [pd.DataFrame(rows, columns=["method", "metric", "variant", "value"]) for rows in (kept, read)]
    evidence = pd.DataFrame(pairs, columns=names)
    judge = "unseen" if pairs else "own"
    return Facts(
        evidence,
        scored[0].assign(encoder=judge, n=authors * TEXTS),
        "own",
        list(means),
        authors,
        {},
        scored[1].assign(encoder="", n=authors * TEXTS),
        margin=0.5,
    )


def one_run(generator: np.random.Generator, authors: int) -> dict[str, bool]:
    """Return by kind of sentence whether a report of planted truth holds a false one, and what is found of a voice."""
    chance = 1 / authors
    half = chance + 0.5 * (OWN - chance)
    nobody = tables(generator, authors, dict.fromkeys(ROWS, chance), "favor", 0.05)
    prompted = tables(generator, authors, dict.fromkeys(ROWS, min(0.4, 3 * chance)), BASE, 0.0)
    kept = tables(generator, authors, dict.fromkeys(ROWS, half))
    apart = tables(generator, authors, {row: OWN if row == "favor" else half for row in ROWS}, "favor")
    planted = attributed(kept)
    return {
        "above chance, of rows at chance": bool((attributed(nobody)["state"] == "above").any()),
        "in the authors' voices, of rows whose prompts carry all": bool(attributed(prompted)["voice"].any()),
        "half of the voice or more ruled out, of rows with half": bool(planted["within"].any()),
        "a row above or below FAVoR, of equal rows": bool(compared(nobody)["state"].isin(["above", "below"]).any()),
        "within half of the way, of rows at half of it": bool(compared(apart)["within"].any()),
        "adapters above chance, of rows at chance": bool((readings(nobody)["state"] == "above").any()),
        "adapters know their authors, of rows without own gain": bool(readings(prompted)["known"].any()),
        "(found: FAVoR above chance, with half of the voice)": bool(planted["state"]["favor"] == "above"),
        "(found: half ruled out for FAVoR, at chance)": bool(attributed(nobody)["within"]["favor"]),
    }


def main() -> None:
    """Print the share of reports by kind and number of authors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200)
    runs, start = parser.parse_args().runs, time.perf_counter()
    found = {}
    for authors in AUTHORS:
        generator = np.random.default_rng(authors)
        found[authors] = pd.DataFrame([one_run(generator, authors) for _ in range(runs)]).mean()
    print(pd.DataFrame(found).map("{:.3f}".format).to_markdown())
    print(f"{runs} runs, standard error of .05: {(0.05 * 0.95 / runs) ** 0.5:.3f}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
