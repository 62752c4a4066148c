"""What runs cost before they start: the script's formulas against the paper's figures and against planned jobs."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import yaml

from favor.forecast.estimate import START_SECONDS

pytestmark = pytest.mark.slow(21)


@pytest.fixture(scope="module")
def scaling(repository) -> Iterator[ModuleType]:
    """The script as a module."""
    specification = importlib.util.spec_from_file_location("scaling", repository / "benchmarks" / "scaling.py")
    module = importlib.util.module_from_spec(specification)
    # Dataclasses look their module up by name.
    sys.modules["scaling"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["scaling"]


@pytest.fixture
def blogtext(scaling, repository, tmp_path) -> dict[str, Any]:
    """The paper's configuration, with an empty corpus."""
    (tmp_path / "corpus.csv").write_text("id,gender,age,topic,sign,date,text\n")
    config = scaling.merged([repository / "config" / "blogtext.yaml"], None, None)
    return {**config, "corpus_path": str(tmp_path / "corpus.csv"), "report": {}}  # whose rows the tests replace


def test_the_papers_figures_of_one_run(scaling, blogtext) -> None:
    experiment = blogtext["experiments"]["blogtext"]
    experiment |= {"methods": {"favor": {}}, "seeds": [2026], "studies": {}}
    found = scaling.costs(blogtext)
    # The efficiency table: 8.03 GiB up and as much down a seed (no client is left unsampled), residuals of 5.58 GiB,
    # and the endpoints under them.
    assert round(found["upload_gib"], 2) == 8.03
    assert round(found["download_gib"], 2) == 8.03
    assert found["disk_gib"]["personal adapters"] == pytest.approx(5.58, abs=0.01)
    assert found["disk_gib"]["endpoints"] == pytest.approx(5.58, abs=0.01)
    # Seven states of the server's adapter; uploads of one round at most.
    assert found["disk_gib"]["shared adapters"] == pytest.approx(7 * 5.58 / 50, abs=0.01)
    assert found["peak_gib"] - found["final_gib"] == pytest.approx(1.34, abs=0.01)
    assert found["gpu_hours_at_the_papers_pace"] == pytest.approx(18, rel=0.01)
    # 12.8 minutes counted, and ten seconds for each of 6 + 2 training jobs and one of generation.
    assert found["jobs"] == {"train_shared": 6, "aggregate": 6, "train_personal": 2, "generate": 1}
    assert found["gpu_hours_counted"] == pytest.approx((12.8 + 1.5) / 60, rel=0.01)


def test_what_is_kept_follows_the_methods(scaling, blogtext) -> None:
    experiment = blogtext["experiments"]["blogtext"]
    experiment |= {"methods": {"fedavg": {}, "ditto": {}}, "seeds": [2026], "studies": {}}
    found = scaling.costs(blogtext)
    # Nobody starts from FedAvg's endpoints; of Ditto's participations the last one of each client stays.
    assert found["disk_gib"].get("endpoints", 0) == 0
    assert found["disk_gib"]["personal adapters"] == pytest.approx(5.58, abs=0.01)
    # One track for both: its uploads are counted once on disk, and for each method as traffic.
    assert found["jobs"]["train_shared"] == 6
    assert found["upload_gib"] == pytest.approx(16.07, abs=0.01)
    kept = scaling.costs({**blogtext, "keep_uploads": True})
    assert kept["disk_gib"]["uploads"] == pytest.approx(8.03, abs=0.01)
    # Of 72 participations of Ditto a later one replaces 22.
    assert kept["peak_gib"] - kept["final_gib"] == pytest.approx(22 * 5.58 / 50, abs=0.01)


def test_clients_of_a_job_cut_the_jobs(scaling, blogtext) -> None:
    federation = blogtext["experiments"]["blogtext"]["federation"]
    federation["clients_per_job"] = 1
    one = scaling.costs(blogtext)
    federation["clients_per_job"] = None
    together = scaling.costs(blogtext)
    assert (sum(one["jobs"].values()), sum(together["jobs"].values())) == (864 + 72 + 1251 + 42, 72 + 72 + 81 + 42)
    # One job holds more adapters then, and fewer jobs load the base; nothing else depends on how clients are packed.
    assert one.pop("host_memory_gib") < together.pop("host_memory_gib")
    saved = (864 + 1251 - 72 - 81) * START_SECONDS / 3600
    assert one.pop("gpu_hours_counted") - together.pop("gpu_hours_counted") == pytest.approx(saved)
    assert {**one, "jobs": {}} == {**together, "jobs": {}}


def figures_of(repository, corpus, *arguments) -> Any:
    """What the script prints of one run; it stops where the planned training jobs are not those of its formulas."""
    command = [sys.executable, str(repository / "benchmarks" / "scaling.py"), "--corpus-path", corpus, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
    done = subprocess.run(command, cwd=repository, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)
    return found


def test_planned_jobs_are_those_of_the_formulas(repository, blogtext, tmp_path) -> None:
    """A thousand clients, a hundred a job, through ``snakemake -n``; later files go over earlier ones."""
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({"experiments": {"blogtext": {"seeds": [1, 2], "tables": []}}}))
    files = [str(repository / "config" / "blogtext.yaml"), str(overlay)]
    clients = ["--clients", "1000", "--clients-per-job", "100"]
    found = figures_of(repository, blogtext["corpus_path"], *clients, "--configfile", *files)
    # Two seeds: 3 jobs a cohort of 240, 4 tracks of 6 rounds; 10 jobs for a thousand clients.
    assert found["jobs"]["train_shared"] == 2 * 4 * 6 * 3
    assert found["jobs"]["train_personal"] == 2 * (3 * 6 * 3 + 4 * 10 + 1)
    assert found["planned_jobs"] < 600


def test_the_papers_programme_stays_within_its_budget_of_jobs(repository, scaling, blogtext) -> None:
    """The main experiment and every study of the paper on its corpus, one client a job, in one plan."""
    studies = (repository / "config" / "studies").glob("*.yaml")
    # Transfer needs a second corpus; the others are not the paper's, or belong to another base configuration.
    left_out = (
        "adapter_rank",
        "asce_transfer",
        "corpus_seed",
        "matched_budget",
        "poisoning",
        "privacy",
        "privacy_defences",
        "rivals",
        "tasks",
        "upload_bits",
    )
    files = [
        str(path) for path in sorted(studies) if path.stem.removesuffix("_small") not in (*left_out, "temperature")
    ]
    config = scaling.merged([str(repository / "config" / "blogtext.yaml"), *files], None, 1)
    jobs = scaling.costs({**config, "corpus_path": blogtext["corpus_path"]})["jobs"]
    assert jobs["train_shared"] + jobs["train_personal"] == 9905
    # The rest of the plan is some 400 jobs of scores, tables and figures.
    assert sum(jobs.values()) < 11_000
