"""Every arrow of the house runs one way: no import runs up from a lower room, and no modules import one another."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
# From the ground floor up.
ROOMS = (
    *("foundation", "running", "corpora", "demo", "exports", "encoders", "lm", "inference"),
    *("federation", "statistics", "scores", "analysis", "studies", "paper", "tables", "figures", "report", "publish"),
    *("voice", "config", "plan", "forecast", "tuning", "sites", "cli", "__main__"),
)


@cache
def imports() -> dict[str, set[str]]:
    """Modules that every module imports when it runs, by dotted name."""
    paths = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in (SOURCE / "favor").rglob("*.py")
    }
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    found = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = [
            node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        unused = {inner for node in for_types for statement in node.body for inner in ast.walk(statement)}
        found[name] = {
            f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in paths else str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("favor") and node not in unused
            for alias in node.names
        }
    return found


def test_no_import_runs_up() -> None:
    edges = imports()
    rooms = {name.split(".")[1] for name in edges if "." in name}
    assert rooms == set(ROOMS)
    rising = [
        f"{name} imports {other}"
        for name, others in edges.items()
        for other in others
        if "." in name and "." in other and ROOMS.index(name.split(".")[1]) < ROOMS.index(other.split(".")[1])
    ]
    assert rising == []


def test_no_modules_import_one_another() -> None:
    # Raises CycleError, which names the circle.
    assert len(list(TopologicalSorter(imports()).static_order())) > 200


def test_the_logger_imports_nothing_of_the_package() -> None:
    """Snakemake loads it before the Snakefile says whose ``favor`` is meant."""
    for path in (SOURCE / "snakemake_logger_plugin_favor").iterdir():
        assert path.suffix != ".py" or not re.search(r"^ *(from|import) favor", path.read_text(), re.MULTILINE), path
