"""Prompting baselines and encoder transfer for real, at their smallest, on outputs that another experiment has made."""

from __future__ import annotations

import math
import os
import shutil

import pandas as pd
import pytest

from favor.corpora.schemas import CLIENT_TEXTS, PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import AUTHOR_SHEETS, BOUNDARY, GENERATIONS, PROMPTED_REQUESTS
from favor.foundation.parquet import read_parquet
from favor.scores.schemas import SCORES
from favor.studies.privacy.schemas import PRIVACY_CANARIES, PRIVACY_CANARY_CLIENTS, PRIVACY_LINKS, PRIVACY_LOSSES
from favor.tables.cell_table import TABLE_CELLS
from tests.workflow.conftest import Project, copy_project, planned_jobs
from tests.workflow.traced import unforeseen, untraced

pytestmark = pytest.mark.slow(37)

STUDIES = ("--configfile", "studies.yaml")
LABELS = (
    "asce-scale-transfer",
    "prompting_retrieval_baselines",
    "privacy-audit",
    "privacy-canaries",
    "privacy-leaving",
)
TABLES = [f"results/probes/tables/{label}.html" for label in LABELS]
SCORE_FILES = [f"results/micro/scores/{family}.parquet" for family in ("judges", "efficiency")]
TARGETS = ("--", *TABLES, "results/probes/boundary.parquet", *SCORE_FILES)


@pytest.fixture(scope="module")
def run(repository, tmp_path_factory) -> Project:
    """A project whose tables of both studies are made."""
    project = copy_project(repository, tmp_path_factory.mktemp("studies") / "project", traced=True)
    shutil.copy(repository / "tests" / "data" / "studies.yaml", project.folder / "studies.yaml")
    os.environ["HF_HUB_OFFLINE"] = "1"  # whatever asks for the network fails
    project.snakemake(*STUDIES, *TARGETS)
    return project


def cells_of(run, label) -> pd.DataFrame:
    return read_parquet(run.folder / f"results/probes/tables/{label}.parquet", TABLE_CELLS)


def test_every_dash_of_the_tables_has_its_reason(run) -> None:
    for label in LABELS:
        for cell in cells_of(run, label).itertuples():
            assert cell.text != "–" or cell.reason, (label, cell.row, cell.column)
    table = cells_of(run, "prompting_retrieval_baselines").set_index(["row", "column"])["text"]
    assert table["Mythos Sheet + RAG", "Sheet by"] == "Micro model"
    assert table["FAVoR", "FL"] == "✓"
    (row,) = set(cells_of(run, "asce-scale-transfer")["row"])
    assert row == "2"


def test_outputs_of_the_other_experiment_are_read_where_they_are(run) -> None:
    folder = run.folder / "results"
    for row in ("fedavg", "favor"):
        assert (folder / "micro/seed1" / row / "generations.parquet").is_file()
        assert not (folder / "probes/seed1" / row).exists()
    prompts = [read_parquet(folder / name / "seed1/prompts.parquet", PROMPTS) for name in ("micro", "probes")]
    assert prompts[0].equals(prompts[1])
    embedded = read_parquet(folder / "probes/embeddings/asce_a.parquet", GENERATION_EMBEDDINGS)
    assert set(embedded["method"]) == {"fedavg", "favor", "average_author", "sheet_retrieval"}
    boundary = read_parquet(folder / "probes/boundary.parquet", BOUNDARY)
    # What the federation sent is that of the other experiment; nothing crosses for prompting.
    assert set(boundary["method"]) == {"fedavg", "favor"}


def test_exports_of_outputs_made_elsewhere_train_nothing(run) -> None:
    exports = ("exports/pan/asce_a/favor-seed1/truth.jsonl", "seed1/favor/clients/peft")
    targets = [f"results/probes/{export}" for export in exports]
    planned = planned_jobs(run.snakemake("-n", *STUDIES, "--", *targets).stdout)
    assert planned == {"export_pan": 1, "export_adapters": 1}


def test_prompted_clients_read_their_own_training_texts_alone(run) -> None:
    folder = run.folder / "results/probes"
    texts = read_parquet(folder / "clients/texts.parquet", CLIENT_TEXTS)
    owned = texts[texts["training_text"] != ""].groupby("client")["document_id"].agg(set)
    requests = read_parquet(folder / "seed1/sheet_retrieval/clients/requests.parquet", PROMPTED_REQUESTS)
    sheets = read_parquet(folder / "clients/sheets.parquet", AUTHOR_SHEETS).set_index("client")
    for request in requests.itertuples():
        assert len(request.documents) == 2
        assert set(request.documents) <= owned[request.client]
        assert sheets.loc[request.client, "sheet"] in request.request
        assert sheets.loc[request.client, "persona"] in request.request
    average = read_parquet(folder / "seed1/average_author/clients/requests.parquet", PROMPTED_REQUESTS)
    prompts = read_parquet(folder / "seed1/prompts.parquet", PROMPTS).set_index("prompt_id")["prompt_text"]
    # Without the prompts the average author's requests are one and the same: nothing of the client is in them.
    assert len({row.request.removesuffix(prompts[row.prompt_id]) for row in average.itertuples()}) == 1
    generations = read_parquet(folder / "seed1/sheet_retrieval/generations.parquet", GENERATIONS)
    assert generations["prompt_id"].tolist() == requests["prompt_id"].tolist()
    assert generations["tokens"].max() <= 32


