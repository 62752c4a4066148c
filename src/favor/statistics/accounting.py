"""What Gaussian noise on clipped sums guarantees an author: rho of zero-concentrated differential privacy, and epsilon.

Neighbours differ in one author, whose uploads are all zero in one of them. Cohorts come from a public schedule, so no
amplification by sampling is claimed.
"""

import math


def rho(participations: int, noise_multiplier: float) -> float:
    """Return rho = k / (2 sigma^2) of ``participations`` k in sums with noise of ``noise_multiplier`` sigma clips.

    Bun and Steinke 2016, Proposition 1.6 and Lemma 1.7 (composition). Infinite without noise.
    """
    if participations == 0:
        return 0.0
    return participations / (2 * noise_multiplier**2) if noise_multiplier else math.inf


def epsilon(rho: float, delta: float) -> float:
    """Return the epsilon for which rho-zCDP gives (epsilon, ``delta``)-differential privacy.

    min over alpha > 1 of rho alpha + ln(1 - 1 / alpha) - ln(delta alpha) / (alpha - 1), which is below
    rho + 2 sqrt(rho ln(1 / delta)) (Canonne, Kamath and Steinke 2020, Proposition 12). 0 < ``delta`` < 1.
    """
    if rho in (0.0, math.inf):
        return rho

    def bound(place: float) -> float:
        above = math.exp(place)  # alpha - 1
        return rho * (1 + above) + math.log(above) - math.log1p(above) - math.log(delta * (1 + above)) / above

    best = min((step / 10 for step in range(-150, 301)), key=bound)
    low, high = best - 0.1, best + 0.1
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if bound(left) < bound(right) else (left, high)
    return max(0.0, bound((low + high) / 2))
