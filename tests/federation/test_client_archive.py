"""Packs keep each client's adapters apart, and a residual pack restores the trained adapter bit for bit."""

import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.federation.test_server import aggregate

from favor.federation.client_archive import Place, pack_shapes, places_of, read_pack, read_packs, write_pack
from favor.federation.inference import client_adapters
from favor.federation.method import Inference
from favor.federation.stages import compose
from favor.foundation.errors import UserError
from favor.foundation.tensors import safetensors_shapes, write_safetensors

KEY = "base_model.model.layers.0.q_proj.lora_A.weight"


def adapter(value) -> dict[str, np.ndarray]:
    return {KEY: np.full((2, 3), value, dtype=np.float32)}


def test_round_trip(tmp_path) -> None:
    path = tmp_path / "batch0.safetensors"
    write_pack(path, {"client_002": {"delta": adapter(2)}, "client_001": {"delta": adapter(1)}}, {"round": "4"})
    pack, header = read_pack(path)
    assert sorted(pack) == ["client_001", "client_002"]
    assert (pack["client_002"]["delta"][KEY] == 2).all()
    assert header["round"] == "4"
    write_pack(path, {}, {"round": "0"})
    assert read_pack(path)[0] == {}


def test_the_later_round_wins(tmp_path) -> None:
    write_pack(tmp_path / "a", {"x": {"adapter": adapter(3)}, "y": {"adapter": adapter(3)}}, {"round": "10"})
    write_pack(tmp_path / "b", {"x": {"adapter": adapter(2)}, "z": {"adapter": adapter(2)}}, {"round": "9"})
    union = read_packs([tmp_path / "a", tmp_path / "b"])
    assert {client: float(parts["adapter"][KEY][0, 0]) for client, parts in union.items()} == {"x": 3, "y": 3, "z": 2}


def test_another_safetensors_file_is_refused(tmp_path) -> None:
    write_safetensors(adapter(1), tmp_path / "a.safetensors", {})
    with pytest.raises(UserError, match="not a pack of client adapters"):
        read_pack(tmp_path / "a.safetensors")


def test_a_part_that_another_file_holds_is_read_from_there(tmp_path) -> None:
    """A residual's endpoint in a pack of the shared stage, a mixture's companion in the server's file; then moved."""
    (tmp_path / "a" / "server").mkdir(parents=True)
    (tmp_path / "a" / "clients").mkdir()
    ends, server = tmp_path / "a/ends.safetensors", tmp_path / "a/server/adapter.safetensors"
    write_pack(ends, {"x": {"endpoint": adapter(2)}, "y": {"endpoint": adapter(4)}}, {"round": "0"})
    write_safetensors(adapter(8), server, {"round": "1"})
    places = places_of([ends], "endpoint")
    elsewhere = {name: {"endpoint": places[name], "companion": Place(str(server))} for name in ("x", "y")}
    own = {name: {"residual": adapter(value)} for name, value in (("x", 1), ("y", 16))}
    write_pack(tmp_path / "a/clients/batch0.safetensors", own, {"round": "1"}, elsewhere)
    held = safetensors_shapes(tmp_path / "a/clients/batch0.safetensors")
    assert sorted(held) == [f"x/residual/{KEY}", f"y/residual/{KEY}"]

    (tmp_path / "a").rename(tmp_path / "b")
    path = tmp_path / "b/clients/batch0.safetensors"
    pack = read_packs([path])
    assert {name: sorted(parts) for name, parts in pack.items()} == {
        name: ["companion", "endpoint", "residual"] for name in ("x", "y")
    }
    assert [float(compose(pack[name])[KEY][0, 0]) for name in ("x", "y")] == [3, 20]
    assert len(pack["x"]["companion"]) == 1
    assert (pack["x"]["companion"][KEY] == 8).all()
    shapes = {KEY: (2, 3)}
    assert pack_shapes(path) == {
        (name, part): shapes for name in ("x", "y") for part in ("companion", "endpoint", "residual")
    }
    (tmp_path / "b/ends.safetensors").unlink()
    with pytest.raises(UserError, match=r"ends\.safetensors: file not found"):
        compose(read_pack(path)[0]["x"])


MODULES = [f"base_model.model.layers.{layer}.q_proj.lora_A.weight" for layer in range(20)]
ADAPTER_BYTES = 20 * 4 * 100_000


def written(folder, part, clients) -> list[Path]:
    """Packs of ``clients`` adapters of 8 MB, five a pack."""
    generator = np.random.default_rng(7)
    paths = []
    for first in range(0, clients, 5):
        names = [f"client_{number:03d}" for number in range(first, first + 5)]
        paths.append(str(folder / f"batch{first}.safetensors"))
        states = {name: {key: generator.normal(size=100_000).astype(np.float32) for key in MODULES} for name in names}
        write_pack(paths[-1], {name: {part: state} for name, state in states.items()}, {"round": "1"})
    return paths


def peak_of(action) -> tuple[int, Any]:
    """The most memory that Python objects and NumPy arrays took while ``action`` ran, in bytes; and its result."""
    tracemalloc.start()
    try:
        result = action()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def test_a_round_is_aggregated_without_its_uploads_in_memory(tmp_path) -> None:
    paths = written(tmp_path, "delta", 20)
    shared = dict.fromkeys(MODULES, np.ones(100_000, dtype=np.float32))

    def run() -> dict[str, np.ndarray]:
        deltas = {client: parts["delta"] for path in paths for client, parts in read_pack(path)[0].items()}
        return aggregate(shared, deltas, dict.fromkeys(deltas, 1.0), 1.0)

    peak, result = peak_of(run)
    assert peak < 2 * ADAPTER_BYTES  # the result, and a tensor of one client at a time
    everything = {client: dict(parts["delta"]) for path in paths for client, parts in read_pack(path)[0].items()}
    held = aggregate(shared, everything, dict.fromkeys(everything, 1.0), 1.0)
    assert all((result[key] == held[key]).all() for key in MODULES)


def test_a_run_generates_with_one_adapter_at_a_time_in_memory(tmp_path) -> None:
    paths = written(tmp_path, "adapter", 20)
    clients = [f"client_{number:03d}" for number in range(20)]

    def run() -> float:
        made = client_adapters(paths, clients, Inference("personal"))
        return sum(float(tensor.numpy().sum()) for adapter in made.values() for tensor in adapter.state.values())

    peak, total = peak_of(run)
    assert peak < ADAPTER_BYTES
    packs = read_packs(paths)
    assert total == sum(float(packs[client]["adapter"][key].sum()) for client in clients for key in MODULES)


def test_many_packs_are_open_at_once_without_a_file_each(tmp_path) -> None:
    write_pack(tmp_path / "a", {"x": {"adapter": adapter(3)}}, {"round": "1"})
    before = len(os.listdir("/dev/fd"))
    packs = [read_pack(tmp_path / "a")[0] for _ in range(500)]
    assert len(os.listdir("/dev/fd")) < before + 10
    assert packs[499]["x"]["adapter"][KEY][0, 0] == 3
