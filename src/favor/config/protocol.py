"""The two protocols: what every choice that differs between them is under each, as configuration keys.

``paper`` follows the paper's text wherever it speaks; ``released`` follows the authors' published code where it
differs. A key set in the configuration overrides its protocol; docs/scaling.md explains each key.
"""

from dataclasses import dataclass
from typing import Any

from favor.config.experiments import Experiment
from favor.foundation.section import Section, fill


@dataclass(frozen=True)
class Switch:
    """One choice: its place in an experiment ("section.key"), and its value under each protocol."""

    key: str
    paper: Any
    released: Any


SWITCHES = (
    Switch("allocation.enforce", True, False),
    Switch("federation.weighting", "uniform", "words"),
    Switch("federation.never_sampled", "shared", "dropped"),
    Switch("federation.initial_adapter", "common", "per_track"),
    Switch("training.pieces", "windows", "truncate"),
    Switch("training.supervised", "response", "all"),
    Switch("training.warmup_counts_from", 1, 0),
    Switch("alignment.pooling", "minibatch", "example"),
    Switch("alignment.ramp_counts", "steps", "micro_batches"),
)


def apply_protocol(experiment: Experiment) -> None:
    """Fill every switch that the experiment leaves unset with its protocol's value, in place."""
    for switch in SWITCHES:
        section, key = _place(experiment, switch)
        if getattr(section, key) is None:
            fill(section, **{key: getattr(switch, experiment.protocol)})


def departures(experiment: Experiment) -> list[str]:
    """Return the switches of an experiment that differ from its own protocol's value, as "section.key"."""
    found = []
    for switch in SWITCHES:
        section, key = _place(experiment, switch)
        if getattr(section, key) != getattr(switch, experiment.protocol):
            found.append(switch.key)
    return found


def _place(experiment: Experiment, switch: Switch) -> tuple[Section, str]:
    name, key = switch.key.split(".")
    return getattr(experiment, name), key
