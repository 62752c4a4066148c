"""The workflow's own run of a small federation, and the same clients each in a folder of its own."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.once import made_once
from tests.workflow.conftest import Project, copy_project

from favor import cli
from favor.config.resolve import resolve
from favor.corpora.schemas import ALLOCATION, ROSTER
from favor.federation.client_archive import read_pack, write_pack
from favor.foundation.parquet import read_parquet
from favor.plan import Planner
from favor.plan.keys import Key, run_key
from favor.sites import uploads as site_uploads
from favor.sites.signing import secret_key, signature

METHODS = ("favor", "ditto", "fedsa_lora", "apfl", "flexlora", "fedalt", "feddpa", "fedadam", "scaffold")
CLIENTS = ("client_001", "client_002", "client_003")


@dataclass(frozen=True)
class Simulation:
    """A finished run of the workflow: its project, and who wrote what."""

    project: Project
    config: dict[str, Any]
    planner: Planner
    authors: dict[str, str]
    words: dict[str, int]

    def run(self, method) -> Key:
        return run_key("micro", "1", method)

    def at(self, path) -> Path:
        return self.project.folder / path


def small(repository, model_folder) -> dict[str, Any]:
    """Three clients, two of whom take part in each of two rounds; every client trains in a job of its own.

    The style encoder is stylometry, whose vector of a text is the same bytes whatever it is encoded with.
    """
    config = yaml.safe_load((repository / "tests" / "data" / "micro.yaml").read_text())
    experiment = config["experiments"]["micro"]
    config["corpora"]["micro"]["roles"]["clients"] = len(CLIENTS)
    config["base_models"] = {"micro": {"source": str(model_folder), "device": "cpu"}}
    config["encoders"] = {name: config["encoders"][name] for name in ("stylometry", "minilm")}
    del config["assistants"]
    experiment["style_encoder"] = "stylometry"
    experiment["federation"] = {"rounds": 2, "clients_per_round": 2, "clients_per_job": 1, "weighting": "words"}
    experiment["evaluation"] = {"encoders": [], "semantic_encoder": "minilm"}
    experiment["training"]["max_length"] = 48
    experiment["methods"] = {name: {} for name in METHODS}
    experiment["tables"] = []
    experiment["allocation"] = {"total_words": 2500}
    del experiment["studies"]
    return config


@pytest.fixture(scope="session")
def simulation(repository, model_folder, tmp_path_factory) -> Simulation:
    """The workflow's own run, by Snakemake: adapters of every method, and what crossed."""

    def make(folder) -> None:
        project = copy_project(repository, folder)
        config = small(repository, model_folder)
        (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))
        planner = Planner(resolve(config), repository)
        wanted = [planner.paths.boundary.of(Key(experiment="micro"))]
        for method in METHODS:
            run = run_key("micro", "1", method)
            peft = [] if method == "fedalt" else [planner.paths.peft_folder.of(run)]
            wanted += [*peft, *planner.training.adapters(run)]
        project.snakemake("--", *dict.fromkeys(wanted))

    project = Project(made_once(tmp_path_factory, "simulation", make))
    config = yaml.safe_load((project.folder / "config" / "config.yaml").read_text())
    roster = read_parquet(project.folder / "results/corpora/micro/roster.parquet", ROSTER)
    allocation = read_parquet(project.folder / "results/micro/clients/allocation.parquet", ALLOCATION)
    authors = roster[roster["client"] != ""].set_index("client")["author"].to_dict()
    words = allocation.set_index("client")["target_words"].astype(int).to_dict()
    return Simulation(project, config, Planner(resolve(config), repository), authors, words)


@dataclass(frozen=True)
class Federation:
    """A coordinator and its sites under ``folder``, each with a configuration, results and corpus of its own."""

    folder: Path
    method: str
    favor: Callable[..., str]

    @property
    def server(self) -> Path:
        return self.folder / "coordinator" / "server"

    @property
    def opened(self) -> Path:
        """What the clients of the first round were sent."""
        return self.folder / "carrier" / "coordinator" / "server" / "rounds" / "0"

    @property
    def crossed(self) -> list[Path]:
        """Every file that was carried from one party to another."""
        return [path for path in sorted((self.folder / "carrier").rglob("*")) if path.is_file()]

    def carry(self, path) -> Path:
        """Copy what crosses to where the other party finds it, and where an eavesdropper reads it."""
        there = self.folder / "carrier" / path.relative_to(self.folder)
        there.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, there)
        return there

    @contextmanager
    def alone(self, party) -> Iterator[None]:
        """Nobody else's folder can be found: what is done here is done from this party's own files."""
        others = [self.folder / name for name in ("coordinator", *CLIENTS) if name != party]
        others = [folder for folder in others if folder.is_dir()]
        for folder in others:
            folder.rename(folder.with_suffix(".away"))
        try:
            yield
        finally:
            for folder in others:
                folder.with_suffix(".away").rename(folder)

    def site(self, client) -> Path:
        return self.folder / client / "site"

    def config(self, party) -> Path:
        return self.folder / party / "config.yaml"

    def open(self) -> Path:
        """Open the next round; what its clients are sent."""
        first = [] if self.server.is_dir() else [self.config("coordinator"), "--method", self.method]
        with self.alone("coordinator"):
            printed = self.favor("server", "open", self.server, *first)
        return self.carry(Path(printed.split(": send ")[-1].split(" to ")[0]))

    def join(self, client, *more) -> str:
        """Make a client's folder a site, and take its key to the coordinator."""
        carried = self.folder / "carrier" / "coordinator" / "server" / "invitation.json"
        invitation = carried if carried.is_file() else self.carry(self.server / "invitation.json")
        invited = ("--invitation", invitation, "--client", client)
        with self.alone(client):
            said = self.favor("site", "init", self.site(client), self.config(client), *invited, *more)
        shutil.copyfile(self.carry(self.site(client) / "site.json"), self.server / "sites" / f"{client}.json")
        return said

    def train(self, client, sent) -> Path:
        """Train a round at a site; the upload."""
        with self.alone(client):
            printed = self.favor("site", "train", self.site(client), sent)
        return self.carry(Path(printed.split("; send ")[-1].split(" to ")[0]))

    def close(self, *uploads) -> str:
        with self.alone("coordinator"):
            return self.favor("server", "close", self.server, *uploads)

    def finish(self) -> Path:
        """End the federation; the final adapter, carried."""
        with self.alone("coordinator"):
            self.favor("server", "export", self.server)
        return self.carry(self.server / "final")


