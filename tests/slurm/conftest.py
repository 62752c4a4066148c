"""The test cluster, and copies of the project to run on it. Only ``make test-slurm`` runs what is here."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.shortest import contents
from tests.slurm.cluster import GPU_MODEL, PACKAGES, Cluster, missing_programs, running_cluster, wait_until
from tests.workflow.conftest import Project, copy_project

ARGUMENTS = ("--configfile", "small.yaml")
SMALL = "tests/data/slurm.yaml"
# Files that print a wall time, where the configuration asks for one.
WITH_TIMES = ("efficiency", "communication-by-method", "efficiency_communication", "report")
# A stage for the CPU partition and three that ask for a GPU; the others run where Snakemake does. A job on the cluster
# takes 15 processor seconds, mostly to start. Other stages' partitions are tested in tests/plan/test_costs.py.
ON_CLUSTER = {"pretrain_base", "train_shared", "train_personal", "generate"}
SETTINGS = {
    "partition": "cpu",
    "gpu_partition": "gpu",
    "gpu_model": GPU_MODEL,
    "maximum_memory_mb": 4000,
    "poll_seconds": 1,
}


class SlurmProject:
    """A copy of the project in ``folder``, whose Snakemake submits to ``cluster``."""

    def __init__(self, folder, cluster) -> None:
        self.folder = folder
        self.cluster = cluster
        self.first = 1 + max(map(int, cluster.jobs()), default=0)  # of this project's jobs
        rules = {path.stem for path in (folder / "workflow" / "scripts").glob("*.py")}
        self.settings = {**SETTINGS, "local": sorted(rules - ON_CLUSTER)}
        self.targets: list[str] = []

    def arguments(self, **settings) -> list[str]:
        """Snakemake's arguments, with further settings of the section 'cluster'."""
        chosen = {"cluster": {**self.settings, **settings}}
        (self.folder / "cluster.yaml").write_text(yaml.safe_dump(chosen))
        waits = ("--latency-wait", "10", "--slurm-init-seconds-before-status-checks", "1")
        return [*self.targets, *ARGUMENTS, "cluster.yaml", *waits]

    def start(self, *arguments, **settings) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "snakemake"]
        arguments = ("--workflow-profile", "workflow/profiles/slurm", *arguments)
        return self._popen([*command, *self.arguments(**settings), *arguments])

    def resume(self, *arguments) -> subprocess.Popen[str]:
        return self._popen([sys.executable, "workflow/profiles/slurm/resume.py", *self.arguments(), *arguments])

    def _popen(self, command) -> subprocess.Popen[str]:
        with (self.folder / "run.log").open("a") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=self.cluster.environment, text=True, stdout=log, stderr=log
            )

    @property
    def output(self) -> str:
        return (self.folder / "run.log").read_text()

    def finish(self, run, seconds=1800) -> None:
        try:
            returned = run.wait(timeout=seconds)
        finally:
            run.kill()
        assert returned == 0, self.output[-6000:]

    def jobs(self, *states) -> dict[str, str]:
        found = {number: text for number, text in self.cluster.jobs(*states).items() if int(number) >= self.first}
        return {number: text.removeprefix("rule_").split("_wildcards")[0] for number, text in found.items()}

    def counts(self) -> Counter[str]:
        return Counter(self.jobs().values())

    def running(self, rule) -> str:
        """Wait until a job of the rule works, its script included, and return its id."""

        def working() -> list[str]:
            steps = self.cluster.call("squeue", "--noheader", "--steps", "--format=%i").split()
            inner = {step.split(".")[0] for step in steps if step.endswith(".0")}
            return [number for number, name in self.jobs("R").items() if name == rule and number in inner]

        wait_until(working, f"a running job of {rule}", 300, pause=0.5)  # two squeues a look
        return working()[0]


def same_results(folder, other) -> None:
    """Assert that two runs left the same files, byte for byte, but for the wall times that training took."""
    ours, theirs = (contents(Project(each)) for each in (folder, other))
    assert ours.keys() == theirs.keys()
    differing = {name for name in ours if ours[name] != theirs[name]}
    assert not [name for name in differing if Path(name).stem not in WITH_TIMES]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    absent = missing_programs()
    if absent:
        pytest.skip(f"no Slurm here: {', '.join(absent)} missing; apt-get install {PACKAGES}")
    with running_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def local_run(repository, tmp_path_factory) -> Path:
    return run_here(repository, tmp_path_factory.mktemp("local") / "project", SMALL)


@pytest.fixture(scope="session")
def whole_run(repository, local_run, tmp_path_factory) -> Path:
    """The same of the configuration that FAVOR_SLURM_CONFIG names."""
    source = os.environ.get("FAVOR_SLURM_CONFIG", SMALL)
    if source == SMALL:
        return local_run
    return run_here(repository, tmp_path_factory.mktemp("whole") / "project", source)


def run_here(repository, folder, configuration) -> Path:
    project = copy_project(repository, folder)
    shutil.copyfile(repository / configuration, project.folder / "small.yaml")
    project.snakemake(*ARGUMENTS)
    return project.folder


@pytest.fixture
def fresh(whole_run, cluster, tmp_path) -> SlurmProject:
    shutil.copytree(whole_run, tmp_path / "project", ignore=shutil.ignore_patterns("results", ".snakemake"))
    return SlurmProject(tmp_path / "project", cluster)


@pytest.fixture
def half_done(local_run, cluster, tmp_path) -> SlurmProject:
    """The same project after the run, without what FAVoR made after its shared stage.

    Two stages run on the cluster again, train_personal and then generate; what reads the base is local.
    """
    folder = tmp_path / "project"
    shutil.copytree(local_run, folder)
    name, experiment = next(iter(yaml.safe_load((folder / "small.yaml").read_text())["experiments"].items()))
    gone = folder / "results" / name / f"seed{experiment['seeds'][0]}" / "favor"
    made_again = [str(path.relative_to(folder)) for path in gone.rglob("*") if path.is_file()]
    shutil.rmtree(gone)
    project = SlurmProject(folder, cluster)
    project.targets = sorted(made_again)
    return project


@pytest.fixture
def untrained(half_done) -> SlurmProject:
    half_done.settings["local"].append("generate")
    return half_done
