"""The container recipes, as far as a machine without a builder can follow them.

Both copy the same files; with these alone the environment's installation begins and the demo is planned in another
folder. ``tests/test_environments.py`` holds the lock that is installed.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from favor.running.invalidation.fingerprint import source_code
from tests.workflow.conftest import copy_project, planned_jobs, run_snakemake

pytestmark = pytest.mark.slow(15)

PLACE = "/opt/favor/"


def docker_copies(text) -> dict[str, str]:
    """Sources and places of every COPY; a folder's content goes to the place that is named."""
    found = {}
    for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE):
        *sources, place = line.split()
        found |= {source: source if place == "./" else place.rstrip("/") for source in sources}
    return found


def apptainer_copies(text) -> dict[str, str]:
    (section,) = re.findall(r"^%files\n((?: .*\n)+)", text, re.MULTILINE)
    pairs = dict(line.split() for line in section.splitlines())
    return {source: place.removeprefix(PLACE) for source, place in pairs.items()}


@pytest.fixture(scope="module")
def recipes(repository) -> dict[str, str]:
    return {name: (repository / "containers" / name).read_text() for name in ("Dockerfile", "favor.def")}


@pytest.fixture(scope="module")
def image(repository, recipes, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("image") / "favor"
    source_code(repository / "src")
    for source, place in docker_copies(recipes["Dockerfile"]).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        if (repository / source).is_dir():
            shutil.copytree(repository / source, folder / place, ignore=shutil.ignore_patterns("*.egg-info"))
        else:
            shutil.copy2(repository / source, folder / place)
    return folder


def test_both_recipes_say_the_same(recipes) -> None:
    docker, apptainer = recipes["Dockerfile"], recipes["favor.def"]
    assert docker_copies(docker) == apptainer_copies(apptainer)
    base = re.search(r"^FROM (\S+)$", docker, re.MULTILINE)[1]
    index = re.search(r"^ARG TORCH=(\S+)$", docker, re.MULTILINE)[1]
    assert f"Bootstrap: docker\nFrom: {base}\n" in apptainer
    assert f"    TORCH={index}\n" in apptainer


def test_what_is_copied_suffices_to_install_from_the_lock(image) -> None:
    """``make`` says every command that it would run; a file that were missing would stop it."""
    done = subprocess.run(["make", "--dry-run", "install"], cwd=image, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--no-deps --require-hashes --requirement requirements.lock" in done.stdout
    assert "--no-deps --editable .\n" in done.stdout
    for name in re.findall(r'^(?:readme = "|license-files = \[")([^"]+)', (image / "pyproject.toml").read_text(), re.M):
        assert (image / name).is_file()


def test_what_is_copied_plans_the_demo_in_a_mounted_folder(image, tmp_path) -> None:
    arguments = ["--snakefile", str(image / "Snakefile"), "--cores", "2", "--dry-run"]
    done = run_snakemake(arguments, tmp_path, dict(os.environ))
    assert done.returncode == 0, done.stdout[-2000:]
    assert planned_jobs(done.stdout)["report"] == 1


# Runs the command on this machine, as Apptainer does in the image, and writes down what it was asked for.
APPTAINER = """#!/bin/sh
case "$1" in --version) echo apptainer version 1.3.0; exit;; esac
echo "$@" >> asked.txt
while [ "$1" != -c ]; do shift; done
exec bash -c "$2"
"""


def test_a_job_runs_in_the_image(repository, tmp_path) -> None:
    project = copy_project(repository, tmp_path / "project")
    (tmp_path / "apptainer").write_text(APPTAINER)
    (tmp_path / "apptainer").chmod(0o755)
    (project.folder / "favor.sif").touch()
    environment = os.environ | {"PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    arguments = ["--cores", "2", "--sdm", "apptainer", "--configfile", str(repository / "tests/data/micro.yaml")]
    made = "results/corpora/micro/documents.parquet"
    done = run_snakemake([*arguments, "--config", "image=favor.sif", "--", made], project.folder, environment)
    assert done.returncode == 0, done.stdout[-3000:]
    assert (project.folder / made).is_file()
    asked = (project.folder / "asked.txt").read_text().splitlines()
    assert [line for line in asked if " exec " in f" {line}" and "favor.sif" in line and "build_documents" in line]
