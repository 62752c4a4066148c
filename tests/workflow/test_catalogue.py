"""Rules pass the linter of the Snakemake workflow catalogue, where nothing but Snakemake is installed."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow(15)

# What the package imports and Snakemake does not need.
LINT = """
import sys
from snakemake.cli import main
sys.modules.update(dict.fromkeys(["numpy", "pandas", "pyarrow", "safetensors", "scipy", "sklearn", "torch"]))
main(["--lint"])
"""


def test_rules_are_linted_where_the_workflows_own_packages_are_not_installed(repository) -> None:
    command = [sys.executable, "-c", LINT]
    linted = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stderr
    assert "in a good condition" in linted.stdout + linted.stderr
