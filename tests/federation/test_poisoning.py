"""Attacks on the shared adapter: who attacks, rounds by hand, and which jobs they change."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.federation.test_aggregate_script import SHARED, A, B, run_job, run_script
from tests.federation.test_client_jobs import write_tables
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.client_archive import read_pack, write_pack
from favor.federation.method import SharedStage
from favor.federation.poisoning import attackers_of
from favor.federation.schedule import client_names
from favor.foundation.parquet import read_parquet, read_row_groups
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.plan.job_settings import to_params
from favor.plan.keys import run_key

CLIENTS = client_names(4)


def test_attackers_are_those_of_their_stream_and_nested() -> None:
    clients = client_names(12)
    found = {share: attackers_of(2026, clients, share) for share in (0, 0.1, 0.25, 0.5)}
    assert [len(each.clients) for each in found.values()] == [0, 2, 3, 6]
    assert found[0.25] == attackers_of(2026, clients, 0.25) != attackers_of(2027, clients, 0.25)
    assert set(found[0.1].clients) < set(found[0.25].clients) < set(found[0.5].clients)
    assert len({each.target for each in found.values()}) == 1
    assert found[0].target not in found[0.5].clients
    # These names are part of results: another draw makes another study.
    assert found[0.25] == (["client_001", "client_004", "client_011"], "client_007")
    assert len(attackers_of(1, client_names(100), 0.07).clients) == 7  # 0.07 * 100 is a little above 7


def test_attackers_texts_are_the_targets(repository, tmp_path) -> None:
    write_tables(tmp_path)
    given = {"input": {"texts": str(tmp_path / "texts.parquet")}, "output": {"texts": tmp_path / "hijacked.parquet"}}
    cfg = {"attackers": ["client_001", "client_004"], "target": "client_002"}
    run_script(repository, "poison_data", {"cfg": cfg}, **given)
    made = {
        client: read_row_groups(tmp_path / "hijacked.parquet", CLIENT_TEXTS, "client", [client]) for client in CLIENTS
    }
    before = read_parquet(tmp_path / "texts.parquet", CLIENT_TEXTS)
    for client, whose in zip(CLIENTS, ("client_002", "client_002", "client_003", "client_002"), strict=True):
        expected = before[before["client"] == whose].assign(client=client).reset_index(drop=True)
        pd.testing.assert_frame_equal(made[client], expected)


@pytest.mark.parametrize(("factor", "a", "b"), [(3.0, 2.5, 0.5), (-3.0, -0.5, 3.5)])
def test_a_round_with_a_scaled_and_a_flipped_upload_by_hand(factor, a, b, repository, tmp_path) -> None:
    # client_001 sends (1, -1), client_002 (2, 4). The mean of (3, -3) and (2, 4) is (2.5, 0.5), of (-3, 3) and (2, 4)
    # (-0.5, 3.5); the adapter begins at (1, 0).
    pack = {
        client: {"delta": {A: np.full((2, 3), x, np.float32), B: np.full((4, 2), y, np.float32)}}
        for client, x, y in (("client_001", 1.0, -1.0), ("client_002", 2.0, 4.0))
    }
    write_pack(tmp_path / "upload", pack, {"kind": "upload", "round": "0"})
    files = {"input": {"upload": str(tmp_path / "upload")}, "output": {"upload": tmp_path / "false"}}
    run_script(repository, "poison_updates", {"cfg": {"attackers": ["client_001"], "factor": factor}}, **files)
    write_safetensors(SHARED, tmp_path / "round0.safetensors", {})
    run_job(repository, tmp_path, 0, SharedStage(), [str(tmp_path / "false")], rate=1.0)
    found, _ = read_safetensors(tmp_path / "round1.safetensors")
    assert (found[A] == 1 + a).all()
    assert (found[B] == b).all()
    sent, header = read_pack(tmp_path / "false")
    assert header == read_pack(tmp_path / "upload")[1]
    assert all(np.array_equal(sent["client_002"]["delta"][key], pack["client_002"]["delta"][key]) for key in (A, B))
    assert sent["client_001"]["delta"][A].dtype == np.float32


def attacked(kind, share, **more) -> Callable[[dict[str, Any]], None]:
    """A change of the smallest configuration: an attack, and rows that it can be on."""

    def change(config) -> None:
        section = config["experiments"]["micro"]
        section["federation"] |= {"attack": {"kind": kind, "share": share, **more}, "clients_per_job": 1}
        section["methods"] = {"fedavg": {}, "ditto": {}, "favor": {}}

    return change


def test_an_attack_changes_what_attackers_send_or_train_on_and_nothing_else(plan) -> None:
    plain = plan(change=attacked("flip", 0)).training
    run = run_key("micro", "1", "favor")
    assert plain.shared_texts(run) == plain.paths.texts.of(run)
    for kind, factor in (("scale", 8.0), ("flip", 1.0), ("hijack", 1.0), ("hijack", 8.0)):
        training = plan(change=attacked(kind, 0.25, factor=factor)).training
        found = training.attackers("micro", "1")
        assert len(found.clients) == 1
        changed = set()
        for number in range(2):
            for job, path in zip(
                training.jobs(training.round_step(run, number)), training.round_uploads(run, number), strict=True
            ):
                assert training.train_shared_settings(job) == plain.train_shared_settings(job)
                if path != training.paths.upload.of(job):
                    (client,) = training.job_clients(job)
                    changed.add(client)
                    sent = {"attackers": [client], "factor": -1.0 if kind == "flip" else factor}
                    assert to_params(training.poison_updates_settings(job)) == sent
        assert changed == (set() if (kind, factor) == ("hijack", 1.0) else set(found.clients))
        hijacks = training.shared_texts(run) == training.paths.hijacked_texts.of(run)
        assert hijacks == (kind == "hijack")
        if hijacks:
            assert to_params(training.poison_data_settings(run)) == {"attackers": found.clients, "target": found.target}
    assert plain.round_uploads(run, 0) == [plain.paths.upload.of(job) for job in plain.jobs(plain.round_step(run, 0))]
