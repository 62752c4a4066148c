"""Tests say what they return, which ruff holds, and name what they take, without types."""

import ast


def test_no_parameter_is_annotated(repository) -> None:
    """What a test takes is a fixture or a case, which its name tells. One style in all files."""
    annotated = []
    for path in sorted((repository / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.arg) and node.annotation is not None:
                annotated.append(f"{path.relative_to(repository)}: {node.arg}")
    assert annotated == []
