"""The metadata of a release: other people's readers open it, find every file, and read every table."""

import datetime
import hashlib
import io
import json
import os
from pathlib import Path

import mlcroissant
import pandas as pd
import pytest
from rocrate.rocrate import ROCrate

from favor.foundation.parquet import write_parquet
from favor.publish.bundle import collect, last_day, pack
from favor.publish.scan import Private
from favor.publish.settings import Release
from favor.scores.schemas import SCORES

RELEASE = Release(title="Voices of 2026", licence="CC-BY-4.0", creators=["Ann Example"])
PUBLISHED = RELEASE, datetime.date(2026, 11, 22)
ROW = {"seed": 1, "method": "favor", "encoder": "", "metric": "author_accuracy", "variant": "", "n": 48, "note": ""}


@pytest.fixture(scope="module")
def unpacked(repository, tmp_path_factory) -> tuple[Path, dict[str, bytes]]:
    """A release with one table, as its reader unpacks it, and its content by path."""
    results, folder = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("unpacked")
    table, page = results / "demo" / "scores" / "prototypes.parquet", results / "report.html"
    write_parquet(pd.DataFrame([ROW | {"value": 0.5}, ROW | {"value": 0.25, "seed": 2}]), table, SCORES)
    page.write_text("<p>0.5</p>")
    files = collect(results, [table, page], repository, {"results": "results"}, "", *PUBLISHED)
    pack(files, Private(["9000022"], ()), folder / "release.tar.gz")
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder, files


def test_croissants_own_reader_finds_nothing_wrong_and_reads_the_table(unpacked) -> None:
    dataset = mlcroissant.Dataset(jsonld=str(unpacked[0] / "croissant.json"))
    assert dataset.metadata.ctx.issues.report() == ""
    records = list(dataset.records("results/demo/scores/prototypes"))
    prefix = "results/demo/scores/prototypes/"
    assert [record[f"{prefix}value"] for record in records] == [0.5, 0.25]
    assert [record[f"{prefix}metric"] for record in records] == [b"author_accuracy"] * 2
    assert {name.removeprefix(prefix) for name in records[0]} == set(SCORES.names)
    described = json.loads(unpacked[1]["croissant.json"])
    fields = {field["name"]: field for field in described["recordSet"][0]["field"]}
    (meaning,) = (column.meaning for column in SCORES.columns if column.name == "value")
    assert fields["value"]["description"].startswith(meaning)
    assert (fields["value"]["dataType"], fields["seed"]["dataType"]) == ("sc:Float", "sc:Integer")
    (entry,) = described["distribution"]
    assert entry["sha256"] == hashlib.sha256(unpacked[1]["results/demo/scores/prototypes.parquet"]).hexdigest()


def test_the_crate_opens_and_describes_every_file(unpacked) -> None:
    folder, files = unpacked
    crate = ROCrate(str(folder))
    assert (crate.name, crate.root_dataset["datePublished"]) == ("Voices of 2026", "2026-11-22")
    assert crate.license["name"] == "CC-BY-4.0"
    assert [creator["name"] for creator in crate.creator] == ["Ann Example"]
    held = {entity.id: entity["sha256"] for entity in crate.data_entities}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert held.items() == sums.items() - {("ro-crate-metadata.json", sums["ro-crate-metadata.json"])}
    run = crate.get("#run")
    assert run["instrument"]["version"] == "1.1.0"
    assert {entity.id for entity in run["result"]} == {"results/demo/scores/prototypes.parquet", "results/report.html"}
    assert run["object"].id == "configuration.json"


def test_every_entity_of_the_crate_that_is_named_is_there(unpacked) -> None:
    """RO-Crate 1.2, "Root Data Entity" and "Linked data": a reference leads to an entity with a type."""
    graph = json.loads(unpacked[1]["ro-crate-metadata.json"])["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert len(entities) == len(graph)
    assert all("@type" in entity for entity in graph)
    assert {"name", "description", "datePublished", "license", "hasPart"} <= set(entities["./"])
    named = {
        value["@id"]
        for entity in graph
        for values in entity.values()
        for value in (values if isinstance(values, list) else [values])
        if isinstance(value, dict)
    }
    assert named - set(entities) == {"https://w3id.org/ro/crate/1.2"}


def test_equal_files_give_equal_metadata(unpacked, repository) -> None:
    results = unpacked[0] / "results"
    public = [results / "demo" / "scores" / "prototypes.parquet", results / "report.html"]
    assert collect(results, public, repository, {"results": "results"}, "", *PUBLISHED) == unpacked[1]


def test_the_day_is_that_of_the_newest_result(tmp_path) -> None:
    for name, second in (("a", 0), ("b", 86_400 * 366)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (second, second))
    assert last_day([tmp_path / "a", tmp_path / "b"]) == datetime.date(1971, 1, 2)


def test_rows_of_single_clients_stay_out(repository, tmp_path) -> None:
    path = tmp_path / "demo" / "scores" / "voice_kept.parquet"
    kept = ROW | {"metric": "kept_author_accuracy", "value": 0.5}
    lost = [ROW | {"metric": "margin_lost", "variant": f"client_{n:03d}", "value": 0.1} for n in (1, 2)]
    away = ROW | {"metric": "distance_from_mean", "variant": "client_001", "method": "source", "value": 0.2}
    write_parquet(pd.DataFrame([kept, *lost, away]), path, SCORES)
    files = collect(tmp_path, [path], repository, {"results": "results"}, "", *PUBLISHED)
    released = files["results/demo/scores/voice_kept.parquet"]
    assert pd.read_parquet(io.BytesIO(released))["metric"].tolist() == ["kept_author_accuracy"]
    assert len(pd.read_parquet(path)) == 4
    # The rest of the table is the file that it would be alone.
    write_parquet(pd.DataFrame([kept]), tmp_path / "alone.parquet", SCORES)
    assert released == (tmp_path / "alone.parquet").read_bytes()
