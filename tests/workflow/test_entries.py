"""The workflow can be entered by workflow/Snakefile and as another workflow's module, with the same jobs."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.workflow.conftest import Project, copy_project, use_planned_configuration

pytestmark = pytest.mark.slow(15)

MODULE = """
configfile: "config/config.yaml"

module favor:
    snakefile: "workflow/Snakefile"
    config: config

use rule * from favor exclude all as *

rule mine:
    default_target: True
    input: "results/report.html"
"""


@pytest.fixture(scope="module")
def project(repository, tmp_path_factory) -> Project:
    project = copy_project(repository, tmp_path_factory.mktemp("entries") / "project")
    use_planned_configuration(repository, project)
    return project


def jobs(printed) -> dict[str, str]:
    """The number of jobs by rule that a dry run prints, without the targets themselves."""
    found = dict(re.findall(r"^(\w+) +(\d+)$", printed, re.MULTILINE))
    return {rule: count for rule, count in found.items() if rule not in ("all", "everything", "mine", "total")}


def test_both_entries_and_a_module_plan_the_same_jobs(project) -> None:
    root = jobs(project.snakemake("-n").stdout)
    assert len(root) > 30
    assert jobs(project.snakemake("-n", "--snakefile", "workflow/Snakefile").stdout) == root
    (project.folder / "other.smk").write_text(MODULE)
    through_module = jobs(project.snakemake("-n", "--snakefile", "other.smk").stdout)
    assert through_module["train_shared"] == root["train_shared"]
    assert set(through_module) < set(root)


def test_an_address_of_another_version_is_refused_in_one_line(project) -> None:
    (project.folder / "pyproject.toml").write_text('[project]\nname = "favor-workflow"\nversion = "0.0.1"\n')
    handler = partial(SimpleHTTPRequestHandler, directory=project.folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/workflow/Snakefile"
        (project.folder / "remote.smk").write_text(MODULE.replace("workflow/Snakefile", address))
        done = project.snakemake("-n", "--snakefile", "remote.smk", check=False)
        server.shutdown()
    assert done.returncode != 0
    assert "needs version 0.0.1 of the package favor-workflow, and" in done.stdout
    assert "Traceback" not in done.stdout
