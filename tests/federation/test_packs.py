"""Packs keep each client's adapters apart, and a residual pack restores the trained adapter bit for bit."""

import numpy as np
import pytest

from favor.federation.packs import read_pack, read_packs, write_pack
from favor.federation.stages import compose
from favor.foundation.errors import UserError
from favor.foundation.files import write_safetensors

KEY = "base_model.model.layers.0.q_proj.lora_A.weight"


def adapter(value):
    return {KEY: np.full((2, 3), value, dtype=np.float32)}


def test_round_trip(tmp_path):
    path = tmp_path / "batch0.safetensors"
    write_pack(path, {"client_002": {"delta": adapter(2)}, "client_001": {"delta": adapter(1)}}, {"round": "4"})
    pack, header = read_pack(path)
    assert sorted(pack) == ["client_001", "client_002"]
    assert (pack["client_002"]["delta"][KEY] == 2).all()
    assert header["round"] == "4"


def test_a_pack_without_clients_is_a_valid_file(tmp_path):
    write_pack(tmp_path / "a.safetensors", {}, {"round": "0"})
    assert read_pack(tmp_path / "a.safetensors")[0] == {}


def test_the_later_round_wins(tmp_path):
    write_pack(tmp_path / "a", {"x": {"adapter": adapter(3)}, "y": {"adapter": adapter(3)}}, {"round": "10"})
    write_pack(tmp_path / "b", {"x": {"adapter": adapter(2)}, "z": {"adapter": adapter(2)}}, {"round": "9"})
    union = read_packs([tmp_path / "a", tmp_path / "b"])
    assert {client: float(parts["adapter"][KEY][0, 0]) for client, parts in union.items()} == {"x": 3, "y": 3, "z": 2}


def test_endpoint_plus_residual_is_the_float32_sum_that_training_used():
    generator = np.random.default_rng(1)
    endpoint = {KEY: generator.normal(size=(50, 50)).astype(np.float32)}
    residual = {KEY: (generator.normal(size=(50, 50)) * 1e-4).astype(np.float32)}
    composed = compose({"endpoint": endpoint, "residual": residual})[KEY]
    assert composed.dtype == np.float32
    assert (composed == endpoint[KEY] + residual[KEY]).all()
    assert (compose({"adapter": endpoint})[KEY] == endpoint[KEY]).all()


def test_another_safetensors_file_is_refused(tmp_path):
    write_safetensors(adapter(1), tmp_path / "a.safetensors", {})
    with pytest.raises(UserError, match="not a pack of client adapters"):
        read_pack(tmp_path / "a.safetensors")
