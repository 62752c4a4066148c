"""A job is handed the settings that it reads, and no others."""

import ast
import importlib
import re
import typing
from functools import cache
from pathlib import Path

from favor.foundation.registry import JUDGES, METRIC_FAMILIES, ROBUST_RULES
from favor.foundation.section import Section
from favor.running.invalidation.fingerprint import PRELOADED, source_code
from favor.scores.settings import Scores

ROOT = Path(__file__).resolve().parents[1]
SOURCE, SCRIPTS = ROOT / "src", ROOT / "workflow" / "scripts"


def keys(annotation) -> set[str]:
    """The keys of the sections that an annotation names, and of the sections that these hold."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return {*annotation.model_fields}.union(*(keys(field.annotation) for field in annotation.model_fields.values()))
    return set().union(*map(keys, typing.get_args(annotation)))


@cache
def attributes(path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}


def names_read(script) -> set[str]:
    """Attributes that a script reads, and the modules that it can reach."""
    # Of a registry a script loads what its settings name.
    registry = {"judge": JUDGES, "combine_uploads": ROBUST_RULES, "score": METRIC_FAMILIES}.get(script)
    reached = source_code(SOURCE).reach(script, tuple(registry.modules().values()) if registry else ())
    files = {SOURCE.joinpath(*module.split(".")).with_suffix(".py") for module, _ in reached}
    return set().union(*(attributes(file) for file in [SCRIPTS / f"{script}.py", *files] if file.is_file()))


def test_the_code_of_every_script_can_be_followed() -> None:
    source = source_code(SOURCE)
    assert all(source.fingerprint(script.stem, [PRELOADED]) for script in SCRIPTS.glob("*.py"))


def test_a_job_is_handed_nothing_that_it_does_not_read() -> None:
    handed = 0
    for path in SCRIPTS.glob("*.py"):
        # The class of settings that a script is handed, as it imports it.
        found = re.search(r"^with job\(snakemake, (\w+)\)", text := path.read_text(), re.MULTILINE)
        if found:
            module = re.search(rf"^from (\S+) import .*\b{found[1]}\b", text, re.MULTILINE)[1]
            read = names_read(path.stem) | ({*Scores.model_fields} if path.stem == "score" else set())
            assert keys(getattr(importlib.import_module(module), found[1])) - read == set(), path.stem
            handed += 1
    assert handed > 10


def test_a_metric_family_reads_its_settings() -> None:
    for family, field in Scores.model_fields.items():
        assert keys(field.annotation) - attributes(METRIC_FAMILIES.path(family)) == set(), family