def test_transfer_rests_on_the_other_corpus(run) -> None:
    table = read_parquet(run.folder / "results/probes/clients/transfer/asce_2.parquet", SOURCE_EMBEDDINGS)
    assert table.groupby("kind")["client"].nunique().to_dict() == {"test": 4, "train": 4}
    assert (table[table["kind"] == "test"].groupby("client").size() == 1).all()
    scores = read_parquet(run.folder / "results/probes/scores/transfer.parquet", SCORES)
    accuracy = scores[(scores["metric"] == "transfer_accuracy") & (scores["encoder"] == "asce_2")]
    value = accuracy.set_index("variant")["value"]
    assert (value[""] * 4).is_integer()
    assert value["low"] <= value[""] <= value["high"]
    assert math.isfinite(scores.loc[scores["metric"] == "transfer_auc", "value"].iloc[0])


def test_the_audit_reads_the_other_experiments_run_and_plants_secrets_beside_it(run) -> None:
    folder = run.folder / "results"
    read = folder / "probes/studies/privacy/seed1/favor"
    losses = read_parquet(read / "losses.parquet", PRIVACY_LOSSES)
    uploads = set(losses.loc[losses["adapter"] == "upload", "holder"])
    assert len(uploads) == 2
    rounds = {"personal": 0, "remade": 1, "server": 1, "upload": 0}
    assert losses.groupby("adapter")["round"].max().to_dict() == rounds
    # Who left, and who was never sampled.
    assert set(losses.loc[losses["adapter"] == "remade", "client"]) == {"client_001", "client_002"}
    assert set(losses.loc[losses["kind"] == "trained", "client"]) == uploads
    canaries = read_parquet(read / "canaries.parquet", PRIVACY_CANARIES)
    assert set(canaries["client"]) == uploads
    (track,) = (folder / "probes/seed1/shared").iterdir()
    assert track.name.endswith("-canary")
    assert track.name.removesuffix("-canary") in {path.name for path in (folder / "micro/seed1/shared").iterdir()}
    # The secrets change what is trained, and nothing of the run that is audited.
    for place in ("micro", "probes"):
        assert len(list((folder / place).glob("seed1/shared/*/audited/round0/*.safetensors"))) == 1
        assert not list((folder / place).glob("seed1/shared/*/uploads/round0/*.safetensors"))
    assert len(read_parquet(read / "canary_clients.parquet", PRIVACY_CANARY_CLIENTS)) == 4
    assert read_parquet(read / "links.parquet", PRIVACY_LINKS).empty  # one round


def test_what_a_change_reruns(run) -> None:
    assert "Nothing to be done" in run.snakemake("-n", *STUDIES, *TARGETS).stdout

    def changed(old, new) -> dict[str, int]:
        run.edit("studies.yaml", old, new)
        jobs = planned_jobs(run.snakemake("-n", *STUDIES, *TARGETS).stdout)
        run.edit("studies.yaml", new, old)
        return jobs

    jobs = changed("passages: 2", "passages: 1")
    assert jobs["generate_prompted"] == 2
    assert not {"distil_sheets", "train_shared", "train_personal", "generate_part", "embed_transfer"} & set(jobs)
    jobs = changed("sheet_tokens: 16", "sheet_tokens: 12")
    assert jobs["distil_sheets"] == 1
    assert jobs["generate_prompted"] == 1  # the row without a sheet stays
    jobs = changed("stories, texts: 1", "stories, texts: 2")
    assert jobs == {"embed_transfer": 1, "score_transfer": 1, "make_table": 1}
    jobs = changed("canary_clients: 4", "canary_clients: 5")
    assert jobs == {"measure_privacy": 1, "score_privacy": 1, "make_table": 3}
    # Secrets planted otherwise train their own track again, and no other.
    jobs = changed("repeats: [1, 2]", "repeats: [2, 1]")
    training = {"train_shared": 1, "keep_upload": 1, "aggregate": 1}
    assert jobs == {**training, "measure_privacy": 1, "score_privacy": 1, "make_table": 3}


def test_every_definition_that_ran_is_in_its_rules_fingerprint(run) -> None:
    assert unforeseen(run.folder) == set()
    assert untraced(run.folder, "studies") == set()
