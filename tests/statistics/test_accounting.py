"""Guarantees of Gaussian noise, against hand-computed values and two independent accountants."""

import math

import pytest

from favor.statistics.accounting import epsilon, rho

# dp-accounting 0.6.0: RdpAccountant(orders, REPLACE_SPECIAL) of SelfComposedDpEvent(GaussianDpEvent(sigma), k), with
# orders 1 + 10^(i/400), i = -1600..1600. opacus 1.6.0 gives the same digits: analysis.rdp with q = 1 and these orders.
# Neither lives in the lock: dp-accounting wants attrs < 24. Their grid leaves them above the minimum by up to 7e-6.
ORACLE = [
    (3, 0.5, 50**-1.1, 14.632192579855976),
    (3, 1.0, 50**-1.1, 5.497130767301844),
    (3, 2.0, 50**-1.1, 2.1796832652102847),
    (3, 4.0, 50**-1.1, 0.8819770658862235),
    (1, 1.0, 1e-5, 4.72839722879144),
    (6, 10.0, 1e-6, 1.1181721233749196),
    (2, 0.25, 0.01, 31.29615472000065),
]


@pytest.mark.parametrize(("participations", "sigma", "delta", "expected"), ORACLE)
def test_epsilon_is_that_of_dp_accounting_and_opacus(participations, sigma, delta, expected) -> None:
    found = epsilon(rho(participations, sigma), delta)
    assert found <= expected
    assert found == pytest.approx(expected, rel=1e-5)
    # The conversion that needs no search is an upper bound: 6.58 for k = 3, sigma = 1, delta = 50^-1.1.
    bound = rho(participations, sigma) + 2 * math.sqrt(rho(participations, sigma) * math.log(1 / delta))
    assert found < bound


def test_rho_and_the_limits_by_hand() -> None:
    assert [rho(3, 1.0), rho(3, 2.0), rho(0, 0.0), rho(1, 0.0)] == [1.5, 0.375, 0.0, math.inf]
    assert [epsilon(0.0, 0.01), epsilon(math.inf, 0.01), epsilon(1e-9, 0.5)] == [0.0, math.inf, 0.0]
    losses = [epsilon(rho(3, sigma), 1e-3) for sigma in (0.5, 1, 2, 4, 8)]
    assert losses == sorted(losses, reverse=True)
