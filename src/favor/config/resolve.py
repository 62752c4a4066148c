"""Configuration: checked in plain words, completed with defaults, and cross-checked.

Everything here runs while the workflow is parsed, before any job, so it reads no model and no corpus.
"""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from favor.config.checks import complete_and_check
from favor.config.configuration import Configuration
from favor.config.extension import extend_experiments
from favor.config.messages import message
from favor.foundation.errors import UserError


def require_writable(results: Path) -> None:
    """Check that the results folder can be made, and that it and every folder in it can be written to.

    Raises ``UserError`` naming the one that cannot.
    """
    try:
        results.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=results).close()  # nameless: two starts at once do not meet
    except OSError as error:
        raise UserError(
            f"results folder '{results}': cannot write there ({error.strerror}); "
            "fix its permissions or set another with --config results=..."
        ) from None
    for folder, _, _ in os.walk(results):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"results folder '{folder}': cannot write there; fix its permissions")


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
