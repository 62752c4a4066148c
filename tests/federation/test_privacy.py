"""Clipped uploads, noise on their sum, and a server that reads the sum alone."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from tests.federation.test_aggregate_script import SHARED, A, B, deltas, run_job
from tests.federation.test_server import aggregate
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.federation.client_archive import write_pack
from favor.federation.method import SharedStage, plan_values
from favor.federation.privacy import Privacy, clipped, noise
from favor.federation.schemas import TRAFFIC
from favor.federation.server_rule import ServerRule
from favor.federation.stages import upload
from favor.federation.uploads import Uploads, cohort_sum, mean_of_sum
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.plan.keys import Key, run_key


def test_an_upload_is_scaled_to_the_clip_over_all_its_tensors() -> None:
    delta = {"A": np.array([3.0], np.float32), "B": np.array([[0.0, 4.0]], np.float32)}  # norm 5
    assert clipped(delta, 5.0).keys() == delta.keys()
    assert clipped(delta, 5.0)["B"] is delta["B"]
    small = clipped(delta, 2.5)
    assert small["A"].tolist() == [1.5]
    assert small["B"].tolist() == [[0.0, 2.0]]


def test_what_a_client_sends_is_clipped_where_the_stage_says_so() -> None:
    result = SimpleNamespace(state={A: SHARED[A] + 1, B: SHARED[B] + 1}, displacement=None)
    stage = SharedStage(privacy=Privacy(1.0, 1.0, 2))
    sent = upload(result, SHARED, stage)
    assert sum(float((t**2).sum()) for t in sent.values()) == pytest.approx(1.0)
    assert upload(result, SHARED, SharedStage())[A].tolist() == np.ones((2, 3)).tolist()


def test_noise_has_its_scale_and_a_stream_of_its_own() -> None:
    privacy = Privacy(0.5, 4.0, 2)
    draws = noise((100, 400), privacy, 1, "t", 0, "A")
    assert draws.std() == pytest.approx(2.0, rel=0.02)
    assert abs(draws.mean()) < 0.03
    same = noise((100, 400), privacy, 1, "t", 0, "A")
    assert (draws == same).all()
    for other in ((2, "t", 0, "A"), (1, "u", 0, "A"), (1, "t", 1, "A"), (1, "t", 0, "B")):
        assert abs(np.corrcoef(draws.ravel(), noise((100, 400), privacy, *other).ravel())[0, 1]) < 0.02


def test_the_private_mean_by_hand() -> None:
    stage = SharedStage(privacy=Privacy(1.0, 2.0, 4))
    uploads = Uploads({"x": {"A": np.array([1.0], np.float32)}, "y": {"A": np.array([0.5], np.float32)}}, {}, [])
    uploads.weights.update(x=1.0, y=1.0)
    total = cohort_sum(uploads, stage, 7, 3)
    drawn = noise((1,), stage.privacy, 7, stage.track, 3, "A")
    assert total["A"] == pytest.approx(1.5 + drawn)
    # Two of the four that were drawn sent something: the mean is over four, whoever left.
    assert mean_of_sum(total, 2.0, stage)["A"] == pytest.approx((1.5 + drawn) / 4)


@pytest.mark.parametrize("privacy", [None, Privacy(1.0, 0.5, 2)])
@pytest.mark.parametrize("server", [ServerRule(), ServerRule("adam", 0.1, 0.9, 0.99, 0.01)])
def test_a_server_that_never_sees_an_upload_makes_the_same_adapter(server, privacy, repository, tmp_path) -> None:
    write_safetensors(SHARED, tmp_path / "round0.safetensors", {})
    stage = SharedStage(server=server, privacy=privacy)
    uploads, after, traffic = (tmp_path / name for name in ("upload", "round1.safetensors", "traffic0.parquet"))
    write_pack(uploads, deltas(1, stage), {"round": "0"})
    made = {"memory": tmp_path / "memory.safetensors"}
    # The track is part of the noise's stream, and sum_only of the track's digest: they are held equal here.
    summed = dataclasses.replace(stage, aggregation="sum_only")
    if privacy is None:
        run_job(repository, tmp_path, 0, stage, [str(uploads)], rate=0.5, output=made)
        each, crossed = read_safetensors(after)[0], read_parquet(traffic, TRAFFIC)
    run_job(repository, tmp_path, 0, summed, [str(uploads)], "sum_uploads", output={"total": tmp_path / "sum"})
    uploads.unlink()  # whatever reads it now fails
    run_job(repository, tmp_path, 0, summed, [str(tmp_path / "sum")], rate=0.5, output=made)
    found, header = read_safetensors(after)
    assert header["round"] == "1"
    if privacy is None:
        assert all(np.allclose(found[key], each[key], rtol=1e-6, atol=1e-7) for key in SHARED)
        assert read_parquet(traffic, TRAFFIC).equals(crossed)
    elif server.kind == "mean":
        sent = {client: parts["delta"] for client, parts in deltas(1, stage).items()}
        plain = aggregate(SHARED, sent, dict.fromkeys(sent, 1.0), 0.5)
        for key in SHARED:
            expected = plain[key] + 0.5 * noise(plain[key].shape, privacy, 1, summed.track, 0, key) / 2
            assert np.allclose(found[key], expected, rtol=1e-5, atol=1e-6)


COMBINED = {"sum.safetensors": {"aggregation": "sum_only"}, "combination.safetensors": {"robust": {"rule": "median"}}}


@pytest.mark.parametrize("file", COMBINED)
def test_no_job_of_the_server_reads_an_upload_that_is_combined_before(file, plan) -> None:
    change = {"experiments": {"micro": {"federation": COMBINED[file], "methods": {"fedadam": {}}}}}

    combining, plain = (plan(change=each).training for each in (change, None))
    tracks = {row: found.shared.track for row, found in combining.project.plans("micro").items() if found.shared}
    for (row, track), number in itertools.product(tracks.items(), (0, 1)):
        key = Key(experiment="micro", seed="1", track=track, round=number, next_round=number + 1)
        single = combining.round_uploads(run_key("micro", "1", row), number)
        assert combining.summed_uploads(key) == single
        assert [path.rsplit("/", 1)[1] for path in combining.uploads(key)] == [file]
    run = run_key("micro", "1", "favor")
    key = Key(experiment="micro", seed="1", track=plain.project.plans("micro")["favor"].shared.track, next_round=1)
    assert plain.uploads(key) == plain.round_uploads(run, 0) != []


def test_a_defended_track_is_another_and_plain_ones_keep_their_names() -> None:
    plain = SharedStage()
    others = [SharedStage(privacy=Privacy(1.0, 1.0, 12)), SharedStage(aggregation="sum_only")]
    others += [SharedStage(upload_bits=16), SharedStage(upload_bits=8), SharedStage(ranks=(4, 16))]
    assert len({stage.track for stage in (plain, *others)}) == 6
    assert plain.track == "task-07cb6f"  # that of results made before
    for stage in others:
        assert SharedStage.of(plan_values(stage)) == stage


def test_the_report_says_what_noise_guarantees(plan) -> None:
    change = {"experiments": {"micro": {"federation": {"privacy": {"clip": 1, "noise_multiplier": 1}}}}}
    # 2 rounds of 2 of the 4 clients: each takes part once. rho = 1/2, delta = 4^-1.1 = 0.218.
    remark = plan(change=change).tables.remarks("micro")[""]
    assert "at most 1 participation. The server sees uploads without noise. Personal" in remark
    assert "δ = 0.22)" in remark
