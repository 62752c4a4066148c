"""Corpora and experiments that extend another: a study names what it changes, and nothing else."""

import copy
from collections.abc import Mapping
from typing import Any

from favor.foundation.names import nearest
from favor.foundation.section import refuse

# By section: what an entry is about is its own.
OWN_KEYS = {"corpora": (), "experiments": ("title", "tables", "studies")}
# Rows replace another's rows together, with what was tuned for those.
REPLACED: dict[str, object] = {"methods": {}, "tuned": None}


def extend_entries(config: dict[str, object]) -> None:
    """Complete in place every corpus and experiment with a key ``extends`` from the one it names, before any default.

    Mappings are merged key by key; ``methods``, where given, replaces the other's, and ``tuned`` with it; ``title``,
    ``tables`` and ``studies`` of an experiment are never taken over. Raises ``UserError`` for an entry that is not
    there and for a circle.
    """
    for section in OWN_KEYS:
        entries = config.get(section)
        if isinstance(entries, dict):  # else the schema's check says what is wrong
            done: dict[str, object] = {}
            config[section] = {name: _extended(section, name, entries, done) for name in entries}


def _extended(section: str, name: str, entries: Mapping[str, Any], done: dict[str, object]) -> object:
    """Return an entry with what it inherits; ``done`` holds those that were completed before, and this one."""
    chain = [name]  # each extends the next; a loop, for there may be more of them than calls within calls
    while chain[-1] not in done and (base := _base(section, chain[-1], entries)) is not None:
        if base in chain:
            refuse(
                f"{section}.{chain[-1]}.extends", f"'{base}' extends '{chain[-1]}' in turn; remove one of the two keys"
            )
        chain.append(base)
    inherited = done.setdefault(chain[-1], entries[chain[-1]])
    for each in reversed(chain[:-1]):
        entry = entries[each]
        if isinstance(inherited, dict):
            kept = {key: value for key, value in inherited.items() if key not in OWN_KEYS[section]}
            entry = merged(kept | REPLACED if entry.get("methods") is not None else kept, entry)
        inherited = done[each] = entry
    return inherited


def _base(section: str, name: str, entries: Mapping[str, object]) -> str | None:
    entry, where = entries[name], f"{section}.{name}.extends"
    base = entry.get("extends") if isinstance(entry, dict) else None
    kind = {"corpora": "corpus", "experiments": "experiment"}[section]
    if base is not None and not isinstance(base, str):
        refuse(where, f"expected the name of {'a' if section == 'corpora' else 'an'} {kind}, found {base!r}")
    if base is not None and base not in entries:
        refuse(where, f"there is no {kind} '{base}'; {nearest(base, map(str, entries))}")
    return base


def merged(base: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """Return ``base`` with ``changes`` laid over it, mappings key by key."""
    result = copy.deepcopy(dict(base))
    for key, value in changes.items():
        inherited = result.get(key)
        if isinstance(inherited, dict) and isinstance(value, dict):
            result[key] = merged(inherited, value)
        else:
            result[key] = copy.deepcopy(value)
    return result
