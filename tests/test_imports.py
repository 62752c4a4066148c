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
    files = {path.relative_to(SOURCE).with_suffix(""): path for path in (SOURCE / "favor").rglob("*.py")}
    paths = {".".join(parts.parts).removesuffix(".__init__"): path for parts, path in files.items()}
    found = {}
    for name, path in paths.items():
        text = re.sub(
            r"^if TYPE_CHECKING:.*\n(    .*\n|\n(?=    ))+", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
        named = [(str(node.module), f"{node.module}.{alias.name}") for node in nodes for alias in node.names]
        found[name] = {part if part in paths else module for module, part in named if module.startswith("favor")}
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
