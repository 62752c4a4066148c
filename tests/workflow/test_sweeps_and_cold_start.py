"""A sweep and a cold start for real, at the smallest size."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from favor.corpora.schemas import CLIENT_TEXTS, OVERLAP, ROSTER
from favor.federation.client_archive import read_pack
from favor.federation.communication_record import DOWN, STAYS, UP
from favor.federation.method import SharedStage
from favor.federation.schemas import BOUNDARY, TRAINING_LOG, VALIDATION_LOSSES
from favor.federation.stages import compose
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors
from favor.scores.schemas import SWEEP_SCORES
from favor.tables.cell_table import TABLE_CELLS
from tests.workflow.traced import unforeseen, untraced

pytestmark = pytest.mark.slow(88)

STUDIES = ("--configfile", "micro.yaml", "micro_studies.yaml")
# The release holds the report, and every table and figure of the studies; the micro experiment itself is not run.
SHARED = f"third/seed1/shared/{SharedStage().track}/clients/validation.parquet"  # what "favor tune" chooses by
PERSONAL = "third/seed1/ditto/clients/validation_personal.parquet"
TARGETS = ("results/release.tar.gz", "results/unseen/boundary.parquet", f"results/{SHARED}", f"results/{PERSONAL}")


@pytest.fixture(scope="module")
def results(repository, micro, tmp_path_factory) -> Path:
    """The results of the studies over the micro configuration, without the main experiment's."""
    project = micro.copy(tmp_path_factory.mktemp("studies") / "project", traced=True)
    shutil.copy(repository / "tests" / "data" / "micro_studies.yaml", project.folder)
    os.environ["HF_HUB_OFFLINE"] = "1"
    project.snakemake(*STUDIES, "--", *TARGETS)
    return project.folder / "results"


def table(results, name, label) -> pd.DataFrame:
    return read_parquet(results / "sweeps" / name / "tables" / f"{label}.parquet", TABLE_CELLS)


def test_every_client_reads_its_validation_texts_under_the_final_shared_adapter(results) -> None:
    losses = read_parquet(results / SHARED, VALIDATION_LOSSES)
    texts = read_parquet(results / "third" / "clients" / "texts.parquet", CLIENT_TEXTS)
    assert set(losses["client"]) == set(texts.loc[texts["split"] == "validation", "client"])
    assert np.isfinite(losses["loss"]).all()
    assert set(read_parquet(results / PERSONAL, VALIDATION_LOSSES)["client"]) == set(losses["client"])


def test_every_point_is_a_row_beside_the_papers(results) -> None:
    cells = table(results, "volume", "text-volume-sweep")
    assert cells["row"].tolist() == ["33%"] * 5 + ["100%"] * 5
    assert cells["paper_text"].tolist()[0] == "0.755 / 0.685"
    scored = cells[~cells["column"].str.endswith("validation loss")]
    assert all(cell.reason or " / " in cell.text for cell in scored.itertuples())
    scores = read_parquet(results / "sweeps" / "volume" / "scores.parquet", SWEEP_SCORES)
    assert dict(zip(scores["point"], scores["experiment"], strict=True)) == {"33%": "third", "100%": "even"}


def test_the_volume_of_the_lowest_validation_loss_is_chosen(results) -> None:
    """From the logs, by another way: a client's loss is the last one of its personal stage."""
    means = {}
    for label, name in (("33%", "third"), ("100%", "even")):
        for row in ("ditto", "favor"):
            files = (results / name / "seed1" / row / "clients").glob("*/*.log.parquet")
            log = pd.concat([read_parquet(path, TRAINING_LOG) for path in files]).dropna(subset="validation_loss")
            means[row, label] = log.sort_values(["round", "step"]).groupby("client")["validation_loss"].last().mean()
    cells = table(results, "volume", "text-volume-sweep")
    for row, title in (("ditto", "Ditto"), ("favor", "FAVoR")):
        own = cells[cells["column"] == f"{title} validation loss"].set_index("row")
        assert own["value"].to_dict() == pytest.approx({label: means[row, label] for label in ("33%", "100%")})
        chosen = min(("33%", "100%"), key=lambda label: means[row, label])
        assert own.index[own["text"].str.endswith("] (chosen)")].tolist() == [chosen]
        assert f"{title}: {chosen}" in (results / "report.html").read_text()


def test_compute_is_the_same_at_every_volume_and_texts_are_nested(results) -> None:
    logs, texts = {}, {}
    for name in ("third", "even"):
        files = sorted((results / name / "seed1").glob("**/*.log.parquet"))
        logs[name] = [read_parquet(path, TRAINING_LOG).groupby(["stage", "client"]).size() for path in files]
        texts[name] = read_parquet(results / name / "clients" / "texts.parquet", CLIENT_TEXTS)
        assert texts[name]["allocated_words"].sum() == {"third": 300, "even": 900}[name]
    assert len(logs["even"]) == 4  # two tracks, Ditto's and FAVoR's personal stages
    for less, more in zip(logs["third"], logs["even"], strict=True):
        assert less.to_dict() == more.to_dict()
        assert set(more) <= {2, 4}  # a pass is two steps; FAVoR's private stage has two passes
    pairs = zip(texts["third"]["training_text"], texts["even"]["training_text"], strict=True)
    assert all(longer.startswith(shorter) for shorter, longer in pairs)


