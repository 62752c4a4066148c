"""The whole workflow for real, at its smallest: results, resumption with the same bytes, and recovery from damage."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from favor.analysis.variances import measure
from favor.corpora.schemas import CLIENT_TEXTS, ROSTER
from favor.federation.client_archive import read_pack
from favor.federation.communication_record import UP
from favor.federation.method import SharedStage
from favor.federation.schemas import BOUNDARY
from favor.federation.stages import compose
from favor.foundation.parquet import read_parquet
from favor.report.content import without_texts
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS
from favor.tables.cell_table import TABLE_CELLS
from tests.latex import two_columns
from tests.optional import needs
from tests.workflow.conftest import Project, planned_jobs
from tests.workflow.traced import unforeseen, unnoticed_mutations

pytestmark = pytest.mark.slow(115)

MICRO = ("--configfile", "micro.yaml")
EXPORTED = ("favor", "feddpa")


def digest(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def run(micro, tmp_path_factory) -> Project:
    """A finished run of the micro configuration, its check, and exported adapters."""
    project = micro.copy(tmp_path_factory.mktemp("run") / "project", traced=True)
    os.environ["HF_HUB_OFFLINE"] = "1"  # whatever asks for the network fails
    exports = [f"results/micro/seed1/{method}/clients/peft" for method in EXPORTED]
    project.snakemake(*MICRO, "--", "all", "check", *exports)
    return project


@pytest.fixture
def seed_folder(run) -> Path:
    return run.folder / "results" / "micro" / "seed1"


def settings_of(run) -> dict[str, Any]:
    """What the run's settings.json says."""
    return json.loads((run.folder / "results/micro/settings.json").read_text())


def track_of(run, seed_folder, method) -> Path:
    """The folder of a method's shared track."""
    shared = settings_of(run)["methods"][method]["plan"]["shared"]
    return seed_folder / "shared" / SharedStage.of(shared).track


@needs("pdflatex")
def test_every_table_fits_an_article_of_two_columns(run, tmp_path) -> None:
    tables = [path.read_text() for path in sorted(run.folder.glob("results/micro/**/tables/*.tex"))]
    assert len(tables) > 5
    assert two_columns(tables, tmp_path)[1] == []


def test_snakemakes_own_report_has_tables_and_figures_by_their_titles(run, tmp_path) -> None:
    run.snakemake(*MICRO, "--report", str(tmp_path / "favor.zip"))
    with zipfile.ZipFile(tmp_path / "favor.zip") as archive:
        page = archive.read("favor/report.html").decode()
        packed = {Path(name).name for name in archive.namelist()}
    results = json.loads(re.search(r"^ *var results = (\{.*\});?$", page, re.MULTILINE)[1])
    labels = results["results/micro/tables/main_federated_results.html"]["labels"]
    assert "Main federated held-out continuation results" in labels.values()
    assert all(file["labels"] and file["caption"] for file in results.values())
    assert {"report.html", "main_federated_results.html"} <= packed


def test_every_method_is_printed_and_every_dash_has_its_reason(run) -> None:
    reasons = set()
    for path in sorted((run.folder / "results" / "micro" / "tables").glob("*.parquet")):
        cells = read_parquet(path, TABLE_CELLS)
        assert len(cells), path.stem
        assert not cells[(cells["text"] == "–") & (cells["reason"] == "")].size, path.stem
        reasons |= set(cells["reason"])
        if path.stem == "main_federated_results":
            assert {"FedAvg", "Ditto", "FAVoR"} <= set(cells["row"])
    # Its folder is a place on this machine, which no table prints.
    assert "LUAR-MUD is not on this machine" in reasons


def test_nothing_is_left_to_do(run) -> None:
    assert "Nothing to be done" in run.snakemake(*MICRO).stdout


def test_a_residual_pack_holds_the_shared_endpoint_it_was_trained_on(run, seed_folder) -> None:
    track = track_of(run, seed_folder, "favor")
    pack, _ = read_pack(seed_folder / "favor/clients/last/batch0.safetensors")
    assert len(pack) == 4
    for client, parts in pack.items():
        assert set(parts) == {"endpoint", "residual"}
        endpoints = [read_pack(path)[0] for path in sorted(track.glob("clients/round*/*.endpoints.safetensors"))]
        (endpoint,) = [found[client]["endpoint"] for found in endpoints if client in found]
        assert all((parts["endpoint"][key] == endpoint[key]).all() for key in endpoint)
        assert any(parts["residual"][key].any() for key in endpoint)
        assert any((compose(parts)[key] != endpoint[key]).any() for key in endpoint)


