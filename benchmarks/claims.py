"""How often a report holds a false sentence of a kind, where the truth is planted.

    python benchmarks/claims.py

draws authors, eight texts each, and what a report knows of FAVoR, the base and thirteen more rows: rates, shares of a
voice, differences and gains, with their intervals and p. What may be said of them is decided as in the report
(:mod:`favor.analysis.claims`). A sentence on a list of rows is false if it is of any of them. Rates differ between
authors as a beta distribution with the sum 4 does; the authors' own texts are right in .55.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
import pandas as pd

from favor.analysis.claims import differences_apart, p_of_limits, rates_above, settle
from favor.statistics.bootstrap import RATE, interval, observed_and_resampled
from favor.statistics.differences import compare

AUTHORS, TEXTS, DRAWS, OWN, ROWS, MARGIN = (6, 12, 24, 50), 8, 200, 0.55, 15, 0.5


class Report:
    """The rates of one report's rows, the first FAVoR's and the second the base's, and of the authors' own texts."""

    def __init__(self, generator: np.random.Generator, authors: int, means: list[float]) -> None:
        self.generator, self.authors = generator, authors
        self.counts = observed_and_resampled(authors, int(generator.integers(2**31)), DRAWS)
        self.rates = [self._rates(mean) for mean in [*means, OWN]]
        self.drawn = [self.counts @ rate / authors for rate in self.rates]

    def _rates(self, mean: float) -> np.ndarray:
        beta = self.generator.beta(4 * mean, 4 * (1 - mean), self.authors)
        return self.generator.binomial(TEXTS, beta) / TEXTS

    def attributed(self) -> pd.DataFrame:
        """Return the claims on the rates against chance, and on half of the voice."""
        *rates, own = ((float(drawn[0]), *interval(drawn, self.authors, RATE)) for drawn in self.drawn)
        table = pd.DataFrame(rates, columns=["value", "low", "high"])
        return rates_above(table, 1 / self.authors, self.authors, own, MARGIN)

    def compared(self, row: int) -> pd.DataFrame:
        """Return the claims on the differences of one row and each other."""
        low, _ = interval(self.drawn[-1], self.authors, RATE)
        margin = MARGIN * (low - 1 / self.authors) if low > 1 / self.authors else math.nan
        found = []
        for other in set(range(ROWS)) - {row}:
            shares = (self.rates[row] - self.rates[other]) / self.authors
            weights = np.full(self.authors, TEXTS)
            made = compare(self.drawn[row], self.drawn[other], weights, self.counts, shares, 1, span=1.0)
            found.append((other, made.delta, made.low, made.high, made.p))
        table = pd.DataFrame(found, columns=["row", "delta", "low", "high", "p"]).set_index("row")
        return differences_apart(table, margin, self.authors)

    def gaining(self, own_gain: float) -> pd.Series:
        """Return whether a row is shown to read its own authors better than the base."""
        p, gains = [], []
        for _ in range(ROWS):
            gain = self.counts @ self.generator.normal(own_gain, 0.05, self.authors) / self.authors
            p.append(p_of_limits(float(gain[0]), *interval(gain, self.authors), 0.0, self.authors))
            gains.append(float(gain[0]))
        return settle(pd.Series(p), pd.Series(p) * math.nan, pd.Series(gains), self.authors)["state"] == "above"


def one_run(generator: np.random.Generator, authors: int) -> dict[str, bool]:
    """Return by kind of sentence whether a report of planted truth holds a false one, and what is found of a voice."""
    chance = 1 / authors
    half = chance + 0.5 * (OWN - chance)
    nobody = Report(generator, authors, [chance] * ROWS)
    prompted = Report(generator, authors, [min(0.4, 3 * chance)] * ROWS)
    kept = Report(generator, authors, [half] * ROWS).attributed()
    apart = Report(generator, authors, [OWN, *[half] * (ROWS - 1)]).compared(0)
    at_chance, above = nobody.attributed(), prompted.attributed()["state"] == "above"
    over_base = prompted.compared(1)["state"] == "below"  # the base below them
    return {
        "above chance, of rows at chance": bool((at_chance["state"] == "above").any()),
        "in the authors' voices, of rows whose prompts carry all": bool((above & over_base).any()),
        "half of the voice or more ruled out, of rows with half": bool(kept["within"].any()),
        "a row above or below FAVoR, of equal rows": bool(nobody.compared(0)["state"].isin(["above", "below"]).any()),
        "within half of the way, of rows at half of it": bool(apart["within"].any()),
        "adapters know their authors, of rows without own gain": bool((above & prompted.gaining(0.0)).any()),
        "(found: FAVoR above chance, with half of the voice)": bool(kept["state"][0] == "above"),
        "(found: half ruled out for FAVoR, at chance)": bool(at_chance["within"][0]),
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
