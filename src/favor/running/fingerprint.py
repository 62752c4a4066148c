"""Fingerprints of code, so that the workflow reruns what an edit invalidates and nothing else.

Snakemake tracks neither imported modules nor data read by them. Every rule therefore carries the fingerprint of its
script and of every first-party module the script imports, transitively. It is taken from the syntax tree: comments,
docstrings and formatting are left out, so they never retrain anything. Modules loaded by name at run time (a method,
a metric family, a table specification) are named by the rule that loads them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from favor.foundation.errors import UserError

PACKAGE = "favor"


def fingerprint(script: Path, source_root: Path, modules: Sequence[str] = ()) -> str:
    """Return 16 hexadecimal digits that change when the code behind ``script`` does.

    ``source_root`` is the folder that holds the package; ``modules`` are dotted names loaded at run time.
    """
    digest = hashlib.sha256(_tree(script)[0].encode())
    for name in _reachable(script, source_root, tuple(modules)):
        path = _module_path(name, source_root)
        assert path is not None
        digest.update(f"{name}\0{_tree(path)[0]}\0".encode())
    return digest.hexdigest()[:16]


def first_party_modules(script: Path, source_root: Path, modules: Sequence[str] = ()) -> list[str]:
    """Return the sorted dotted names of every first-party module that ``script`` imports, transitively."""
    return list(_reachable(script, source_root, tuple(modules)))


@cache
def _reachable(script: Path, source_root: Path, modules: tuple[str, ...]) -> tuple[str, ...]:
    for name in modules:
        if _module_path(name, source_root) is None:
            raise UserError(f"no module '{name}' under {source_root}; check the name or add the file")
    found: set[str] = set()
    waiting = [*_tree(script)[1], *modules]
    while waiting:
        name = waiting.pop()
        # Importing a.b.c runs a and a.b too.
        for end in range(1, name.count(".") + 2):
            ancestor = ".".join(name.split(".")[:end])
            path = _module_path(ancestor, source_root)
            if path is not None and ancestor not in found:
                found.add(ancestor)
                waiting += _tree(path)[1]
    return tuple(sorted(found))


def _module_path(name: str, source_root: Path) -> Path | None:
    base = source_root.joinpath(*name.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _tree(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return (canonical text of the code, dotted names it may import)."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno}: {error.msg}; mend the syntax") from None
    imports = tuple(_imports(tree))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        is_scope = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_scope and isinstance(body, list) and body and _is_text(body[0]):
            body.pop(0)
    return _dump(tree), imports


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise UserError(
                f"relative import of '{node.module}': write it as '{PACKAGE}....' so that it can be followed"
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            yield str(node.module)
            # "from favor.lm import stack" names a module or a value; a name without a file is dropped later.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _dump(node: object) -> str:
    # ast.dump differs between Python versions; fields that are empty are left out so that new ones change nothing.
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields)
        shown = ",".join(f"{name}={_dump(value)}" for name, value in fields if value is not None and value != [])
        return f"{type(node).__name__}({shown})"
    if isinstance(node, list):
        return f"[{','.join(_dump(item) for item in node)}]"
    return repr(node)
