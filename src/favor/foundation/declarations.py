"""Reads what a plug-in file declares at its top level from its text, so that the workflow need not import it."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError


def declared(path: Path, name: str) -> ast.expr | None:
    """Return the expression assigned to ``name`` at the top level of the Python file, or None."""
    return _bound(path).get(name)


def declares(path: Path, name: str) -> bool:
    """Whether ``name`` is assigned or defined at the top level of the Python file. Broken syntax declares nothing."""
    try:
        return name in path.read_text(encoding="utf-8") and name in _bound(path)
    except SyntaxError:
        return False


def declared_calls(path: Path, keyword: str) -> dict[str, str]:
    """Return text -> name of every call that the file assigns to a name, by the text that it gives to ``keyword``.

    Raises ``UserError`` for broken syntax, a text that is not written out, and one that is given twice.
    """
    try:
        bound = _bound(path)
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno}: {error.msg}; correct the syntax") from None
    found: dict[str, str] = {}
    for name, value in bound.items():
        for argument in value.keywords if isinstance(value, ast.Call) else ():
            if argument.arg == keyword:
                text = getattr(argument.value, "value", None)
                if not isinstance(text, str):
                    raise UserError(f"{path}: the {keyword} of '{name}' is not written out; give it as a plain text")
                if found.setdefault(text, name) != name:
                    raise UserError(f"{path}: '{found[text]}' and '{name}' have one {keyword}, '{text}'; rename one")
    return found


@cache
def _bound(path: Path) -> dict[str, ast.expr | None]:
    """The names that a file assigns or defines at its top level: name -> the first expression assigned, if any."""
    found: dict[str, ast.expr | None] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, None)
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, getattr(node, "value", None))
    return found


@cache
def declared_words(path: Path, name: str) -> frozenset[str]:
    """Return the texts that are written out in what is assigned to ``name``, at any depth."""
    value = declared(path, name)
    nodes = () if value is None else ast.walk(value)
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def declared_value(path: Path, name: str, default: Any) -> Any:
    """Return the literal assigned to ``name``, or ``default`` where there is none.

    Raises ``UserError`` where something else is assigned.
    """
    value = declared(path, name)
    try:
        return default if value is None else ast.literal_eval(value)
    except ValueError:
        raise UserError(f"{path}: '{name}' is not written out; give it as a plain value") from None
