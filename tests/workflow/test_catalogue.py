"""Rules pass the linter of the Snakemake workflow catalogue, where nothing but Snakemake is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow(15)

ROOT = Path(__file__).parents[2]


def installed(*wanted) -> dict[str, Distribution]:
    """Return packages and what they need, by name, without extras and what another platform needs."""
    found: dict[str, Distribution] = {}
    waiting = list(wanted)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # a need that markers leave out is not installed; a real one fails as an import below
        needs = map(Requirement, found[name].requires or [])
        waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """A folder of links to Snakemake and what it needs."""
    folder = tmp_path_factory.mktemp("bare")
    for package in installed("snakemake").values():
        for name in {file.parts[0] for file in package.files or []} - {".."}:
            if not (folder / name).exists():
                (folder / name).symlink_to(Path(str(package.locate_file(name))))
    return folder


def test_rules_are_linted_where_the_workflows_own_packages_are_not_installed(bare) -> None:
    assert not {"torch", "numpy", "pandas", "favor"} & {path.name for path in bare.iterdir()}
    # -S: without the packages of the environment that runs the tests.
    command = [sys.executable, "-S", "-m", "snakemake", "--lint"]
    linted = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(bare)}, capture_output=True, text=True, check=False
    )
    assert linted.returncode == 0, linted.stderr
    assert "in a good condition" in linted.stdout + linted.stderr
