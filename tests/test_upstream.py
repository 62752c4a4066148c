"""What of other people's code is wrapped, replaced or hidden stands in docs/dependencies.md, and nothing else does."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow(17)

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "favor"
PAGE = (ROOT / "docs" / "dependencies.md").read_text().partition("## What is replaced in libraries")[2]
# Attributes that the libraries offer to be set, and what is public in spite of its underscore.
OFFERED = {
    *(
        "data",
        "grad",
        "fp32_precision",
        "adapted",
        "scaling",
        "window",
    ),  # torch; the last three are an autograd context's
    *("decoder", "pre_tokenizer", "post_processor", "encode_special_tokens"),  # tokenizers
    *("num_hidden_layers", "layer_types", "generation_config"),  # transformers: fields of configurations
    *("max_seq_length", "idf_"),  # sentence-transformers, scikit-learn
    *("creator", "datePublished", "description", "license"),  # rocrate
    *(
        "mode",
        "mtime",
        "daemon",
        "atexit",
        "_exit",
        "_fields",
        "_replace",
        "_asdict",
        "stderr",
        "argv",
        "orig_argv",
        "__file__",
        "tempdir",
    ),
    *(
        "StartElementHandler",
        "EndElementHandler",
        "CharacterDataHandler",
        "StartDoctypeDeclHandler",
        "EntityDeclHandler",
        "buffer_text",
    ),  # expat
    "daemon_threads",  # socketserver
    *("stdout", "configfile"),  # sys, argparse
    "_Element",  # lxml's only name of what it returns
    "quotes",  # of a template of our own
    "repaired",  # our own mark on the Slurm plugin
}
# What a class of the package declares by the same name, for something else.
DECLARED_TOO = {("quantization_config", "forecast/estimate.py"), ("quantization_config", "lm/gguf.py")}


def touched(tree, own) -> Iterator[str]:
    """Names of attributes that are not ``own`` and that a module sets, deletes or patches, or private ones it reads."""
    libraries = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and top(node) not in {"favor", *sys.stdlib_module_names}
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not of_itself(node):
            foreign = isinstance(node.value, ast.Name) and node.value.id in libraries
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            if (foreign or node.attr not in own) and (private or not isinstance(node.ctx, ast.Load)):
                yield node.attr
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in ("setattr", "patch.object") and isinstance(node.args[1], ast.Constant):
                yield str(node.args[1].value)
            elif called.endswith(".addFilter"):
                yield "addFilter"


def top(node) -> str:
    return str(node.module).split(".")[0]


def of_itself(node) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def declared(trees) -> Iterator[str]:
    """Names that the package declares: fields of its classes, and what their methods set of themselves."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign))
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and of_itself(node):
            yield node.attr


@cache
def found() -> set[tuple[str, str]]:
    """(name, file) of everything foreign that the package touches."""
    trees = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}
    own = set(declared(trees.values()))
    names = {(name, file) for file, tree in trees.items() for name in touched(tree, own) if name not in OFFERED}
    return names | DECLARED_TOO


def test_the_page_has_a_row_for_every_name_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([\w/.]+)` \|", PAGE, re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert sorted(rows) == sorted(found())


def test_every_row_says_why_and_how_it_ends() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| `")]
    assert all(len(row) == 5 and all(cell.strip() for cell in row) for row in rows)


def test_the_page_counts_the_names() -> None:
    names = len({name for name, _ in found()})
    assert f"all of them: {names} names" in PAGE


def test_what_is_set_on_a_library_is_found() -> None:
    tree = ast.parse("from lib import Thing\nThing.ours = 1\nx.hook = f\nx.known = 2\nx._inside()\nx.y.addFilter(f)\n")
    assert sorted(touched(tree, {"known", "ours"})) == ["_inside", "addFilter", "hook", "ours"]
