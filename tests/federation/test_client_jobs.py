"""What a client's job reads: its own clients' rows. Those of all others are made unreadable, and nothing changes."""

import os
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.federation.test_aggregate_script import run_script
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.lm.conftest import SENTENCES
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.federation.local import style_targets
from favor.federation.schedule import client_names, schedule_frame
from favor.federation.schemas import SCHEDULE, TRAINING_LOG
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet, write_row_groups
from favor.foundation.tensors import write_safetensors
from favor.lm.configuration import load_configuration
from favor.lm.lora import initial_state
from favor.lm.settings import Lora
from favor.plan.job_settings import to_params
from favor.plan.keys import Key

CLIENTS = client_names(4)


def make_unreadable(path, but) -> None:
    """Overwrite the rows of every client that is not one of ``but`` with random bytes."""
    content, footer = bytearray(path.read_bytes()), pq.read_metadata(path)
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        if group.column(0).statistics.min not in but:
            for column in map(group.column, range(group.num_columns)):
                start = column.dictionary_page_offset or column.data_page_offset
                content[start : start + column.total_compressed_size] = os.urandom(column.total_compressed_size)
    path.write_bytes(content)


def write_tables(folder, held_out="validation") -> None:
    """Write texts, allocation and style embeddings of four clients."""
    rows = [
        (client, f"{client} {n}", "train" if n < 3 else held_out, "t", "", f"{client[-1]} {SENTENCES[n % 3]}", 12)
        for client in CLIENTS
        for n in range(4)
    ]
    texts = pd.DataFrame(rows, columns=CLIENT_TEXTS.names[:-2])
    trained = texts["split"] == "train"
    texts["allocated_words"] = texts["words"].where(trained, 0)
    texts["training_text"] = texts["text"].where(trained, "")
    write_row_groups(texts, folder / "texts.parquet", CLIENT_TEXTS, "client")
    allocation = pd.DataFrame([(client, 36, 36, 36) for client in CLIENTS], columns=ALLOCATION.names)
    write_parquet(allocation, folder / "allocation.parquet", ALLOCATION)
    generator = np.random.default_rng(1)
    named = texts.rename(columns={"document_id": "item", "split": "kind"})[["client", "item", "kind", "topic"]]
    vectors = [generator.normal(size=8).astype(np.float32) for _ in range(len(named))]
    write_row_groups(named.assign(embedding=vectors), folder / "style.parquet", SOURCE_EMBEDDINGS, "client")


@pytest.fixture
def work(plan, model_folder, tmp_path, repository) -> Callable[..., tuple[list[str], list[bytes]]]:
    """Runs a job of a stage that aligns with the client's style; returns its clients and the bytes of its outputs."""
    write_tables(tmp_path)

    def run(script, per_job, validation=None) -> tuple[list[str], list[bytes]]:
        section = {"methods": {"global_asce": {}, "local_only_asce": {}}, "training": {"validation": validation}}
        section["federation"] = {"clients_per_job": per_job}
        training = plan(change={"experiments": {"micro": section}}).training
        if script == "train_shared":
            track = training.project.plans("micro")["global_asce"].shared.track
            key = Key(experiment="micro", seed="1", track=track, round="0", batch="0")
            cfg, clients = to_params(training.train_shared_settings(key)), training.job_clients(key)
            made = ("upload", "endpoints")
        else:
            key = Key(experiment="micro", seed="1", method="local_only_asce", phase="last", batch="0")
            cfg, clients = to_params(training.train_personal_settings(key)), training.job_clients(key)
            made = ("pack", "passing")
        if validation:  # which the shared stage of a row whose clients do not generate with its end does not read
            cfg["training"]["validation"] = {"patience": None, **validation}
        cfg["model"] = {"source": str(model_folder), "quantisation": "none", "device": "cpu", "dtype": "float32"}
        state = initial_state(load_configuration(str(model_folder)), Lora.model_validate(cfg["lora"]), 1)
        write_safetensors(state, tmp_path / "adapter.safetensors", {})
        schedule = schedule_frame(training.rounds("micro", "1", "coverage_first"))
        write_parquet(schedule, tmp_path / "schedule.parquet", SCHEDULE)
        adapter, style = str(tmp_path / "adapter.safetensors"), [str(tmp_path / "style.parquet")]
        given = {name: str(tmp_path / f"{name}.parquet") for name in ("schedule", "texts", "allocation")}
        given |= {"adapter": adapter, "style": style, "start": [adapter]}
        given |= {name: [] for name in ("previous", "anchor", "first", "requests")}
        output = {name: tmp_path / f"{name}.safetensors" for name in made} | {"training_log": tmp_path / "log"}
        run_script(repository, script, {"cfg": cfg}, key, input=given, output=output)
        return clients, [(tmp_path / f"{name}.safetensors").read_bytes() for name in made]

    return run


