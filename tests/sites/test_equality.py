"""Sites, each in a folder of its own, end in the bytes of the workflow's own run of the same texts."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from tests.sites.conftest import CLIENTS, METHODS
from tests.sites.eavesdropper import overheard, secrets

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.client_archive import read_packs
from favor.federation.communication_record import STAYS
from favor.federation.exchange import parted
from favor.federation.schemas import BOUNDARY
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors
from favor.plan.keys import Key

pytestmark = pytest.mark.slow(72)


def equal(left, right) -> bool:
    """Whether two sets of named arrays hold the same names, types and bytes."""
    return sorted(left) == sorted(right) and all(
        np.asarray(left[name]).dtype == np.asarray(right[name]).dtype
        and np.asarray(left[name]).tobytes() == np.asarray(right[name]).tobytes()
        for name in left
    )


@pytest.mark.parametrize("method", METHODS)
def test_sites_end_in_the_bytes_of_the_simulation(method, simulation, federation) -> None:
    run, made = simulation.run(method), federation(method)
    training, paths = simulation.planner.training, simulation.planner.paths
    stage = simulation.planner.project.plan(run).shared
    # The texts that everybody trains on are the workflow's.
    texts = read_parquet(simulation.at(paths.texts.of(run)), CLIENT_TEXTS)
    for client in CLIENTS:
        own = read_parquet(made.site(client) / "texts.parquet", CLIENT_TEXTS)
        assert own.equals(texts[texts["client"] == client].reset_index(drop=True))
    cohorts = training.rounds("micro", "1", stage.sampling)
    for number, cohort in enumerate(cohorts):
        sent = made.opened if number == 0 else made.open()
        uploads = [made.train(client, sent) for client in cohort]
        theirs = read_packs(str(simulation.at(path)) for path in training.round_uploads(run, number))
        for client, own in zip(cohort, uploads, strict=True):
            assert equal(theirs[client][stage.content], read_packs([own])[client][stage.content])
        made.close(*uploads)
        # The server's adapter is the very file of the workflow.
        expected = simulation.at(training.server_adapter(run, number + 1))
        assert (made.server / "state" / f"{number + 1}.safetensors").read_bytes() == expected.read_bytes()
    ended = made.finish()
    theirs = read_parquet(simulation.at(paths.boundary.of(Key(experiment="micro"))), BOUNDARY)
    theirs = theirs[(theirs["method"] == method) & (theirs["direction"] != STAYS)]
    crossed = read_parquet(made.server / "boundary.parquet", BOUNDARY)
    columns = ["round", "direction", "content", "client", "bytes"]
    assert crossed[columns].reset_index(drop=True).equals(theirs[columns].reset_index(drop=True))
    recipients = set(crossed.loc[crossed["content"] == "final adapter", "client"])
    manifest = made.folder / "manifest"
    manifest.mkdir()
    shutil.copyfile(ended / "manifest.json", manifest / "manifest.json")
    for client in CLIENTS:
        out = made.folder / client / "adapter"
        with made.alone(client):
            if client in recipients:
                with pytest.raises(SystemExit, match=r"holds no adapter\.safetensors, which you need"):
                    made.favor("site", "export", made.site(client), manifest, out)
            made.favor("site", "export", made.site(client), ended if client in recipients else manifest, out)
        if method == "fedalt":  # it has no plain adapter; its own adapter and gate are compared
            kept = read_packs(str(simulation.at(path)) for path in training.bundles(run))[client]
            assert equal(kept["endpoint"], read_safetensors(out / "own" / "adapter_model.safetensors")[0])
            assert equal(kept["gate"], read_safetensors(out / "gate.safetensors")[0])
            continue
        for name in ("adapter_model.safetensors", "adapter_config.json"):
            expected = simulation.at(paths.peft_folder.of(run)) / client / name
            assert (out / name).read_bytes() == expected.read_bytes()
    # Whoever reads all that crossed finds no text, target or private tensor of anybody.
    for client in CLIENTS:
        assert len(list(secrets(made.site(client), stage, simulation.authors[client]))) > 100
        assert overheard(made.crossed, made.site(client), stage, simulation.authors[client]) == []


def test_scaffold_begins_as_fedavg_and_leaves_it(simulation) -> None:
    # The clients of FedAdam are FedAvg's.
    run, plain = simulation.run("scaffold"), simulation.run("fedadam")
    training = simulation.planner.training
    for number, begins in enumerate((True, False)):
        packs = []
        for one in (run, plain):
            files = training.round_uploads(one, number)
            packs.append(read_packs(str(simulation.at(path)) for path in files))
        for client, parts in packs[0].items():
            delta, change = parted(parts["delta and change of state"])
            assert equal(delta, packs[1][client]["delta"]) == begins
            assert delta.keys() == change.keys()
