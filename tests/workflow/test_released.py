"""`protocol: released` from end to end: every switch on, at the smallest size."""

from __future__ import annotations

import json

from favor.config.protocol import SWITCHES
from favor.federation.boundary import UP
from favor.federation.tables import BOUNDARY, GENERATIONS, TRAINING_LOG
from favor.foundation.parquet import read_parquet
from tests.workflow.conftest import copy_project


def test_the_released_protocol_runs_and_says_what_it_was(repository, tmp_path):
    project = copy_project(repository, tmp_path / "project")
    text = (repository / "tests" / "data" / "micro.yaml").read_text()
    text = text.replace(
        "    title: Micro\n    corpus: micro\n", "    title: Micro\n    protocol: released\n    corpus: micro\n"
    )
    (project.folder / "micro.yaml").write_text(text)
    folder = project.folder / "results" / "micro"
    methods = ("fedavg", "pfedme", "feddpa", "favor")
    targets = [f"results/micro/seed1/{method}/generations.parquet" for method in methods]
    run = (
        "--configfile",
        "micro.yaml",
        "--",
        *targets,
        "results/micro/settings.json",
        "results/micro/boundary.parquet",
    )
    project.snakemake(*run)
    settings = json.loads((folder / "settings.json").read_text())
    for switch in SWITCHES:
        section, key = switch.key.split(".")
        assert settings["experiment"][section][key] == switch.released
    assert settings["methods"]["pfedme"]["plan"]["shared"]["start"] == "own"
    assert settings["methods"]["favor"]["run_check"]["protocol"] == "released"
    boundary = read_parquet(folder / "boundary.parquet", BOUNDARY)
    federated = boundary[boundary["method"] == "favor"]
    assert set(federated.loc[federated["direction"] == UP, "content"]) == {"delta", "word count"}
    # Every track has an initial adapter of its own.
    assert len(list((folder / "seed1" / "server").glob("task*/round0/adapter.safetensors"))) >= 3
    # Two rounds of two clients, coverage first, leave nobody of four out.
    assert read_parquet(folder / "seed1/favor/generations.parquet", GENERATIONS)["client"].nunique() == 4
    log = read_parquet(folder / "seed1/favor/clients/last/batch0.log.parquet", TRAINING_LOG)
    assert (log.groupby("client")["learning_rate"].first() == 0).all()
    assert (log["kappa"] == 1).all()
