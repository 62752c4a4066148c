"""The two protocols: what every choice that differs between them is under each, as configuration keys.

``paper`` follows the paper's text wherever it speaks; ``released`` follows the authors' published code where it
differs. A key set in the configuration overrides its protocol; docs/scaling.md explains each key.
"""

from operator import attrgetter
from typing import Any, NamedTuple

from favor.config.experiments import Experiment
from favor.foundation.section import set_keys


class Switch(NamedTuple):
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
        if attrgetter(switch.key)(experiment) is None:
            section, key = switch.key.split(".")
            set_keys(getattr(experiment, section), **{key: getattr(switch, experiment.protocol)})


def departures(experiment: Experiment) -> list[str]:
    """Return the switches of an experiment that differ from its own protocol's value, as "section.key"."""
    own = {switch.key: getattr(switch, experiment.protocol) for switch in SWITCHES}
    return [key for key, value in own.items() if attrgetter(key)(experiment) != value]
