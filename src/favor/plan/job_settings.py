"""The settings that a rule passes to its job: a section, or a dictionary, of plain JSON types with sorted keys."""

import json
import typing
from collections.abc import Collection, Iterator
from typing import Any, TypeVar

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from favor.foundation.section import Section

Settings = TypeVar("Settings", bound=Section)
Value = TypeVar("Value")
Parameter = dict[str, JsonValue]  # of a rule: what its job reads of the configuration


def job_settings(kind: type[Settings], *sources: Section, unread: Collection[str] = (), **values: Any) -> Settings:
    """Return the settings ``kind`` of a job.

    A key is taken from ``values``, or else from the one of ``sources`` that has it. A nested section is cut down to the
    keys of the class that ``kind`` names for it. Keys ``unread`` keep their defaults: the job does not read them, so a
    change of them reruns nothing. Raises ``TypeError`` for a key that no source has, or several.
    """
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        given = [getattr(source, name) for source in sources if name in type(source).model_fields]
        if name in unread:
            continue
        if name not in values and len(given) != 1:
            raise TypeError(f"{kind.__name__}.{name} is given by {len(given)} sources")
        found[name] = _cut(field.annotation, values[name] if name in values else given[0])
    unknown = {*values, *unread} - kind.model_fields.keys()
    if unknown:
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
    return kind.model_construct(**found)


def _cut(annotation: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_cut(annotation, item) for item in value]
    kinds = [each for each in _sections(annotation) if isinstance(value, each) and type(value) is not each]
    return job_settings(kinds[0], value) if kinds else value


def _sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for option in typing.get_args(annotation):
        yield from _sections(option)


def to_params(settings: Section | dict[str, Any]) -> Parameter:
    found: Parameter = json.loads(json.dumps(to_jsonable_python(settings), sort_keys=True))
    return found


def not_none(value: Value | None) -> Value:
    """Return ``value``; it is never None here, because the rule's wildcards exclude that case."""
    assert value is not None
    return value
