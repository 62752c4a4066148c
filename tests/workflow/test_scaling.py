"""What runs cost before they start: the formulas against the paper's figures and against planned jobs."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.forecast.estimate import estimate
from favor.plan import Planner
from tests.workflow.conftest import planned_jobs, run_snakemake

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow(21)


def costs(config) -> dict[str, Any]:
    """What the runs of a configuration take, by its plan alone."""
    return estimate(Planner(resolve(config), ROOT))


@pytest.fixture
def blogtext(repository, tmp_path) -> dict[str, Any]:
    """The paper's configuration, with an empty corpus."""
    (tmp_path / "corpus.csv").write_text("id,gender,age,topic,sign,date,text\n")
    config = read_files([str(repository / "config" / "blogtext.yaml")])
    return {**config, "corpus_path": str(tmp_path / "corpus.csv"), "report": {}}  # whose rows the tests replace


def test_the_papers_figures_of_one_run(blogtext) -> None:
    experiment = blogtext["experiments"]["blogtext"]
    experiment |= {"methods": {"favor": {}}, "seeds": [2026], "studies": {}}
    found = costs(blogtext)
    # The efficiency table: 8.03 GiB up and as much down a seed (no client is left unsampled), residuals of 5.58 GiB,
    # and the endpoints under them.
    assert round(found["upload_gib"], 2) == 8.03
    assert round(found["download_gib"], 2) == 8.03
    assert found["disk_gib"]["personal adapters"] == pytest.approx(5.58, abs=0.01)
    assert found["disk_gib"]["endpoints"] == pytest.approx(5.58, abs=0.01)
    # Seven states of the server's adapter; uploads of one round at most.
    assert found["disk_gib"]["shared adapters"] == pytest.approx(7 * 5.58 / 50, abs=0.01)
    assert found["peak_gib"] - found["final_gib"] == pytest.approx(1.34, abs=0.01)
    # 172 passes over 1.5 tokens per word; by tokens of 6, 60 and 2 operations per parameter, at 50 teraflops.
    counted = found["tokens"]["qwen"]
    assert counted["training"] == pytest.approx(172 * 904_378 / 50 * 1.5)
    operations = 6 * counted["training"] + 60 * counted["generation"] + 2 * counted["reading"]
    assert found["gpu_hours"] == pytest.approx(operations * 3.09e9 / 50e12 / 3600)
    assert found["jobs"] == {"train_shared": 6, "aggregate": 6, "train_personal": 2, "generate": 1}


def test_what_is_kept_follows_the_methods(blogtext) -> None:
    experiment = blogtext["experiments"]["blogtext"]
    experiment |= {"methods": {"fedavg": {}, "ditto": {}}, "seeds": [2026], "studies": {}}
    found = costs(blogtext)
    # Nobody starts from FedAvg's endpoints; of Ditto's participations the last one of each client stays.
    assert found["disk_gib"].get("endpoints", 0) == 0
    assert found["disk_gib"]["personal adapters"] == pytest.approx(5.58, abs=0.01)
    # One track for both: its uploads are counted once on disk, and for each method as traffic.
    assert found["jobs"]["train_shared"] == 6
    assert found["upload_gib"] == pytest.approx(16.07, abs=0.01)
    kept = costs({**blogtext, "keep_uploads": True})
    assert kept["disk_gib"]["uploads"] == pytest.approx(8.03, abs=0.01)
    # Of 72 participations of Ditto a later one replaces 22.
    assert kept["peak_gib"] - kept["final_gib"] == pytest.approx(22 * 5.58 / 50, abs=0.01)


def test_clients_of_a_job_cut_the_jobs(blogtext) -> None:
    federation = blogtext["experiments"]["blogtext"].setdefault("federation", {})
    federation["clients_per_job"] = 1
    one = costs(blogtext)
    federation["clients_per_job"] = None
    together = costs(blogtext)
    assert (sum(one["jobs"].values()), sum(together["jobs"].values())) == (864 + 72 + 1251 + 42, 72 + 72 + 81 + 42)
    # One job holds more adapters then, and fewer jobs load the base; nothing else depends on how clients are packed.
    assert one.pop("host_memory_gib") < together.pop("host_memory_gib")
    assert {**one, "jobs": {}} == {**together, "jobs": {}}


def test_planned_jobs_are_those_of_the_formulas(repository, blogtext, tmp_path) -> None:
    """A thousand clients in place of 50, a hundred a job, through ``snakemake -n``."""
    config = blogtext | {"results": f"{tmp_path}/results"}
    experiment = config["experiments"]["blogtext"]
    experiment |= {"seeds": [1, 2], "tables": [], "clients": 1000}
    experiment.setdefault("federation", {}).update(clients_per_round=240, clients_per_job=100)
    config["corpora"][experiment["corpus"]].setdefault("roles", {})["clients"] = 1000
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    command = ["-n", "--cores", "2", "-q", "rules", "--snakefile", str(repository / "Snakefile")]
    command += ["--configfile", str(tmp_path / "config.yaml")]
    done = run_snakemake(command, repository, {**os.environ, "PYTHONPATH": str(repository / "src")})
    assert done.returncode == 0, done.stdout
    planned = planned_jobs(done.stdout)
    jobs = costs(config)["jobs"]
    assert jobs == {rule: planned[rule] for rule in jobs}
    # Two seeds: 3 jobs a cohort of 240, 4 tracks of 6 rounds; 10 jobs for a thousand clients.
    assert jobs["train_shared"] == 2 * 4 * 6 * 3
    assert jobs["train_personal"] == 2 * (3 * 6 * 3 + 4 * 10 + 1)
    assert sum(planned.values()) < 600
    assert planned["quantise_base"] == 1
    assert "pretrain_base" not in planned
