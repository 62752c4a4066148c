"""Uploads at 8 and 16 bits: exact by hand, right on average, counted as they are sent."""

from dataclasses import replace

import numpy as np
import pytest
from tests.federation.test_aggregate_script import STAGES, deltas, run_job

from favor.federation import uploads
from favor.federation.client_archive import write_pack
from favor.federation.communication_record import UP
from favor.federation.method import SharedStage
from favor.federation.schemas import TRAFFIC
from favor.federation.uploads import read_uploads, restored, rounded, sent_types
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import numpy_generator
from favor.foundation.tensors import read_safetensors, write_safetensors

KEY = "m.lora_A.weight"
A, B = KEY, "m.lora_B.weight"


def sent(values, bits=8, seed=1) -> dict[str, np.ndarray]:
    return rounded({KEY: np.asarray(values, dtype=np.float32)}, bits, seed, 3, "client_001")


def test_two_by_two_by_hand() -> None:
    # The largest of 127/4 gives a step of 1/4: 1/2 is 2 steps exactly; 0.3 is 1.2 of them, so 2 where u >= 0.8, else 1.
    values = [[31.75, -31.75], [0.5, 0.3]]
    draw = numpy_generator(1, "upload rounding", 3, "client_001", KEY).random((2, 2))[1, 1]
    found = sent(values)
    assert found[KEY].dtype == np.int8
    assert found[f"{KEY}.step"].dtype == np.float32
    assert found[f"{KEY}.step"].tolist() == [0.25]
    assert found[KEY].tolist() == [[127, -127], [2, 2 if draw >= 0.8 else 1]]
    assert restored(found, 8)[KEY][0].tolist() == [31.75, -31.75]
    assert rounded({KEY: np.eye(2)}, 32, 1, 3, "c")[KEY].tolist() == np.eye(2).tolist()


@pytest.mark.parametrize("bits", [8, 16])
def test_a_draw_next_to_one_overflows_no_integer(bits, monkeypatch) -> None:
    class NextToOne:
        def random(self, shape) -> np.ndarray:
            return np.full(shape, np.nextafter(1.0, 0.0))

    monkeypatch.setattr(uploads, "numpy_generator", lambda *_: NextToOne())
    assert sent([1.0, -1.0], bits)[KEY].tolist() == [2 ** (bits - 1) - 1, 2 - 2 ** (bits - 1)]


@pytest.mark.parametrize("bits", [8, 16])
def test_rounding_is_right_on_average_and_less_than_a_step_off(bits) -> None:
    values = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    draws = 4000
    found = np.stack([restored(sent(values, bits, seed), bits)[KEY] for seed in range(draws)])
    step = float(sent(values, bits)[f"{KEY}.step"][0])
    assert np.abs(found - values).max() < step
    assert len(np.unique(found[:, 0, 0])) == 2  # it does go both ways
    # One draw has a standard deviation of at most step / 2; 20 means within 5 of theirs.
    assert np.abs(found.mean(axis=0) - values).max() < 5 * step / 2 / draws**0.5


@pytest.mark.parametrize("bits", [8, 16])
def test_the_largest_number_never_overflows(bits) -> None:
    most = 2 ** (bits - 1) - 1
    for largest in np.random.default_rng(1).lognormal(sigma=20, size=2000).astype(np.float32):
        found = sent([largest, -largest], bits)
        assert found[KEY][0] in (most - 1, most)
        assert found[KEY][1] in (-most, 1 - most)
    assert restored(sent([0.0, 0.0], bits), bits)[KEY].tolist() == [0.0, 0.0]
    assert np.isfinite(restored(sent([1e-45, 0.0], bits), bits)[KEY]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_upload_without_finite_numbers_is_refused_however_it_is_sent(tmp_path, bad) -> None:
    upload = {"client_001": {"delta": sent([[bad, 1.0]])}}
    write_pack(tmp_path / "upload", upload, {"kind": "upload", "round": "3"})
    with pytest.raises(UserError, match=r"round 3, client_001: tensor 'm\.lora_A\.weight' of the upload has NaN"):
        read_uploads([str(tmp_path / "upload")], SharedStage(upload_bits=8), 3)


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("name", ["mean", "svd"])
def test_the_server_aggregates_what_was_sent_and_counts_its_bytes(repository, tmp_path, bits, name) -> None:
    stage = replace(STAGES[name], upload_bits=bits)
    given = deltas(0, stage)
    packs = {c: {"delta": rounded(parts["delta"], bits, 1, 0, c)} for c, parts in given.items()}
    write_pack(tmp_path / "upload", packs, {"kind": "upload", "round": "0"})
    first = {A: np.ones((2, 3), np.float32), B: np.ones((4, 2), np.float32)}
    write_safetensors(first, tmp_path / "round0.safetensors", {})
    run_job(repository, tmp_path, 0, stage, [str(tmp_path / "upload")], rate=1.0)
    traffic = read_parquet(tmp_path / "traffic0.parquet", TRAFFIC)
    # A file of its own, as PEFT would write it: the numbers of 14 entries and, where they are rounded, two steps.
    alone = tmp_path / "alone.safetensors"
    write_safetensors(packs["client_001"]["delta"], alone, {"format": "pt"})
    assert set(traffic.loc[traffic["direction"] == UP, "bytes"]) == {alone.stat().st_size}
    if name == "mean":
        after = read_safetensors(tmp_path / "round1.safetensors")[0]
        read = [restored(parts["delta"], bits) for parts in packs.values()]
        for key, value in first.items():
            mean = np.mean([delta[key].astype(np.float64) for delta in read], axis=0)
            assert np.array_equal(after[key], (value + mean).astype(np.float32))


def test_what_is_declared_is_what_is_sent() -> None:
    for bits in (8, 16, 32):
        given = rounded({KEY: np.ones((2, 3), np.float32)}, bits, 1, 0, "c")
        assert sent_types({KEY: (2, 3)}, bits) == {k: (str(v.dtype), v.shape) for k, v in given.items()}
