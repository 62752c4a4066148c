"""The server's job, round after round through its files: moments are read, kept, and enough to go on from."""

import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.experiments import experiment

from favor.federation.client_archive import write_pack
from favor.federation.exchange import next_shared
from favor.federation.factors import Factors
from favor.federation.method import SharedStage, plan_values
from favor.federation.privacy import Privacy
from favor.federation.row_plan import load_method
from favor.federation.schemas import TRAFFIC
from favor.federation.server_rule import ServerRule
from favor.federation.state_rule import STATE, StateRule
from favor.federation.uploads import read_uploads
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors, safetensors_bytes, write_safetensors

A, B = "m.lora_A.weight", "m.lora_B.weight"
SHARED = {A: np.ones((2, 3), np.float32), B: np.zeros((4, 2), np.float32)}
STAGES = {
    "mean": SharedStage(),
    "adam": SharedStage(server=ServerRule("adam", 0.1, 0.9, 0.99, 0.01)),
    "momentum of B": SharedStage(trains=Factors("B"), server=ServerRule("momentum", 1.0, 0.9)),
    "svd": SharedStage(server=ServerRule("svd")),
    "exact": SharedStage(server=ServerRule("exact")),
    "state": SharedStage(state=StateRule("favor.federation.methods.scaffold", 5)),
}


class Files(SimpleNamespace):
    """Named files, as Snakemake gives them to a script."""

    def get(self, name, default=None) -> Any:
        return getattr(self, name, default)

    __getitem__ = get


def deltas(number, stage) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    generator = np.random.default_rng(number)
    whole = {A: (2, 3), B: (4, 2)}
    if stage.state is not None:
        whole |= {STATE + name: shape for name, shape in whole.items()}
    sent = {name: shape for name, shape in whole.items() if stage.sends(name)}

    def draw() -> dict[str, np.ndarray]:
        return {name: generator.normal(size=shape).astype(np.float32) for name, shape in sent.items()}

    return {client: {stage.content: draw()} for client in ("client_001", "client_002")}


def run_script(repository, name, params, wildcards=None, **files) -> None:
    """Run a script of the workflow on its ``input`` and ``output``, as Snakemake does."""
    job = {kind: Files(**found) for kind, found in files.items()}
    job |= {"params": params, "wildcards": wildcards or SimpleNamespace(), "resources": {}, "log": [], "rule": name}
    runpy.run_path(str(repository / f"workflow/scripts/{name}.py"), init_globals={"snakemake": SimpleNamespace(**job)})


def run_job(repository, folder, number, stage, uploads, script="aggregate", **more) -> None:
    """Run the job that ends round ``number``; files of ``folder`` are named by their round."""
    if script == "aggregate":
        more["cfg"] = {"server_learning_rate": more["rate"]}
    given = {"adapter": str(folder / f"round{number}.safetensors"), "uploads": uploads, **more.get("input", {})}
    made = {"adapter": folder / f"round{number + 1}.safetensors", "traffic": folder / f"traffic{number}.parquet"}
    params = {"cfg": {**more.get("cfg", {}), "stage": plan_values(stage), "results": str(folder)}}
    wildcards = SimpleNamespace(next_round=str(number + 1), round=str(number), seed="1")
    run_script(repository, script, params, wildcards, input=given, output=made | more.get("output", {}))


