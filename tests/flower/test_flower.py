"""Rounds over Flower, with a real SuperLink and two SuperNodes, are the rounds by files."""

from __future__ import annotations

import json
import shutil
import tomllib

from tests.flower.conftest import SITES
from tests.sites.eavesdropper import overheard, secrets
from tests.sites.walk import blocks

from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.sites.agreement import stages


def ends(folder) -> dict[str, bytes]:
    """What a federation makes: adapters of the server and the sites, uploads, what stays at the sites."""
    made = ("state/*", "uploads/*/*", "final/*", "boundary.parquet")
    patterns = [*(f"server/{each}" for each in made), "*/rounds/*/*.safetensors", "*/adapter/*"]
    files = [path for pattern in patterns for path in folder.glob(pattern) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def assert_same_end(folder, other) -> None:
    found, expected = ends(folder), ends(other)
    assert len(expected) > 15
    assert {name for name in {*found, *expected} if found.get(name) != expected.get(name)} == set()


def test_the_page_and_the_bridge_name_the_same_versions(repository) -> None:
    project = tomllib.loads((repository / "bridges/flower/pyproject.toml").read_text())["project"]
    assert f'"{project["dependencies"][0]}"' in blocks(repository, "bash")[1][0]


def test_flower_carries_the_bytes_of_the_walk_and_nothing_private(flower, prepared, by_files) -> None:
    made = flower(prepared)
    made.start_all()
    log = made.finish()
    for client, _ in SITES.values():
        assert f"{client} has its adapter" in log
    assert_same_end(made.folder, by_files)
    recorded = b"".join(path.read_bytes() for path in made.recorder.files)
    stage = stages(json.loads((made.folder / "server" / "server.json").read_text())["agreement"])[0]
    for name, (client, author) in SITES.items():
        for number in (0, 1):  # the recorder hears what does cross
            upload = made.folder / "server" / "uploads" / str(number) / f"{client}.safetensors"
            assert upload.read_bytes() in recorded
        assert len(list(secrets(made.folder / name, stage, author))) > 100
        assert overheard(made.recorder.files, made.folder / name, stage, author) == []


def test_with_certificates_and_keys_of_nodes_what_crosses_cannot_be_read(flower, in_round_two, by_files) -> None:
    made = flower(in_round_two, secured=True)
    made.start_all()
    made.finish()
    assert_same_end(made.folder, by_files)
    upload = read_safetensors(made.folder / "server" / "uploads" / "1" / "client_001.safetensors")[0]
    recorded = b"".join(path.read_bytes() for path in made.recorder.files)
    assert len(recorded) > sum(value.nbytes for value in upload.values())
    assert not [name for name, value in upload.items() if value.tobytes() in recorded]


def test_a_node_without_a_known_key_is_turned_away(flower, in_round_two) -> None:
    made = flower(in_round_two, secured=True)
    made.commands["register"] = made.commands["register"].replace("flwr supernode register bert/node.pub here", "")
    made.start("superlink")
    made.until(lambda: "Uvicorn running" in made.log("superlink"))
    assert made.start("register").wait(120) == 0
    made.start("bert")
    made.until(lambda: made.running["bert"].poll() is not None)
    assert "SuperNode ID" not in made.log("bert")


def test_a_node_that_is_killed_in_round_two_resumes(flower, in_round_two, by_files) -> None:
    made = flower(in_round_two)
    made.start_all()
    run = made.start("run")
    made.until((made.folder / "bert" / "received" / "round1" / "adapter.safetensors").is_file)
    made.kill("bert")
    assert not (made.folder / "bert" / "uploads" / "round1_client_002.safetensors").is_file()
    made.start("bert")
    run.wait(600)
    assert "lost: " in made.log("run")
    assert_same_end(made.folder, by_files)


def test_a_superlink_that_is_killed_goes_on_with_its_database(flower, in_round_two, by_files) -> None:
    made = flower(in_round_two)
    made.start_all()
    made.start("run")
    made.until((made.folder / "bert" / "received" / "round1" / "adapter.safetensors").is_file)
    made.kill("superlink")
    made.kill("run")
    assert not (made.folder / "server" / "traffic" / "1.parquet").is_file()
    made.start("superlink")
    made.until(lambda: made.log("superlink").count("Uvicorn running") == 2)
    made.finish()
    assert_same_end(made.folder, by_files)


def test_a_site_with_another_base_is_refused(flower, in_round_two) -> None:
    made = flower(in_round_two)
    settings = made.folder / "bert" / "settings.json"
    record = json.loads(settings.read_text())
    shutil.copytree(made.folder / record["model"]["source"], made.folder / "other")
    tensors, header = read_safetensors(made.folder / "other" / "model.safetensors")
    twice = {name: value * 2 for name, value in tensors.items()}
    write_safetensors(twice, made.folder / "other/model.safetensors", header)
    settings.write_text(json.dumps({**record, "model": {**record["model"], "source": "other"}}))
    made.start_all()
    log = made.finish()
    assert "client_002: manifest.json: base: " in log
    assert "; take what the federation agreed on" in log
    assert str(made.folder) not in log.partition("client_002: manifest.json")[2].partition("\n")[0]
    assert not (made.folder / "bert" / "uploads" / "round1_client_002.safetensors").is_file()
    assert not (made.folder / "server" / "traffic" / "1.parquet").is_file()