def test_unseen_authors_took_no_part_in_anything_before(results) -> None:
    roster = read_parquet(results / "corpora" / "micro" / "roster.parquet", ROSTER)
    overlap = read_parquet(results / "corpora" / "micro" / "overlap.parquet", OVERLAP)
    assert overlap[["shared_authors", "shared_documents"]].to_numpy().sum() == 0  # nor are they the style encoder's
    clients = {
        name: set(read_parquet(results / name / "clients" / "texts.parquet", CLIENT_TEXTS)["client"])
        for name in ("federation", "unseen")
    }
    assert clients["unseen"] == {"client_003", "client_004"}
    assert clients["federation"] == {"client_001", "client_002"}
    unseen = roster[roster["client"].isin(clients["unseen"])]
    assert set(unseen["role"]) == {"client"}


def test_a_residual_is_trained_on_the_frozen_adapter(results) -> None:
    frozen = next((results / "federation" / "seed1" / "shared").glob("*/server/round1/adapter.safetensors"))
    shared = read_safetensors(frozen)[0]
    random = read_safetensors(results / "unseen" / "seed1" / "server" / "random" / "adapter.safetensors")[0]
    for row, start in (("cold_start", shared), ("cold_start_asce", shared), ("cold_start_random", random)):
        pack, _ = read_pack(results / "unseen" / "seed1" / row / "clients" / "last" / "batch0.safetensors")
        assert set(pack) == {"client_003", "client_004"}
        for parts in pack.values():
            assert set(parts) == {"endpoint", "residual"}
            assert all(np.array_equal(parts["endpoint"][key], start[key]) for key in start)
            assert any(np.any(tensor) for tensor in parts["residual"].values())
            assert set(compose(parts)) == set(start)
    for key, tensor in shared.items():
        assert np.linalg.norm(random[key]) == pytest.approx(np.linalg.norm(tensor), rel=1e-5)
    # Local-only starts from the base model: its adapter is no residual.
    pack, _ = read_pack(results / "unseen" / "seed1" / "local_only" / "clients" / "last" / "batch0.safetensors")
    assert all(set(parts) == {"adapter"} for parts in pack.values())


def test_the_boundary_lists_the_adapter_that_new_clients_were_given(results) -> None:
    boundary = read_parquet(results / "unseen" / "boundary.parquet", BOUNDARY)
    assert UP not in set(boundary["direction"])
    given = boundary[boundary["direction"] == DOWN].groupby("method")["client"].nunique().to_dict()
    rows = ("cold_start", "cold_start_asce", "cold_start_random", "cold_start_shared")
    assert given == dict.fromkeys(rows, 2)
    stays = boundary[boundary["direction"] == STAYS]
    assert set(stays.loc[stays["method"] == "cold_start", "content"]) == {"endpoint", "residual"}


def test_every_variant_has_a_row_and_every_dash_a_reason(results) -> None:
    full = table(results, "shots", "cold-start-full")
    assert full["row"].nunique() == 7
    assert full["paper_value"].notna().sum() == 49
    nested = table(results, "shots", "cold-start-nested-k")
    assert nested["column"].tolist() == [f"{name} [95% CI]" for name in ("Fixed Δ Acc.", "Fixed Δ m", "K-shot Δ Acc.")]
    assert nested["paper_text"].tolist()[:2] == ["+0.119 [0.050, 0.203]", "+0.050 [0.003, 0.096]"]
    main = read_parquet(results / "unseen" / "tables" / "cold-start-main.parquet", TABLE_CELLS)
    assert {"Shared only", "FAVoR shared init + private"} <= set(main["row"])
    for cells in (full, nested, main):
        assert all(cell.text != "–" or cell.reason for cell in cells.itertuples())
    assert (nested["text"] != "–").all()
    assert main.loc[main["row"] == "FAVoR shared init + private", "value"].notna().all()


def test_the_report_has_a_section_for_every_sweep_and_none_for_its_points(results) -> None:
    page = (results / "report.html").read_text()
    for text in ("Volume", "Shots", "33% (third), 100% (even)", "The paper prints this table as its Table 11."):
        assert text in page
    assert 'id="experiment-volume"' in page
    assert 'id="experiment-unseen"' in page
    assert not any(f'id="experiment-{name}"' in page for name in ("micro", "even", "third", "federation"))
    numbers = json.loads((results / "numbers.json").read_text())
    # The paper's running text says no number of its table.
    assert numbers.keys() == {"unseen"}
    assert {entry["claim"] for entry in numbers["unseen"]} == {"open"}


def test_the_release_holds_the_sweeps(results) -> None:
    with tarfile.open(results / "release.tar.gz") as archive:
        members = archive.getnames()
    assert {"favor-release/croissant.json", "favor-release/ro-crate-metadata.json"} <= set(members)
    names = {name.removeprefix("favor-release/results/") for name in members}
    assert {"sweeps/volume/scores.parquet", "sweeps/volume/figures/points.svg"} <= names
    assert {"sweeps/shots/tables/cold-start-nested-k.tex", "unseen/statistics/cold-start-nested-k.parquet"} <= names


def test_every_definition_that_ran_is_in_its_rules_fingerprint(results) -> None:
    assert unforeseen(results.parent) == set()
    assert untraced(results.parent, "sweeps") == set()
