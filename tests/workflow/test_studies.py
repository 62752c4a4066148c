"""Prompting baselines and encoder transfer for real, at their smallest, on outputs that another experiment has made."""

import pandas as pd
import pytest

from favor.corpora.schemas import PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS
from favor.federation.schemas import BOUNDARY
from favor.foundation.parquet import read_parquet
from favor.studies.privacy.schemas import PRIVACY_CANARIES, PRIVACY_LOSSES
from favor.tables.cell_table import TABLE_CELLS
from tests.workflow.conftest import Project, copy_project
from tests.workflow.traced import unforeseen

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
    project = copy_project(repository, tmp_path_factory.mktemp("studies") / "project", "studies.yaml", traced=True)
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


def test_the_audit_plants_secrets_beside_the_run_that_it_reads(run) -> None:
    folder = run.folder / "results"
    read = folder / "probes/studies/privacy/seed1/favor"
    losses = read_parquet(read / "losses.parquet", PRIVACY_LOSSES)
    uploads = set(losses.loc[losses["adapter"] == "upload", "holder"])
    assert len(uploads) == 2
    assert set(losses.loc[losses["kind"] == "trained", "client"]) == uploads
    assert set(read_parquet(read / "canaries.parquet", PRIVACY_CANARIES)["client"]) == uploads
    # Who left, and who was never sampled.
    assert set(losses.loc[losses["adapter"] == "remade", "client"]) == {"client_001", "client_002"}
    (track,) = (folder / "probes/seed1/shared").iterdir()
    assert track.name.removesuffix("-canary") in {path.name for path in (folder / "micro/seed1/shared").iterdir()}
    # The secrets change what is trained, and nothing of the run that is audited.
    for place in ("micro", "probes"):
        assert len(list((folder / place).glob("seed1/shared/*/audited/round0/*.safetensors"))) == 1
        assert not list((folder / place).glob("seed1/shared/*/uploads/round0/*.safetensors"))


@pytest.mark.parametrize(
    ("old", "new", "planned"),
    [
        ("stories, texts: 1", "stories, texts: 2", {"embed_transfer": 1, "score_transfer": 1, "make_table": 1}),
        # Secrets planted otherwise train their own track again, and no other.
        (
            "repeats: [1, 2]",
            "repeats: [2, 1]",
            {
                "train_shared": 1,
                "keep_upload": 1,
                "aggregate": 1,
                "measure_privacy": 1,
                "score_privacy": 1,
                "make_table": 3,
            },
        ),
    ],
)
def test_what_a_change_reruns(run, old, new, planned) -> None:
    run.edit("studies.yaml", old, new)
    jobs = run.planned(*STUDIES, *TARGETS)
    run.restore()
    assert jobs == planned


def test_exports_train_nothing_and_every_definition_that_ran_is_in_its_rules_fingerprint(run) -> None:
    exports = ("exports/pan/asce_a/favor-seed1/truth.jsonl", "seed1/favor/clients/peft")
    targets = [f"results/probes/{export}" for export in exports]
    assert run.planned(*STUDIES, "--", *targets) == {"export_pan": 1, "export_adapters": 1}
    assert unforeseen(run.folder) == set()
