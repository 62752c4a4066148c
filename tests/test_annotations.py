"""Tests say what they return, and a file says the types of all parameters or of none."""

from __future__ import annotations

import ast


def test_a_file_annotates_all_parameters_or_none(repository) -> None:
    """What a test takes is a fixture, which its name tells; types help where a file makes values of many kinds."""
    mixed = []
    for path in sorted((repository / "tests").rglob("*.py")):
        parameters = [
            parameter
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef)
            for parameter in (*node.args.args, *node.args.kwonlyargs)
            if parameter.arg not in ("self", "cls")
        ]
        if len({parameter.annotation is None for parameter in parameters}) > 1:
            mixed.append(path.relative_to(repository))
    assert mixed == []
