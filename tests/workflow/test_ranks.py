"""Ranks per client through a whole run: nothing before training is made again, and files and bytes follow the rank."""

import json

import pytest

from favor.federation.client_archive import pack_shapes
from favor.federation.ranks import rank_of
from favor.federation.schedule import client_names
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors
from tests.shortest import ARGUMENTS, finished_run  # noqa: F401 - a fixture
from tests.workflow.traced import unforeseen

pytestmark = pytest.mark.slow(18)

RUN = "results/short/seed1"
ROWS = ("favor", "flexlora", "local_only")
BY_ROW = [f"{RUN}/{row}/{output}" for row in ROWS for output in ("generations.parquet", "clients/peft")]


def test_a_run_whose_clients_differ_in_rank(finished, tmp_path) -> None:
    project = finished.copy(tmp_path / "project", traced=True)
    project.edit("shortest.yaml", "clients_per_job: null }", "clients_per_job: null, ranks: [1, 2] }")
    project.edit("shortest.yaml", "      base_only: {}\n", "      flexlora: {}\n      local_only: {}\n")
    planned = project.planned(*ARGUMENTS, *BY_ROW)
    # Two tracks of two rounds, and of both personal methods what ranks change; the rest is there.
    assert {rule: planned[rule] for rule in ("train_shared", "aggregate")} == {"train_shared": 4, "aggregate": 4}
    assert not {"initialise_server", "make_schedule", "pretrain_base", "allocate_texts", "embed_sources"} & {*planned}
    project.snakemake(*ARGUMENTS, *BY_ROW)
    assert unforeseen(project.folder) == set()

    ranks = {client: rank_of((1, 2), 1, client) for client in client_names(4)}
    assert {*ranks.values()} == {1, 2}
    old = {path.relative_to(finished.folder) for path in finished.folder.rglob("shared/*/")}
    tracks = [path for path in project.folder.rglob("shared/*/") if path.relative_to(project.folder) not in old]
    assert len(tracks) == 2
    packs = [path for track in tracks for path in track.rglob("batch*.safetensors")]
    packs += (project.folder / RUN).glob("*/clients/**/batch*.safetensors")
    seen = set()
    for path in packs:
        for (client, part), shapes in pack_shapes(path).items():
            seen.add((client, part))
            assert {shape[0] for name, shape in shapes.items() if ".lora_A." in name} == {ranks[client]}
            assert {shape[1] for name, shape in shapes.items() if ".lora_B." in name} == {ranks[client]}
    assert {client for client, part in seen if part == "delta"} == {*ranks}

    for track in tracks:
        final, _ = read_safetensors(next(track.rglob("server/round2/adapter.safetensors")))
        assert {value.shape[0] for name, value in final.items() if ".lora_A." in name} == {2}

    for row in ROWS:
        rows = read_parquet(project.folder / f"{RUN}/{row}/generations.parquet", GENERATIONS)
        assert {*rows["client"]} == {*ranks}
        for client, rank in ranks.items():
            folder = project.folder / f"{RUN}/{row}/clients/peft/{client}"
            about = json.loads((folder / "adapter_config.json").read_text())
            assert (about["r"], about["lora_alpha"]) == (rank, 2 * rank)
            state = read_safetensors(folder / "adapter_model.safetensors")[0]
            assert all(value.any() for value in state.values())
            assert {value.shape[0] for name, value in state.items() if ".lora_A." in name} == {rank}
