"""Experiments that extend another: a study names what it changes, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from favor.config.section import refuse
from favor.foundation.names import nearest

OWN_KEYS = ("title", "tables", "studies")  # what an experiment is about is its own
WHOLE_KEYS = ("methods",)  # rows are replaced together


def extend_experiments(config: dict[str, Any]) -> None:
    """Complete in place every experiment that has a key ``extends`` from the experiment it names, before any default.

    Mappings are merged key by key; ``methods``, where given, replaces the other's; ``title``, ``tables`` and
    ``studies`` are never taken over. Raises ``UserError`` for an experiment that is not there and for a circle.
    """
    experiments = config.get("experiments")
    if not isinstance(experiments, dict):  # the schema's check says what is wrong
        return
    config["experiments"] = {name: _extended(name, experiments, ()) for name in experiments}


def _extended(name: str, experiments: Mapping[str, Any], below: tuple[str, ...]) -> Any:
    experiment = experiments[name]
    if not isinstance(experiment, dict) or experiment.get("extends") is None:
        return experiment
    base, where = experiment["extends"], f"experiments.{name}.extends"
    if not isinstance(base, str):
        refuse(where, f"expected the name of an experiment, found {base!r}")
    if base not in experiments:
        refuse(where, f"there is no experiment '{base}'; {nearest(base, map(str, experiments))}")
    if base in (name, *below):
        refuse(where, f"'{base}' extends '{name}' in turn; remove one of the two keys")
    inherited = _extended(base, experiments, (*below, name))
    if not isinstance(inherited, dict):
        return experiment
    kept = {key: value for key, value in inherited.items() if key not in OWN_KEYS}
    replaced: dict[str, Any] = {key: {} for key in WHOLE_KEYS if experiment.get(key) is not None}
    return merged({**kept, **replaced}, experiment)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``changes`` laid over it, mappings key by key."""
    result = copy.deepcopy(dict(base))
    for key, value in changes.items():
        inherited = result.get(key)
        if isinstance(inherited, dict) and isinstance(value, dict):
            result[key] = merged(inherited, value)
        else:
            result[key] = copy.deepcopy(value)
    return result