@pytest.fixture
def favor(monkeypatch, capsys) -> Callable[..., str]:
    """The command ``favor``; returns what it prints. Raises ``SystemExit`` with its one line where it stops."""

    def run(*arguments) -> str:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["favor", *map(str, arguments)])
        cli.main()
        return capsys.readouterr().out.strip()

    return run


@pytest.fixture
def federation(simulation, tmp_path, favor) -> Callable[..., Federation]:
    """Makes a federation of a method; every site has its own author's posts and no other."""
    raw = pd.read_csv(simulation.at("results/corpora/micro/raw.csv"), dtype=str, keep_default_na=False)

    def make(method, change=None, words=True, at=tmp_path) -> Federation:
        found = Federation(at / method, method, favor)
        for party in ("coordinator", *CLIENTS):
            config = yaml.safe_load(yaml.safe_dump(simulation.config))
            place = found.folder / party
            shutil.copytree(simulation.at("results/encoders/stylometry"), place / "results/encoders/stylometry")
            config["results"] = str(place / "results")
            if party != "coordinator":
                del config["corpora"]["micro"]["demo"]
                config["corpora"]["micro"]["path"] = str(place / "posts.csv")
                raw[raw["id"] == simulation.authors[party]].to_csv(place / "posts.csv", index=False)
            if change is not None:
                change(party, config)
            (place / "config.yaml").write_text(yaml.safe_dump(config))
        found.open()
        for client in CLIENTS:
            found.join(client, *(["--words", simulation.words[client]] if words else []))
        return found

    return make


def cohort_of(opened) -> list[str]:
    """The clients that an opened round is for."""
    found: list[str] = json.loads((opened / "manifest.json").read_text())["signed"]["cohort"]
    return found


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Path:
    """Where the federation of ``trained`` lies: its configurations and settings name it."""
    found: Path = tmp_path_factory.mktemp("trained")
    return found


@pytest.fixture
def trained(federation, favor, place) -> tuple[Federation, list[str], list[Path]]:
    """FedSA-LoRA with the first round trained: the federation, its cohort, and their uploads.

    It is made once, kept, and put back for every test.
    """
    made, kept = Federation(place / "fedsa_lora", "fedsa_lora", favor), place / "kept"
    if kept.is_dir():
        shutil.rmtree(made.folder)
        shutil.copytree(kept, made.folder)
    else:
        federation("fedsa_lora", at=place)
        for client in cohort_of(made.opened):
            made.train(client, made.opened)
        shutil.copytree(made.folder, kept)
    cohort = cohort_of(made.opened)
    uploads = (next((made.folder / "carrier" / client).rglob("round0_*.safetensors")) for client in cohort)
    return made, cohort, list(uploads)


def refused(favor, *arguments) -> str:
    """The one line with which a command stops."""
    with pytest.raises(SystemExit) as stopped:
        favor(*arguments)
    line = str(stopped.value.code)
    assert line.startswith("error: ")
    assert "\n" not in line
    return line


def forged(site, upload, change=None, about=None) -> Path:
    """An upload that the site itself signs after ``change`` of its tensors and header ``about``."""
    pack, header = read_pack(upload)
    ((client, parts),) = pack.items()
    ((content, state),) = parts.items()
    state = {name: np.array(value) for name, value in state.items()}
    header = {name: value for name, value in header.items() if name not in ("signature", "clients")} | (about or {})
    if change is not None:
        change(state)
    tensors = {f"{client}/{content}/{name}": value for name, value in state.items()}
    header["signature"] = signature(secret_key(site / "key"), site_uploads._signed(header, tensors))
    path = upload.with_name(f"forged_{upload.name}")
    write_pack(path, {client: {content: state}}, header)
    return path
