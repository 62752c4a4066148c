"""Experiments that extend another: a study names what it changes, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from favor.foundation.names import nearest
from favor.settings.section import refuse

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
    done: dict[str, Any] = {}
    config["experiments"] = {name: _extended(name, experiments, done) for name in experiments}


def _extended(name: str, experiments: Mapping[str, Any], done: dict[str, Any]) -> Any:
    """Return an experiment with what it inherits; ``done`` holds those that were completed before, and this one."""
    chain = [name]  # each extends the next; a loop, for there may be more of them than calls within calls
    while chain[-1] not in done and (base := _base(chain[-1], experiments)) is not None:
        if base in chain:
            refuse(
                f"experiments.{chain[-1]}.extends",
                f"'{base}' extends '{chain[-1]}' in turn; remove one of the two keys",
            )
        chain.append(base)
    inherited = done.setdefault(chain[-1], experiments[chain[-1]])
    for each in reversed(chain[:-1]):
        experiment = experiments[each]
        if isinstance(inherited, dict):
            kept = {key: value for key, value in inherited.items() if key not in OWN_KEYS}
            replaced: dict[str, Any] = {key: {} for key in WHOLE_KEYS if experiment.get(key) is not None}
            experiment = merged({**kept, **replaced}, experiment)
        inherited = done[each] = experiment
    return inherited


def _base(name: str, experiments: Mapping[str, Any]) -> str | None:
    experiment, where = experiments[name], f"experiments.{name}.extends"
    base = experiment.get("extends") if isinstance(experiment, dict) else None
    if base is not None and not isinstance(base, str):
        refuse(where, f"expected the name of an experiment, found {base!r}")
    if base is not None and base not in experiments:
        refuse(where, f"there is no experiment '{base}'; {nearest(base, map(str, experiments))}")
    return base


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
