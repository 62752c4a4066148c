"""What pydantic finds wrong with a configuration, as one sentence that names the key and the remedy."""

import datetime
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from favor.foundation.names import nearest, number_hint
from favor.foundation.section import NAME, OR_NULL, OWN_CHECKS, Section, one_line

_KINDS = {int: "integer", float: "number", str: "text", bool: "true or false", list: "list"}
_BOUNDS = {
    "greater_than_equal": "at least {ge:.15g}",
    "greater_than": "more than {gt:.15g}",
    "less_than_equal": "at most {le:.15g}",
    "less_than": "less than {lt:.15g}",
}
_LONGEST = 80  # characters of a value that are quoted


def message(error: ValidationError, model: type[Section], place: str = "") -> str:
    """Return one line about ``error``, which the validation of ``model``, the section at ``place``, raised.

    An unknown key goes first: where a required key is misspelt, it is the one to name.
    """
    found = error.errors(include_url=False)
    return one_line(_sentence(min(found, key=lambda each: not _is_unknown(each)), model, place))


def _is_unknown(error: ErrorDetails) -> bool:
    return error["type"] == "extra_forbidden" or (error["type"] == "literal_error" and error["loc"][-1] == "[key]")


def _sentence(error: ErrorDetails, model: type[Section], place: str) -> str:
    kind, value = error["type"], error["input"]
    steps = [step for step in error["loc"] if step != "[key]"]
    where = f"{place}.{_path(steps)}" if place else _path(steps)
    if _is_unknown(error):
        return f"unknown config key '{where}'; {nearest(str(steps[-1]), _keys(_expected(model, steps[:-1])))}"
    if kind == "missing":
        return f"config key '{where}' is missing; add it"
    if kind == "invalid_key" or (kind == "string_type" and error["loc"][-1] == "[key]"):
        return f"config key '{where}': keys are text; put it in quotes"
    if kind == "string_pattern_mismatch" and error["ctx"]["pattern"] == NAME:
        return (
            f"config key '{where}': a name is up to 64 lower-case letters, digits and underscores, and begins with a "
            "letter; rename it"
        )
    return f"config key '{where}': {_problem(kind, value, _expected(model, steps), error)}"


def _problem(kind: str, value: Any, expected: Any, error: ErrorDetails) -> str:
    found = quoted(value)
    if kind == "literal_error":
        return f"{found} is not possible; {nearest(str(value), map(str, typing.get_args(bare(expected))))}"
    if kind == "string_pattern_mismatch":
        return f"{found} does not have the form {error['ctx']['pattern']}; correct it"
    if kind == "finite_number":
        return f"{found} is not a finite number"
    if kind in _BOUNDS:
        return f"{found} is out of range; it must be {_BOUNDS[kind].format(**error['ctx'])}"
    if kind == "too_short":
        return f"{found} is too short; give at least {error['ctx']['min_length']}"
    if kind in OWN_CHECKS:
        return f"{found} {error['msg']}"
    wanted = kind_name(expected)
    hint = number_hint(value) if wanted == "number" else _text_hint(value) if wanted == "text" else ""
    return f"expected {wanted}{' or null' if may_be_null(expected) else ''}, found {found}{hint}"


def quoted(value: Any) -> str:
    """Return a value as YAML writes it, cut where it is long."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, datetime.date):
        return f"the date {value.isoformat()}"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _text_hint(value: Any) -> str:
    """Return what to say of a value that would be a text but that YAML reads as something else."""
    if isinstance(value, bool):
        return "; YAML reads yes, no, on and off as true and false, put the text in quotes"
    return "; put it in quotes" if isinstance(value, (int, float, datetime.date)) else ""


def _path(steps: Sequence[int | str]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) and path else f".{step}" if path else str(step)
    return path


def _expected(model: type[Section], steps: Sequence[int | str]) -> Any:
    """Return the annotation of the key that ``steps`` lead to; ``Any`` where the configuration is open."""
    found: Any = model
    for step in steps:
        inner = bare(found)
        if isinstance(inner, type) and issubclass(inner, Section):
            field = inner.model_fields.get(str(step))
            found = field.rebuild_annotation() if field is not None else Any
        else:
            arguments = typing.get_args(inner)
            found = arguments[-1] if arguments and typing.get_origin(inner) is not Literal else Any
    return found


def bare(annotation: Any) -> Any:
    """Return a type without what stands beside it (``Annotated``) and without null."""
    if typing.get_origin(annotation) is Annotated:
        return bare(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        (other,) = [option for option in typing.get_args(annotation) if option is not type(None)]
        return bare(other)
    return annotation


def kind_name(annotation: Any) -> str:
    """Return what messages and tables call the values of a type."""
    return _KINDS.get(typing.get_origin(bare(annotation)) or bare(annotation), "mapping")


def may_be_null(annotation: Any) -> bool:
    """Whether a file may give null for a key of this type."""
    if typing.get_origin(annotation) is Annotated:
        inner, *beside = typing.get_args(annotation)
        return OR_NULL in beside or may_be_null(inner)
    return type(None) in typing.get_args(annotation)


def _keys(annotation: Any) -> list[str]:
    inner = bare(annotation)
    if isinstance(inner, type) and issubclass(inner, Section):
        return list(inner.model_fields)
    if typing.get_origin(inner) is dict:
        return [str(option) for option in typing.get_args(bare(typing.get_args(inner)[0]))]
    return []
