"""The checks of the Snakemake workflow catalogue: lint and snakefmt, where nothing but these two is installed."""

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
    """A folder of links to Snakemake, snakefmt and what they need."""
    folder = tmp_path_factory.mktemp("bare")
    for package in installed("snakemake", "snakefmt").values():
        for name in {file.parts[0] for file in package.files or []} - {".."}:
            if not (folder / name).exists():
                (folder / name).symlink_to(Path(str(package.locate_file(name))))
    return folder


def run(bare, *command) -> str:
    # -S: without the packages of the environment that runs the tests.
    done = subprocess.run(
        [sys.executable, "-S", "-m", *command],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(bare)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_rules_are_linted_where_the_workflows_own_packages_are_not_installed(bare) -> None:
    assert not {"torch", "numpy", "pandas", "favor"} & {path.name for path in bare.iterdir()}
    assert "in a good condition" in run(bare, "snakemake", "--lint")


def test_rules_have_the_format_that_snakefmt_asks_for(bare) -> None:
    assert "would be left unchanged" in run(bare, "snakefmt", "--check", "Snakefile", "workflow")