@pytest.mark.parametrize(
    ("script", "per_job"),
    [
        ("train_shared", 1),
        ("train_personal", 2),
        *(pytest.param(*case, marks=pytest.mark.slow(2)) for case in (("train_shared", 2), ("train_personal", 1))),
    ],
)
def test_a_job_reads_the_rows_of_its_own_clients_alone(script, per_job, work, tmp_path) -> None:
    clients, expected = work(script, per_job)
    assert len(clients) == per_job
    for name in ("texts", "style"):
        make_unreadable(tmp_path / f"{name}.parquet", clients)
    assert work(script, per_job) == (clients, expected)
    # The bytes that were overwritten are rows that somebody trains on: a job with one of them cannot read them.
    make_unreadable(tmp_path / "texts.parquet", [])
    with pytest.raises(UserError, match=r"texts\.parquet: not a complete table with row groups"):
        work(script, per_job)


def test_validation_reads_no_other_clients_texts(work, tmp_path) -> None:
    clients, expected = work("train_shared", 1, {"texts_per_client": 1})
    make_unreadable(tmp_path / "texts.parquet", clients)
    assert work("train_shared", 1, {"texts_per_client": 1}) == (clients, expected)


@pytest.mark.parametrize("script", ["train_shared", "train_personal"])
def test_validation_losses_are_logged_and_change_no_adapter(script, work, tmp_path, capsys) -> None:
    clients, expected = work(script, 2)
    columns = ["validation_loss_before", "validation_loss"]
    assert read_parquet(tmp_path / "log", TRAINING_LOG)[columns].isna().all(axis=None)
    assert work(script, 2, {"texts_per_client": 1}) == (clients, expected)
    log = read_parquet(tmp_path / "log", TRAINING_LOG)
    for _, own in log.groupby("client"):
        assert own["validation_loss_before"].notna().tolist() == (own["step"] == 0).tolist()
        assert own["validation_loss"].notna().to_numpy()[-1]
    if script == "train_personal":
        last = log.groupby("client")[columns].agg({"validation_loss_before": "max", "validation_loss": "last"})
        worse = (last["validation_loss"] > last["validation_loss_before"]).sum()
        assert f"ended above its start for {worse} of 2 clients" in capsys.readouterr().err


def test_a_client_without_validation_texts_is_named(work, tmp_path, capsys) -> None:
    write_tables(tmp_path, held_out="test")
    clients, _ = work("train_personal", 2, {"texts_per_client": 1, "patience": 1})
    said = capsys.readouterr().err
    assert all(f"{client}: no validation text that can be read" in said for client in clients)
    assert read_parquet(tmp_path / "log", TRAINING_LOG)["validation_loss"].isna().all()


# The style target of Eq. author_target, by hand


def embedded() -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = pd.DataFrame({"document_id": ["x1", "x2", "x3", "y1"], "allocated_words": [10, 5, 0, 0]})
    vectors = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-1.0, -1.0]]
    sources = pd.DataFrame({"client": "x", "item": ["x1", "x2", "x3", "x1"], "embedding": vectors})
    return sources.assign(kind=["train", "train", "train", "gold"]), texts.assign(client=list("xxxy"))


def test_the_target_is_the_normalised_mean_of_what_the_client_trains_on() -> None:
    # x trains on x1 = (1, 0) and x2 = (0, 1), not on x3: mean (.5, .5), norm 1 / sqrt 2.
    target = style_targets(*embedded(), ["x"])["x"]
    np.testing.assert_allclose(target, [2**-0.5, 2**-0.5], rtol=1e-6)
    assert target.dtype == np.float32
    with pytest.raises(UserError, match="y: no reference text"):
        style_targets(*embedded(), ["x", "y"])
