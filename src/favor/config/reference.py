"""The reference of the configuration, made from its models: the JSON schema and the tables of config/README.md."""

import dataclasses
import json
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import yaml
from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from favor.config.configuration import Configuration
from favor.config.messages import bare, kind_name, may_be_null
from favor.federation.row_plan import declared_method
from favor.figures.specs import figures_in_order
from favor.foundation.declarations import declared_value
from favor.foundation.registry import ENCODER_KINDS, METHODS, TABLES
from favor.foundation.section import Section
from favor.tables.specs import Section as TableSection

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "config" / "README.md"

TABLE = re.compile(r"(<!-- keys of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_LONG_LIST = 8  # items of a default that a table still prints
_BOUNDS = ((Ge, "ge", "≥"), (Gt, "gt", ">"), (Le, "le", "≤"), (Lt, "lt", "<"))


def schema_text() -> str:
    """Return the JSON schema of the configuration, as YAML."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_without_titles(Configuration.model_json_schema()),
    }
    return yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=2**16)


def _without_titles(node: Any) -> Any:
    # pydantic repeats every key as a title, and gives keys without a default the default null.
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _without_titles(value) for key, value in node.items() if key != "title" or not isinstance(value, str)}
    if made.get("default", "") is None and "type" in made:
        del made["default"]
    return made


def sections(model: type[Section] = Configuration) -> Iterator[type[Section]]:
    """Yield ``model`` and every section that has a table of its own, in the order of their keys."""
    yield model
    for field in model.model_fields.values() if not _only_sections(model) else ():
        for inner in _sections_in(field.annotation):
            yield from sections(inner)


def _sections_in(annotation: Any) -> list[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [found for option in typing.get_args(annotation) for found in _sections_in(option)]


def readme_text(text: str) -> str:
    """Return the README ``text`` with the tables between its markers made again."""
    models = {model.__name__: model for model in sections()}
    return TABLE.sub(
        lambda found: f"{found[1]}{LISTS[found[2]]() if found[2] in LISTS else _table(models[found[2]])}{found[3]}",
        text,
    )


def _methods() -> str:
    lines = ["| method | in tables | hyperparameters and their defaults |", "|---|---|---|"]
    for name in METHODS.names():
        fields = dataclasses.fields(METHODS.load(name).Hyperparameters)
        values = ", ".join(f"`{each.name}: {json.dumps(each.default)}`" for each in fields)
        lines.append(f"| `{name}` | {declared_method(name).title} | {values or 'none'} |")
    return "\n".join([*lines, ""])


def _options() -> str:
    lines = ["| kind | options and their defaults |", "|---|---|"]
    for kind in ENCODER_KINDS.names():
        options = declared_value(ENCODER_KINDS.path(kind), "DEFAULTS", {})
        values = ", ".join(f"`{name}: {json.dumps(each)}`" for name, each in options.items() if name != "source")
        lines.append(f"| `{kind}` | {values} |")
    return "\n".join([*lines, ""])


def _labels() -> str:
    groups: dict[str, list[str]] = {
        section: [] for section in (*typing.get_args(TableSection), "Of a sweep", "Figures")
    }
    for label in TABLES.names():
        spec = TABLES.declared(label)
        groups["Of a sweep" if spec.over_points else spec.section].append(label)
    groups["Figures"] = figures_in_order()
    lines = [f"| {name} | {', '.join(f'`{each}`' for each in found)} |" for name, found in groups.items() if found]
    return "\n".join(["| section | names |", "|---|---|", *lines, ""])


# Tables in place of a section's, by the name in their marker.
LISTS = {"methods": _methods, "options": _options, "labels": _labels}


def _table(model: type[Section]) -> str:
    lines = ["| key | meaning | values | default |", "|---|---|---|---|"]
    for name, field in _keys(model):
        cells = (f"`{name}`", field.description or "", _values(field), _default(field))
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join([*lines, ""])


def _only_sections(model: type[Section]) -> bool:
    """Whether a section holds nothing but sections, whose keys stand in its table."""
    return all(_inner(field) is not None for field in model.model_fields.values())


def _inner(field: FieldInfo) -> type[Section] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def _keys(model: type[Section]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        inner = _inner(field) if _only_sections(model) else None
        if inner is None:
            yield name, field
        else:
            yield from ((f"{name}.{key}", each) for key, each in inner.model_fields.items())


def _values(field: FieldInfo) -> str:
    annotation = field.rebuild_annotation()
    plain = bare(annotation)
    if typing.get_origin(plain) is Literal:
        text = ", ".join(f"`{option}`" for option in typing.get_args(plain))
    elif isinstance(plain, type) and issubclass(plain, Section):
        text = "section"
    else:
        text = " ".join([kind_name(annotation), ", ".join(_bounds(annotation))]).strip()
        text = "mapping by name" if text == "mapping" and _sections_in(plain) else text
    return f"{text} or null" if may_be_null(annotation) else text


def _bounds(annotation: Any) -> list[str]:
    """Return the bounds that stand beside a number's type, at any depth, the lower one first."""
    options = typing.get_args(annotation) if bare(annotation) in (int, float) else ()
    found = [bound for option in options for bound in _bounds(option)]
    for option in options:
        for each in getattr(option, "metadata", [option]):
            found += [f"{sign} {getattr(each, name):.15g}" for kind, name, sign in _BOUNDS if isinstance(each, kind)]
    return sorted(found, reverse=True)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.default
    if field.default_factory is not None or default == {}:
        return ""
    if default is None:
        return "null" if may_be_null(field.rebuild_annotation()) else ""
    if isinstance(default, list) and len(default) > _LONG_LIST:
        return f"{len(default)} stages"
    if isinstance(default, dict):
        return ", ".join(f"`{key}`" for key in default)
    if isinstance(default, list):
        return ", ".join(f"`{item}`" for item in default) or "none"
    if isinstance(default, float) and "e" in str(default):
        return f"{default:.1e}"  # YAML reads 2e-05 as text
    return f"`{default}`" if isinstance(default, str) and default else json.dumps(default)
