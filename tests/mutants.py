"""How many of 100 mutants of ``statistics``, ``federation`` and ``scores`` the tests of their modules find.

"python -m tests.mutants [MODULE ...]" lists those that no test finds, in minutes of one core: all, or those of modules
named as in ``tests/data/mutants.csv``. There a mutant is a line of a module and what stands in its place.
"""

import csv
import gc
import importlib
import os
import re
import signal
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 120  # seconds; a mutant that takes longer is found
# Imported once: every mutant is tested in a fork of this process.
LIBRARIES = ("hypothesis", "matplotlib.pyplot", "pandas", "scipy.stats", "selenium.webdriver", "sklearn.linear_model")
LIBRARIES += ("torch", "transformers", "peft", "pyarrow.parquet", "snakemake.cli")


def status(module, line="", mutant="") -> int:
    """What pytest ends with, for the tests of ``module`` with one of its lines replaced; a signal is negative."""
    child = os.fork()
    if not child:
        run(module, line, mutant)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(module, line, mutant) -> NoReturn:
    original, name = SourceFileLoader.get_code, f"favor.{module.replace('/', '.')}"

    def get_code(self, fullname) -> Any:
        if fullname != name or not line:
            return original(self, fullname)
        path = self.get_filename(fullname)
        whole = re.compile(rf"^( *){re.escape(line)}$", re.MULTILINE)
        text = whole.sub(lambda found: found[1] + mutant, Path(path).read_text(encoding="utf-8"))
        return compile(text, path, "exec", dont_inherit=True)  # and no compiled file of it is left

    SourceFileLoader.get_code = get_code
    signal.alarm(LONGEST)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    room, stem = module.split("/")
    tests = str(ROOT / "tests" / room / f"test_{stem}.py")
    os._exit(pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", tests]))


def main(wanted) -> None:
    with (ROOT / "tests" / "data" / "mutants.csv").open(encoding="utf-8", newline="") as file:
        mutants = [row for row in csv.DictReader(file) if not wanted or row["module"] in wanted]
    for row in mutants:
        text = (ROOT / "src" / "favor" / f"{row['module']}.py").read_text(encoding="utf-8")
        count = sum(line.strip() == row["line"] for line in text.splitlines())
        if count != 1:
            sys.exit(f"tests/data/mutants.csv: {row['module']} has {count} lines '{row['line']}'; replace the mutant")
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()
    assert "favor" not in sys.modules
    failed = [
        module for module in dict.fromkeys(row["module"] for row in mutants) if status(module) != pytest.ExitCode.OK
    ]
    if failed:
        sys.exit(f"tests fail without any mutant: {', '.join(failed)}")
    survived = 0
    for row in mutants:
        if status(**row) == pytest.ExitCode.OK:
            survived += 1
            print(f"{row['module']}: {row['line']}\n    {row['mutant']}", flush=True)
    print(f"{len(mutants) - survived} of {len(mutants)} mutants were found")


if __name__ == "__main__":
    main(sys.argv[1:])
