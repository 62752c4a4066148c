"""Configuration: checked in plain words, completed with defaults, and cross-checked.

Everything here runs while the workflow is parsed, before any job, so it reads no model and no corpus.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from favor.config.checks import complete_and_check
from favor.config.configuration import Configuration
from favor.config.extension import extend_experiments
from favor.config.messages import message
from favor.foundation.errors import UserError


def resolve(raw: Mapping[str, Any]) -> Configuration:
    """Return the configuration ``raw`` with every default filled in, after checking it; ``raw`` is left as it is.

    Raises ``UserError`` with one line that names the key and the nearest valid one, or both sides of an impossible
    combination.
    """
    completed: dict[str, Any] = copy.deepcopy(dict(raw))
    extend_experiments(completed)
    try:
        configuration = Configuration.model_validate(completed)
    except ValidationError as error:
        raise UserError(message(error, Configuration)) from None
    complete_and_check(configuration)
    return configuration


def canonical(value: Any) -> Any:
    """Return ``value`` with mappings sorted by key, as plain JSON types, for use as a rule parameter."""
    return json.loads(json.dumps(value, sort_keys=True))
