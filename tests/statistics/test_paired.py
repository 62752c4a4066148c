"""Paired tests against statsmodels, SciPy and hand counts."""

import numpy as np
import pytest
from scipy.stats import wilcoxon
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from favor.statistics.paired import holm, mcnemar_exact, wilcoxon_signed_rank


def test_mcnemar_by_hand_and_against_statsmodels() -> None:
    # 5 pairs only the left gets right, 1 only the right: 2 * (C(6,0) + C(6,1)) / 2^6 = 14 / 64
    left = np.array([True] * 5 + [False] + [True] * 3)
    right = np.array([False] * 5 + [True] + [True] * 3)
    assert mcnemar_exact(left, right) == pytest.approx(14 / 64)
    assert mcnemar_exact(left, left) == 1.0
    generator = np.random.default_rng(0)
    left, right = generator.random(300) < 0.4, generator.random(300) < 0.3
    table = [[(left & right).sum(), (left & ~right).sum()], [(~left & right).sum(), (~left & ~right).sum()]]
    assert mcnemar_exact(left, right) == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)


def test_wilcoxon() -> None:
    # differences 1, 2, 3 (all positive): two-sided exact p = 2 / 2^3
    assert wilcoxon_signed_rank(np.array([1.0, 2.0, 3.0, 5.0]), np.array([0.0, 0.0, 0.0, 5.0])) == pytest.approx(0.25)
    assert wilcoxon_signed_rank(np.ones(5), np.ones(5)) == 1.0
    generator = np.random.default_rng(1)
    left, right = generator.normal(0.1, 1, 200), generator.normal(0, 1, 200)
    assert wilcoxon_signed_rank(left, right) == pytest.approx(wilcoxon(left, right).pvalue)


def test_holm_by_hand_and_against_statsmodels() -> None:
    # sorted .01 .02 .04 times 3, 2, 1 = .03 .04 .04, made monotone
    assert holm([0.04, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    generator = np.random.default_rng(2)
    values = generator.random(30) ** 3
    np.testing.assert_allclose(holm(values), multipletests(values, method="holm")[1], atol=1e-12)
    np.testing.assert_allclose(holm([0.5, np.nan, 0.01]), [0.5, np.nan, 0.02])
    assert len(holm([])) == 0
