"""The undisturbed run of the shortest configuration, against which faults and other ways to run are held."""

import hashlib
import re

import pytest

from favor.running.folder.run_record import NAMES as PROVENANCE
from tests.once import made_once
from tests.workflow.conftest import Project, copy_project

TABLES = [f"results/short/tables/main_federated_results.{kind}" for kind in ("parquet", "tex", "html")]
ARGUMENTS = ("--configfile", "shortest.yaml", "--")


def fresh_project(repository, folder) -> Project:
    """A copy of the project with the shortest configuration and nothing made."""
    return copy_project(repository, folder, "shortest.yaml")


@pytest.fixture(scope="session", name="finished")
def finished_run(repository, tmp_path_factory) -> Project:
    """The undisturbed run, made once for all workers of the test run; not to be changed."""

    def make(folder) -> None:
        fresh_project(repository, folder).snakemake(*ARGUMENTS, *TABLES)

    return Project(made_once(tmp_path_factory, "shortest", make))


def jobs_begun(output) -> list[str]:
    """Return the rules of the jobs that a run says it begins, each once per job."""
    return re.findall(r"^(?:local)?rule (\w+):$", output, flags=re.MULTILINE)


def contents(project) -> dict[str, str]:
    """Digests of all results by path; logs, times of jobs and hidden files are left out."""
    root = project.folder / "results"
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and path.relative_to(root).parts[0] not in ("logs", "benchmarks", *PROVENANCE)
        and not path.name.startswith(".")
        and path.suffix != ".truncated"
        # Snakemake leaves a temporary output where its job was asked for by name, as faults do.
        and not path.name.endswith(".passing.safetensors")
    }
