"""Configuration: checked against the schema in plain words, completed with defaults, and cross-checked.

Everything here runs while the workflow is parsed, before any job, so it reads no model and no corpus.
"""

from __future__ import annotations

import copy
import json
import math
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from favor.config.checks import cross_check
from favor.config.extension import extend_experiments
from favor.foundation.errors import UserError
from favor.foundation.names import nearest, number_hint


def load_schema(path: Path) -> dict[str, Any]:
    """Read the JSON schema (written as YAML) of the configuration."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    schema: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return schema


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
            "mend its permissions or set another with --config results=..."
        ) from None
    for folder, _, _ in os.walk(results):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"results folder '{folder}': cannot write there; mend its permissions")


def resolve(config: Mapping[str, Any], schema: Mapping[str, Any], source_root: Path) -> dict[str, Any]:
    """Return ``config`` with every default filled in, after checking it.

    ``source_root`` is the folder that holds the package, where readers, encoders, methods and tables are looked up
    by name. Raises ``UserError`` with one line that names the key and the nearest valid one, or both sides of an
    impossible combination.
    """
    resolved: dict[str, Any] = copy.deepcopy(dict(config))
    extend_experiments(resolved)
    _check(resolved, schema, schema, "")
    for experiment in resolved["experiments"].values():
        experiment["methods"] = {row: overrides or {} for row, overrides in experiment["methods"].items()}
    cross_check(resolved, source_root)
    return resolved


def canonical(value: Any) -> Any:
    """Return ``value`` with mappings sorted by key, as plain JSON types, for use as a rule parameter."""
    return json.loads(json.dumps(value, sort_keys=True))


def _definition(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    return root["$defs"][reference.rsplit("/", 1)[1]] if reference else schema


_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def _is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _check(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], where: str) -> None:
    """Check ``value`` in place against ``schema`` and fill defaults into its mappings."""
    schema = _definition(schema, root)
    if "oneOf" in schema:
        if value is None:
            return
        schema = next(option for option in schema["oneOf"] if option.get("type") != "null")
    kinds = schema.get("type")
    if kinds is not None:
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(_is_type(value, kind) for kind in kinds):
            hint = number_hint(value) if "number" in kinds else ""
            raise UserError(f"config key '{where}': expected {' or '.join(kinds)}, found {value!r}{hint}")
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"config key '{where}': {value!r} is no finite number")
    if "enum" in schema and value not in schema["enum"]:
        options = [str(option) for option in schema["enum"]]
        raise UserError(f"config key '{where}': {value!r} is not possible; {nearest(str(value), options)}")
    if value is None:
        return
    for bound, holds in _BOUNDS.items():
        if bound in schema and not holds(value, schema[bound]):
            wrong = "names something twice" if bound == "uniqueItems" else f"is out of range ({bound} {schema[bound]})"
            raise UserError(f"config key '{where}': {value!r} {wrong}")
    if isinstance(value, dict):
        _check_mapping(value, schema, root, where)
    elif isinstance(value, list) and "items" in schema:
        for position, item in enumerate(value):
            _check(item, schema["items"], root, f"{where}[{position}]")


_BOUNDS: dict[str, Any] = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
    "minItems": lambda value, bound: len(value) >= bound,
    "minProperties": lambda value, bound: len(value) >= bound,
    "uniqueItems": lambda value, bound: not bound or len({json.dumps(item) for item in value}) == len(value),
}


def _check_mapping(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str) -> None:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    pattern = schema.get("propertyNames", {}).get("pattern")
    for key in value:
        path = f"{where}.{key}" if where else str(key)
        if not isinstance(key, str):
            raise UserError(f"config key '{path}': keys are text; put it in quotes")
        if key not in properties and others is False:
            raise UserError(f"unknown config key '{path}'; {nearest(key, properties)}")
        if pattern and not re.search(pattern, key):
            raise UserError(f"config key '{path}': a name is lower-case letters, digits and underscores")
    for key in schema.get("required", ()):
        if key not in value:
            raise UserError(f"config key '{f'{where}.{key}' if where else key}' is missing; add it")
    for key, child in properties.items():
        if key not in value and "default" in child:
            value[key] = copy.deepcopy(child["default"])
    for key, item in value.items():
        child = properties.get(key, others)
        if isinstance(child, Mapping):
            _check(item, child, root, f"{where}.{key}" if where else key)
