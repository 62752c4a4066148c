"""What of other people's code is wrapped, replaced or hidden stands in docs/dependencies.md, and nothing else does."""

import ast
import re
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.slow(17)

# Public in spite of the underscore: os, named tuples, and lxml's only name of what it returns.
OFFERED = {"_exit", "_fields", "_replace", "_asdict", "_Element"}


def declared(tree) -> Iterator[str]:
    """Names that a module declares: fields of its classes, and what their methods set of themselves."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign))
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and of_itself(node):
            yield node.attr


def of_itself(node) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def private(tree) -> Iterator[str]:
    """Private names that a module reads, sets or patches of something else than itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not of_itself(node):
            names = [node.attr]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "patch.object"):
            names = [part.value for part in node.args if isinstance(part, ast.Constant)]
        else:
            continue
        yield from (name for name in names if re.match(r"_[^_]", str(name)) and name not in OFFERED)


def test_the_page_has_a_row_for_every_private_name_and_none_of_what_is_not_there(repository) -> None:
    page = (repository / "docs" / "dependencies.md").read_text().partition("## What is replaced in libraries")[2]
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"
    ]
    assert all(len(row) == 5 and all(row) for row in rows)  # each says why, and how it ends
    listed = {(name, file) for name, file, *_ in rows}
    assert len(rows) == len(listed)
    package = repository / "src" / "favor"
    assert not [row for row in listed if not re.search(rf"\b{row[0]}\b", (package / row[1]).read_text())]
    trees = {path.relative_to(package).as_posix(): ast.parse(path.read_text()) for path in package.rglob("*.py")}
    own = {name for tree in trees.values() for name in declared(tree)}
    found = {(name, file) for file, tree in trees.items() for name in private(tree) if name not in own}
    assert found == {row for row in listed if re.match(r"_[^_]", row[0])}
    assert f"all of them: {len({name for name, _ in listed})} names" in page