def test_the_boundary_lists_what_crossed_and_what_stayed(run, seed_folder) -> None:
    boundary = read_parquet(run.folder / "results/micro/boundary.parquet", BOUNDARY)
    # Adapter deltas alone; the centralised reference hands over its texts.
    sent = boundary[boundary["direction"] == UP]
    assert set(sent.loc[sent["method"] != "pooled", "content"]) == {"delta"}
    assert set(sent.loc[sent["method"] == "pooled", "content"]) == {"text"}
    favor = boundary[boundary["method"] == "favor"]
    assert (favor["direction"] == "client_to_server").sum() == 4
    assert set(favor.loc[favor["direction"] == "stays_on_client", "content"]) == {"endpoint", "residual"}
    assert set(boundary.loc[boundary["method"] == "base_only", "direction"]) == set()
    # An upload counts as the adapter file it would be alone, a few hundred bytes of header apart from the pack's.
    pack = track_of(run, seed_folder, "favor") / "uploads/round0/batch0.safetensors"
    first = favor[(favor["direction"] == "client_to_server") & (favor["round"] == 0)]["bytes"].sum()
    assert first == pytest.approx(pack.stat().st_size, rel=0.2)


def test_deleted_and_truncated_files_are_made_again_with_the_same_bytes(run, seed_folder) -> None:
    """An upload, a pack in a chain of participations, and continuations cut short: all that follows is made again."""
    track = track_of(run, seed_folder, "fedavg")
    upload, adapter = track / "uploads/round0/batch0.safetensors", track / "server/round2/adapter.safetensors"
    pack, cut = seed_folder / "ditto/clients/round0/batch0.safetensors", seed_folder / "favor/generations.parquet"
    follows = [seed_folder / method / "generations.parquet" for method in ("fedavg", "ditto")]
    before = {path: digest(path) for path in (upload, adapter, pack, cut, *follows)}
    upload.unlink()
    pack.unlink()
    cut.write_bytes(cut.read_bytes()[:-50])
    targets = [str(path.relative_to(run.folder)) for path in before]
    output = run.snakemake(*MICRO, "--", *targets).stdout
    assert "generations.parquet: truncated; set aside" in output
    assert planned_jobs(output) == {"train_shared": 2, "aggregate": 2, "train_personal": 2, "generate": 3}
    assert {path: digest(path) for path in before} == before


def test_the_power_of_a_plan_reads_a_finished_run(run) -> None:
    found = measure(run.folder / "results" / "micro")
    assert (found["run"]["authors"], found["run"]["seeds"], found["run"]["prompts"]) == (4, 1, 2)
    # So small a model may write the same with every row; each measure has pairs of rows, or says why it has none.
    assert all(bool(entry.get("pairs")) != bool(entry.get("why_not")) for entry in found["measures"])


def test_neither_report_nor_annotators_page_names_an_author_and_no_text_is_published(run) -> None:
    results = run.folder / "results"
    # Without the prompt that its card quotes, as a release holds it.
    published = without_texts((results / "report.html").read_bytes()).decode()
    page = (results / "micro/studies/human_2afc/annotator_1.html").read_text()
    items = read_parquet(results / "micro/studies/human_2afc/items.parquet", HUMAN_2AFC_ITEMS)
    assert items["source"].value_counts().to_dict() == {"gold": 2, "ditto": 1, "favor": 1}
    shown = json.loads(page.split('id="data">')[1].split("</script>")[0])["items"]
    assert sorted(item["candidate"] for item in shown) == sorted(items["candidate"])
    authors = read_parquet(results / "corpora/micro/roster.parquet", ROSTER)["author"]
    assert not [name for name in authors if name in published]
    names = [*authors, *items["client"], *items["prompt_id"], "favor", "ditto"]
    assert not [name for name in names if name in page]
    quoted = read_parquet(results / "micro/tables/qualitative-appendix.parquet", TABLE_CELLS)["text"]
    texts = [
        *read_parquet(results / "micro/clients/texts.parquet", CLIENT_TEXTS)["text"],
        *items["candidate"],
        *(text for text in quoted if len(text) > 20),
    ]
    assert not [text for text in texts if text[:40] in published]
    assert "qualitative-appendix quotes texts and is not for publication" in published
    assert "no response files yet" in published


def test_every_definition_that_ran_is_in_its_rules_fingerprint_and_so_is_a_mutation_of_it(run, tmp_path) -> None:
    assert unforeseen(run.folder) == set()
    assert unnoticed_mutations(run.folder, tmp_path / "mutated.py") == []
