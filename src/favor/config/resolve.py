"""Configuration: checked in plain words, completed with defaults, and cross-checked.

Everything here runs while the workflow is parsed, before any job, so it reads no model and no corpus.
"""

import copy
import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from favor.config.checks import complete_and_check
from favor.config.configuration import Configuration
from favor.config.extension import extend_entries
from favor.config.messages import message
from favor.foundation.errors import UserError
from favor.foundation.section import refuse

SMALLEST, LARGEST = 1e-30, 10**12


def resolve(raw: Mapping[str, object]) -> Configuration:
    """Return the configuration ``raw`` with every default filled in, after checking it; ``raw`` is left as it is.

    Raises ``UserError`` with one line that names the key and the nearest valid one, or both sides of an impossible
    combination.
    """
    completed: dict[str, object] = copy.deepcopy(dict(raw))
    _put_home(completed, set())
    extend_entries(completed)
    try:
        configuration = Configuration.model_validate(completed)
    except ValidationError as error:
        raise UserError(message(error, Configuration)) from None
    complete_and_check(configuration)
    _check_values(completed, "")
    return configuration


def _put_home(value: Any, seen: set[int]) -> None:
    """Put the home in place of the "~" that a text within ``value`` begins with as a path does: "~/posts.csv".

    ``seen``: what was looked at, since an alias of YAML may lie within itself.
    """
    if id(value) in seen or not isinstance(value, dict | list):
        return
    seen.add(id(value))
    for place, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, str) and inner.startswith("~/"):
            value[place] = os.path.expanduser(inner)
        else:
            _put_home(inner, seen)


def _check_values(value: Any, where: str) -> None:
    """Check what no key can mean: numbers that single precision does not hold, and texts that no file does."""
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_values(name, where)
            _check_values(inner, f"{where}.{name}" if where else str(name))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            _check_values(inner, f"{where}[{position}]")
    elif isinstance(value, str) and not value.isascii() and value != value.encode("utf-8", "replace").decode():
        refuse(where, f"{value!r} holds half a character; write it again")
    elif isinstance(value, (int, float)) and abs(value) > LARGEST:
        refuse(where, f"{str(value)[:40]} is out of range; it must be at most {LARGEST:.15g}")
    elif isinstance(value, float) and 0 < abs(value) < SMALLEST:
        refuse(where, f"{value:g} is too near 0 to be told from it; write 0 or a larger number")
