"""`protocol: released` from end to end: every switch on, at the smallest size."""

import json

import pytest

from favor.config.protocol import SWITCHES
from favor.federation.communication_record import UP
from favor.federation.schemas import BOUNDARY, GENERATIONS, TRAINING_LOG
from favor.foundation.parquet import read_parquet
from tests.shortest import ARGUMENTS, finished_run  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow(18)


def test_the_released_protocol_runs_and_says_what_it_was(finished, tmp_path) -> None:
    project = finished.copy(tmp_path / "project")
    project.edit(
        "shortest.yaml",
        "    corpus: short\n    base_model",
        "    corpus: short\n    protocol: released\n    base_model",
    )
    methods = ("fedavg", "pfedme", "feddpa", "favor")
    project.edit("shortest.yaml", "      favor: {}\n", "".join(f"      {method}: {{}}\n" for method in methods))
    project.edit("shortest.yaml", "clients_per_round: 3", "clients_per_round: 2")
    folder = project.folder / "results" / "short"
    targets = [f"results/short/seed1/{method}/generations.parquet" for method in methods]
    project.snakemake(*ARGUMENTS, *targets, "results/short/settings.json", "results/short/boundary.parquet")
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
