"""The settings of resampling."""

from __future__ import annotations

from favor.settings.section import Section, Seed, key


class Bootstrap(Section):
    """Cluster bootstrap of the paired tests."""

    draws: int = key(10000, "Number of resamples of the clusters.", ge=100)
    seed: Seed = key(2026, "Random seed of the resamples.")
