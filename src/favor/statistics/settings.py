"""The settings of resampling."""

from favor.foundation.section import Section, Seed, key


class Bootstrap(Section):
    """Resamples of authors, for intervals, and patterns of signs, for p."""

    draws: int = key(10000, "Number of resamples of the clusters.", ge=100)
    seed: Seed = key(2026, "Random seed of the resamples.")