def test_a_server_of_members_takes_each_clients_last_adapter(repository, tmp_path) -> None:
    stage = load_method("fedalt", {}, experiment())[1].shared
    write_safetensors({A: np.zeros((2, 3)), B: np.zeros((4, 2))}, tmp_path / "round0.safetensors", {})
    cohorts = ({"client_001": 1.0, "client_002": 3.0}, {"client_003": 8.0, "client_001": 4.0})
    size = safetensors_bytes({A: (2, 3), B: (4, 2)})
    files = []
    for number, (cohort, expected) in enumerate(zip(cohorts, (2.0, 5.0), strict=True)):
        files.insert(0, str(tmp_path / f"upload{number}.safetensors"))
        parts = {c: {A: np.full((2, 3), v, np.float32), B: np.full((4, 2), v, np.float32)} for c, v in cohort.items()}
        write_pack(files[0], {c: {stage.content: state} for c, state in parts.items()}, {"round": str(number)})
        run_job(repository, tmp_path, number, stage, files, rate=1.0)
        # (1 + 3) / 2, then (4 + 3 + 8) / 3: client_002 was not sampled again, client_001's later adapter counts.
        found, header = read_safetensors(tmp_path / f"round{number + 1}.safetensors")
        assert (found[A] == expected).all()
        assert (found[B] == expected).all()
        assert header["members"] == str(number + 2)
        traffic = read_parquet(tmp_path / f"traffic{number}.parquet", TRAFFIC)
        up = traffic[traffic["direction"] == "client_to_server"]
        assert up["client"].tolist() == sorted(cohort)
        assert set(up["content"]) == {"personal adapter"}
        assert set(traffic["bytes"]) == {size}


@pytest.mark.parametrize("name", STAGES)
def test_three_rounds_through_files_are_those_in_memory(name, repository, tmp_path) -> None:
    stage = STAGES[name]
    write_safetensors(SHARED, tmp_path / "round0.safetensors", {})
    expected, memory = SHARED, {}
    for number in range(3):
        uploads = deltas(number, stage)
        write_pack(tmp_path / f"upload{number}.safetensors", uploads, {"round": str(number)})
        # A server that keeps no moments has no such files, as its rule has none.
        before = [str(tmp_path / f"memory{number}.safetensors")] if number else []
        kept = {"memory": before} if stage.server.moments else {}
        after = {"memory": tmp_path / f"memory{number + 1}.safetensors"} if stage.server.moments else {}
        uploaded = [str(tmp_path / f"upload{number}.safetensors")]
        run_job(repository, tmp_path, number, stage, uploaded, rate=0.5, input=kept, output=after)
        sent = {client: parts[stage.content] for client, parts in uploads.items()}
        # What is broadcast: A_t or the half of it that is trained, and FedEx-LoRA's residuals.
        broadcast = safetensors_bytes({key: expected[key].shape for key in expected if stage.sends(key)})
        expected, memory = next_shared(stage, expected, memory, sent, dict.fromkeys(sent, 1.0), 0.5)
        found, header = read_safetensors(tmp_path / f"round{number + 1}.safetensors")
        assert header["round"] == str(number + 1)
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[key], expected[key]) for key in expected)
        traffic = read_parquet(tmp_path / f"traffic{number}.parquet", TRAFFIC)
        size = safetensors_bytes({key: tensor.shape for key, tensor in sent["client_001"].items()})
        assert traffic["bytes"].tolist() == [size, size, broadcast, broadcast]
    assert bool(memory) == bool(stage.server.moments)
    if stage.server.moments:
        kept, _ = read_safetensors(tmp_path / "memory3.safetensors")
        assert kept.keys() == memory.keys()
        assert all(np.array_equal(kept[key], memory[key]) for key in memory)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "stage", [*STAGES.values(), SharedStage(privacy=Privacy(1.0, 0.5, 2)), SharedStage(aggregation="sum_only")]
)
def test_an_upload_that_is_not_finite_is_refused_whatever_the_server_does(stage, bad, tmp_path) -> None:
    uploads = deltas(3, stage)
    write_pack(tmp_path / "upload", uploads, {"round": "3"})
    assert read_uploads([str(tmp_path / "upload")], stage, 3).deltas.keys() == uploads.keys()
    uploads["client_002"][stage.content][B][3, 1] = bad
    write_pack(tmp_path / "upload", uploads, {"round": "3"})
    words = "upload: round 3, client_002: tensor 'm.lora_B.weight' .* NaN or infinite .*; lower training.learning_rate"
    with pytest.raises(UserError, match=words):
        read_uploads([str(tmp_path / "upload")], stage, 3)
