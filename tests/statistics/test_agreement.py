"""Fleiss' kappa and pairwise agreement."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as oracle

from favor.foundation.errors import UserError
from favor.statistics.agreement import agreement_by_item, fleiss_kappa, kappa_draws


def test_the_papers_audit() -> None:
    # 50 items, 3 raters, 34 unanimous, 89 votes against 61: with a of the 34 unanimous for A and b of the 16 split
    # 2:1 for A, 3 a + 2 b + (16 - b) = 89, so b = 73 - 3 a; a = 21, b = 10
    votes = np.array([[3, 0]] * 21 + [[0, 3]] * 13 + [[2, 1]] * 10 + [[1, 2]] * 6)
    assert votes.sum(axis=0).tolist() == [89, 61]
    # (34 * 1 + 16 / 3) / 50 = 0.7867; expected (89/150)^2 + (61/150)^2 = 0.5174; (0.7867 - 0.5174) / 0.4826 = 0.5579
    assert agreement_by_item(votes).mean() == pytest.approx(0.7867, abs=5e-5)
    assert fleiss_kappa(votes) == pytest.approx(0.5579, abs=5e-5)
    assert fleiss_kappa(votes) == pytest.approx(oracle(votes), abs=1e-12)
    assert np.isnan(fleiss_kappa(np.array([[3, 0], [3, 0]])))
    with pytest.raises(UserError, match="same number"):
        fleiss_kappa(np.array([[3, 0], [1, 1]]))


def test_draws_are_those_of_the_items_drawn() -> None:
    generator = np.random.default_rng(1)
    votes, cluster = generator.multinomial(4, [0.2, 0.3, 0.5], size=12), np.repeat(np.arange(4), 3)
    counts = generator.multinomial(4, [0.25] * 4, size=20).astype(float)
    expected = [
        oracle(votes[np.concatenate([np.flatnonzero(cluster == own) for own in np.repeat(range(4), row.astype(int))])])
        for row in counts
    ]
    np.testing.assert_allclose(kappa_draws(votes, cluster, counts), expected, atol=1e-12)
