"""A sweep and a cold start for real, at the smallest size."""

import re
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from favor.federation.client_archive import read_pack
from favor.federation.method import SharedStage
from favor.federation.schemas import TRAINING_LOG
from favor.federation.stages import compose
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors
from favor.scores.schemas import SWEEP_SCORES
from favor.tables.cell_table import TABLE_CELLS
from tests.workflow.traced import unforeseen

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
    project.snakemake(*STUDIES, "--", *TARGETS)
    return project.folder / "results"


def table(results, name, label) -> pd.DataFrame:
    return read_parquet(results / "sweeps" / name / "tables" / f"{label}.parquet", TABLE_CELLS)


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


def test_every_variant_has_a_row_and_every_dash_a_reason(results) -> None:
    full, nested = (table(results, "shots", f"cold-start-{label}") for label in ("full", "nested-k"))
    main = read_parquet(results / "unseen" / "tables" / "cold-start-main.parquet", TABLE_CELLS)
    assert full["row"].nunique() == 7
    assert full["paper_value"].notna().sum() == 49
    assert nested["paper_text"].tolist()[:2] == ["+0.119 [0.050, 0.203]", "+0.050 [0.003, 0.096]"]
    for cells in (full, nested, main):
        assert all(cell.text != "–" or cell.reason for cell in cells.itertuples())
    assert main.loc[main["row"] == "FAVoR shared init + private", "value"].notna().all()


def test_report_and_release_hold_every_sweep_and_no_section_for_its_points(results) -> None:
    page = (results / "report.html").read_text()
    assert "33% (third), 100% (even)" in page
    sections = {*re.findall(r'id="experiment-([a-z]+)"', page)}
    assert {"volume", "shots", "unseen"} <= sections
    assert not {"micro", "even", "third", "federation"} & sections
    with tarfile.open(results / "release.tar.gz") as archive:
        names = {name.removeprefix("favor-release/") for name in archive.getnames()}
    assert names >= {
        *("croissant.json", "ro-crate-metadata.json", "results/sweeps/volume/scores.parquet"),
        *(
            "results/sweeps/shots/tables/cold-start-nested-k.tex",
            "results/unseen/statistics/cold-start-nested-k.parquet",
        ),
    }


def test_every_definition_that_ran_is_in_its_rules_fingerprint(results) -> None:
    assert unforeseen(results.parent) == set()
