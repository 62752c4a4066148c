"""The planner is light, since every cluster job reads it again, and so is the command."""

import subprocess
import sys

HEAVY = ("pandas", "pyarrow", "torch", "transformers", "snakemake")


def printed(program, repository) -> list[str]:
    command, environment = [sys.executable, "-c", program], {"PYTHONPATH": "src", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_command_imports_no_library_before_it_knows_what_is_asked(repository) -> None:
    program = f"import sys, favor.cli\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    assert printed(program, repository) == []


def test_planning_imports_no_numerical_library(repository) -> None:
    """NumPy alone is imported where something is planned, for the draws of the cohorts, and not before."""
    program = f"""
import sys, yaml
from pathlib import Path
from favor.config.resolve import resolve
from favor.plan import Planner
from favor.figures.specs import declared_figure
from favor.foundation.registry import FIGURES, METHODS, TABLES
from favor.tables.specs import load_spec
planner = Planner(resolve(yaml.safe_load(Path("tests/data/micro.yaml").read_text())), Path.cwd())
assert all(map(load_spec, TABLES.names()))
assert all(map(declared_figure, FIGURES.names()))
assert all(map(METHODS.load, METHODS.names()))
assert "numpy" not in sys.modules
assert planner.targets.everything()
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""
    assert printed(program, repository) == []
