"""What a rule hands to its job of the configuration: the settings that the job reads, as one canonical dictionary."""

import json
import typing
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue

from favor.foundation.section import Section

Settings = TypeVar("Settings", bound=Section)
Value = TypeVar("Value")
Parameter = dict[str, JsonValue]  # what a rule reads of the configuration


def handed(kind: type[Settings], *sources: Section, unread: Collection[str] = (), **values: Any) -> Settings:
    """Return the settings ``kind`` of a job.

    A key is taken from ``values``, or else from the one of ``sources`` that has it. A section within it is cut down to
    the keys of the class that ``kind`` names. The job does not read the keys ``unread``: they keep their
    defaults, so that a change of them makes nothing again. Raises ``TypeError`` for a key that nothing or more than one
    source gives.
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
    return handed(kinds[0], value) if kinds else value


def _sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for option in typing.get_args(annotation):
        yield from _sections(option)


def plain(value: Any) -> Any:
    """Return sections of the configuration, and what holds them, as plain values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def pick(section: BaseModel, *keys: str) -> dict[str, object]:
    """Return the named keys of a section as plain values."""
    return {key: plain(getattr(section, key)) for key in keys}


def without(section: BaseModel, *keys: str) -> dict[str, object]:
    """Return a section as plain values, without the named keys."""
    return {key: value for key, value in plain(section).items() if key not in keys}


def canonical(settings: Section) -> Parameter:
    """Return the settings of a job as a rule's parameter: one dictionary of plain JSON types, sorted keys."""
    return parameter(**plain(settings))


def hands(kind: type[Section], section: Callable[[Any], Section]) -> Callable[[Any], Parameter]:
    """Return the function of a job's key that hands it the settings ``kind`` of a section."""
    return lambda key: canonical(handed(kind, section(key)))


def present(value: Value | None) -> Value:
    """Return a value that is there wherever it is asked for: the wildcards of its rule see to that."""
    assert value is not None
    return value


def parameter(**values: Any) -> Parameter:
    """Return what a rule reads of the configuration as one canonical dictionary: plain JSON types, sorted keys."""
    found: Parameter = json.loads(json.dumps(plain(values), sort_keys=True))
    return found
