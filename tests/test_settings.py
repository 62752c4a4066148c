"""A job is handed the settings that it reads, and no others."""

from __future__ import annotations

import ast
import importlib
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from favor.foundation.registry import JUDGES, METRIC_FAMILIES, ROBUST_RULES
from favor.foundation.section import Section
from favor.running.invalidation.fingerprint import PRELOADED, source_code
from favor.scores.settings import Scores

ROOT = Path(__file__).resolve().parents[1]
SOURCE, SCRIPTS = ROOT / "src", ROOT / "workflow" / "scripts"


def held(annotation) -> list[type[Section]]:
    """The sections that a key holds."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [found for option in typing.get_args(annotation) for found in held(option)]


def jobs() -> Iterator[tuple[str, str, str]]:
    """Script, module and class of the settings that each script is handed."""
    for path in sorted(SCRIPTS.glob("*.py")):
        tree = ast.parse(path.read_text())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        modules = {alias.name: node.module for node in imports for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "job" and len(node.args) == 2:
                name = ast.unparse(node.args[1])
                yield path.stem, str(modules[name]), name


@cache
def attributes(path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}


def names_read(script) -> set[str]:
    """Attributes that a script reads, and the modules that it can reach."""
    # Of a registry a script loads what its settings name.
    registry = {"judge": JUDGES, "combine_uploads": ROBUST_RULES}.get(script)
    reached = source_code(SOURCE).reach(script, tuple(registry.modules().values()) if registry else ())
    files = {file_of(module) for module, _ in reached if module.startswith("favor.")}
    return set().union(*(attributes(file) for file in [SCRIPTS / f"{script}.py", *files] if file.is_file()))


def file_of(module) -> Path:
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


def leaves(kind) -> Iterator[str]:
    """The keys of a class of settings and of the sections that it holds."""
    for name, field in kind.model_fields.items():
        yield name
        for section in held(field.annotation):
            yield from leaves(section)


def test_the_code_of_every_script_can_be_followed() -> None:
    source = source_code(SOURCE)
    assert all(source.fingerprint(script.stem, [PRELOADED]) for script in SCRIPTS.glob("*.py"))


def test_a_job_is_handed_nothing_that_it_does_not_read() -> None:
    handed = list(jobs())
    assert len(handed) > 10
    for script, module, name in handed:
        kind = getattr(importlib.import_module(module), name)
        read = names_read(script)
        if name == "Scoring":  # a family's job is handed the settings of the family
            read = read.union(
                Scores.model_fields, *(attributes(METRIC_FAMILIES.path(own)) for own in Scores.model_fields)
            )
        assert set(leaves(kind)) - read == set(), script


def test_a_metric_family_reads_its_settings() -> None:
    for family, field in Scores.model_fields.items():
        path = METRIC_FAMILIES.path(family)
        assert set(leaves(field.annotation)) - attributes(path) == set(), family
