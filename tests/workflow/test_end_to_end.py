"""The whole workflow for real, at its smallest: results, resumption with the same bytes, and recovery from damage."""

import json
import re
import zipfile
from pathlib import Path

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
from tests.workflow.conftest import Project
from tests.workflow.traced import unforeseen, unnoticed_mutations

pytestmark = pytest.mark.slow(115)

MICRO = ("--configfile", "micro.yaml")


@pytest.fixture(scope="module")
def run(micro, tmp_path_factory) -> Project:
    project = micro.copy(tmp_path_factory.mktemp("run") / "project", traced=True)
    exports = [f"results/micro/seed1/{method}/clients/peft" for method in ("favor", "feddpa")]
    project.snakemake(*MICRO, "--", "all", "check", *exports)
    assert "Nothing to be done" in project.snakemake(*MICRO).stdout
    return project


def favors_track(run) -> Path:
    settings = json.loads((run.folder / "results/micro/settings.json").read_text())
    track = SharedStage.of(settings["methods"]["favor"]["plan"]["shared"]).track
    return run.folder / "results/micro/seed1/shared" / track


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


def test_a_residual_pack_holds_the_shared_endpoint_it_was_trained_on(run) -> None:
    track = favors_track(run)
    pack, _ = read_pack(run.folder / "results/micro/seed1/favor/clients/last/batch0.safetensors")
    assert len(pack) == 4
    for client, parts in pack.items():
        assert set(parts) == {"endpoint", "residual"}
        endpoints = [read_pack(path)[0] for path in sorted(track.glob("clients/round*/*.endpoints.safetensors"))]
        (endpoint,) = [found[client]["endpoint"] for found in endpoints if client in found]
        assert all((parts["endpoint"][key] == endpoint[key]).all() for key in endpoint)
        assert any(parts["residual"][key].any() for key in endpoint)
        assert any((compose(parts)[key] != endpoint[key]).any() for key in endpoint)


def test_the_boundary_lists_what_crossed_and_what_stayed(run) -> None:
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
    pack = favors_track(run) / "uploads/round0/batch0.safetensors"
    first = favor[(favor["direction"] == "client_to_server") & (favor["round"] == 0)]["bytes"].sum()
    assert first == pytest.approx(pack.stat().st_size, rel=0.2)


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
