"""Whatever does not match is refused in one line that says what differs."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import yaml
from tests.sites.conftest import CLIENTS, cohort_of, forged, refused
from tests.sites.eavesdropper import overheard

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.client_archive import read_pack
from favor.federation.method import SharedStage
from favor.federation.schemas import TRAFFIC
from favor.federation.server import step
from favor.federation.uploads import cohort_sum, mean_of_sum, read_uploads, rounded
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.sites.manifest import ADAPTER
from favor.sites.signing import file_digest, secret, secret_normal

pytestmark = pytest.mark.slow(60)


def test_an_upload_that_its_plan_does_not_declare_is_refused(trained, favor) -> None:
    made, cohort, (first, second) = trained
    site = made.site(cohort[0])
    private = read_pack(site / "rounds" / "0" / "endpoints.safetensors")[0][cohort[0]]["endpoint"]
    name = next(name for name in private if ".lora_B." in name)
    declared = next(name for name in private if ".lora_A." in name)

    def not_a_number(state) -> None:
        state[declared][0, 0] = np.nan

    wide = {"change": lambda state: state.update({declared: state[declared].astype("float64")})}
    changes = {
        f"tensor '.*{name}' is not declared": {"change": lambda state: state.update({name: private[name]})},
        f"tensor '.*{declared}' is missing": {"change": lambda state: state.pop(declared)},
        f"tensor '.*{declared}' is .*float64.* and .*float32.* is declared": wide,
        f"tensor '{declared}' of the upload has NaN.*leave the client out .*close --without\\)": {
            "change": not_a_number
        },
        "base: [0-9a-f]{24}.* here, 0000 there": {"about": {"base": "0000"}},
        "round: 0 here, 7 there": {"about": {"round": "7"}},
        "elsewhere: None here": {"about": {"elsewhere": "{}"}},
        "manifest: .* here, 00 there": {"about": {"manifest": "00"}},
    }
    for line, forgery in changes.items():
        assert re.search(line, refused(favor, "server", "close", made.server, forged(site, first, **forgery)))
    # Changed on the way: one number of a tensor, after the site signed it.
    content = bytearray(first.read_bytes())
    content[-2] ^= 1
    tampered, half = (first.with_name(f"{name}.safetensors") for name in ("tampered", "half"))
    tampered.write_bytes(content)
    assert "its signature is wrong" in refused(favor, "server", "close", made.server, tampered)
    # Another site cannot send for it, and a file that breaks off is no upload.
    other = forged(made.site(cohort[1]), first)
    assert "its signature is wrong" in refused(favor, "server", "close", made.server, other)
    half.write_bytes(first.read_bytes()[:-5])
    assert "not a complete safetensors file" in refused(favor, "server", "close", made.server, half)
    # Nothing of it was taken, and the round closes with what the sites meant to send.
    assert not (made.server / "uploads").exists()
    assert f"waits for {cohort[1]}" in refused(favor, "server", "close", made.server, first)
    assert "round 0 is closed" in made.close(second)


def test_a_late_upload_is_refused_and_leaves_nothing(trained, favor) -> None:
    made, cohort, sent = trained
    agreed = json.loads((made.opened / "manifest.json").read_text())["signed"]["agreement"]
    late = next(client for client in cohort if client in agreed["cohorts"][1])
    answered = next(client for client in cohort if client != late)
    uploads = dict(zip(cohort, sent, strict=True))
    line = refused(favor, "server", "close", made.server, uploads[answered], "--without", answered)
    assert "has sent its upload" in line
    assert "round 0 is closed" in made.close("--without", late)
    # The mean is over those who answered: one upload, with all the weight.
    before, after = (read_safetensors(made.server / "state" / f"{number}.safetensors")[0] for number in (0, 1))
    delta = read_pack(uploads[answered])[0][answered]["delta"]
    for name in delta:
        assert np.array_equal(after[name], (before[name].astype("float64") + delta[name]).astype("float32"))
    assert "late: its round is closed" in refused(favor, "server", "close", made.server, uploads[late])
    opened = made.open()
    line = refused(favor, "server", "close", made.server, uploads[late])
    assert f"{late}: late: round 0 is closed, and round 1 is open" in line
    # What it trained too late is carried over no more than if it had never trained.
    fresh = made.folder / "fresh"
    shutil.copytree(made.site(late), fresh, ignore=shutil.ignore_patterns("rounds", "uploads"))
    favor("site", "train", fresh, opened)
    upload = made.train(late, opened)
    assert upload.read_bytes() == (fresh / "uploads" / upload.name).read_bytes()


def test_what_came_late_in_the_last_round_is_not_exported(federation, favor) -> None:
    made = federation("favor")
    first, last = json.loads((made.opened / "manifest.json").read_text())["signed"]["agreement"]["cohorts"]
    late, before = next(client for client in last if client in first), made.folder / "before"
    made.close(*(made.train(client, made.opened) for client in first))
    opened = made.open()
    shutil.copytree(made.site(late), before)
    uploads = {client: made.train(client, opened) for client in last}
    del uploads[late]
    made.close(*uploads.values(), "--without", late)
    ended = made.finish()
    adapters = []
    for site in (made.site(late), before):
        favor("site", "export", site, ended, site / "out")
        adapters.append((site / "out" / "adapter_model.safetensors").read_bytes())
    assert adapters[0] == adapters[1]


def test_a_site_trains_what_it_agreed_to_and_nothing_else(trained, favor) -> None:
    made, cohort, _ = trained
    absent = next(client for client in CLIENTS if client not in cohort)
    assert f"{absent} does not take part in round 0" in refused(favor, "site", "train", made.site(absent), made.opened)
    site, (manifest, adapter) = made.site(cohort[0]), (made.opened / name for name in ("manifest.json", ADAPTER))
    assert "kind: final here, round there" in refused(favor, "site", "export", site, made.opened, made.folder / "out")
    content, text = bytearray(adapter.read_bytes()), manifest.read_text()
    content[-1] ^= 1
    for part in (content, content[:-9]):
        adapter.write_bytes(part)
        said = refused(favor, "site", "train", site, made.opened)
        assert "adapter.safetensors: cut, or not the file that manifest.json is of; ask the coordinator" in said
    manifest.write_text(text.replace('"learning_rate": 0.002', '"learning_rate": 0.2'))
    assert text != manifest.read_text()
    assert "its signature is wrong" in refused(favor, "site", "train", site, made.opened)


def test_a_signed_file_in_the_place_of_another_is_refused(trained, favor) -> None:
    made, cohort, (first, _) = trained
    client = cohort[0]
    begun = ("site", "init", made.folder / "again", made.config(client), "--client", client, "--invitation")
    assert "key 'signed.agreement': Field required" in refused(favor, *begun, made.site(client) / "site.json")
    broken = made.folder / "broken.json"
    broken.write_text((made.server / "invitation.json").read_text().replace('"seed": 1', '"seed": NaN'))
    assert "key 'signed.agreement.seed': Input should be a valid integer" in refused(favor, *begun, broken)
    assert not (made.folder / "again").exists()
    shutil.copyfile(made.server / "invitation.json", made.server / "sites" / "wrong.json")
    assert "key 'signed.client': Field required" in refused(favor, "server", "close", made.server, first)


def test_another_base_or_configuration_is_refused_when_a_site_begins(federation, model_folder, tmp_path, favor) -> None:
    other = tmp_path / "other"
    shutil.copytree(model_folder, other)
    content = bytearray((other / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (other / "model.safetensors").write_bytes(content)

    def another_base(party, config) -> None:
        if party == "client_002":
            config["base_models"]["micro"]["source"] = str(other)

    def another_rate(party, config) -> None:
        if party == "client_002":
            config["experiments"]["micro"]["training"]["learning_rate"] = 0.01

    for change, line in (
        (another_base, "invitation.json: base: [0-9a-f]{24}.* here, [0-9a-f]{24}.* there"),
        (another_rate, r"invitation.json: personal.training.learning_rate: 0.01 here, 0.002 there; shared.training"),
    ):
        with pytest.raises(SystemExit, match=line):
            federation("favor" if change is another_rate else "fedsa_lora", change)
        shutil.rmtree(tmp_path / "fedsa_lora", ignore_errors=True)


def test_what_needs_a_federation_in_one_place_is_refused(simulation, tmp_path, favor) -> None:
    section = {"federation": {}, "rows": {"fedsa_lora": {}, "local_only": {}}}
    attack = {"federation": {"attack": {"kind": "flip", "share": 0.25}}, "rows": {"fedsa_lora": {}}}
    for change, method, line in (
        ({"federation": {"aggregation": "sum_only"}}, "fedsa_lora", "'sum_only' stands for cryptography"),
        ({"federation": {"answers": 0.5}}, "fedsa_lora", "real sites answer or do not"),
        ({"federation": {"ranks": [1, 2]}}, "fedsa_lora", "all sites of a round are sent one adapter file; set null"),
        (attack, "fedsa_lora", "attacks are simulated, not made by real sites"),
        ({"task": "rewrite"}, "fedsa_lora", "sites train on texts to continue"),
        ({}, "local_only", "its clients send nothing to a server"),
        ({"rows": {"fedex_lora": {}}}, "fedex_lora", "its server sends more than an adapter"),
        ({}, "none", "has no row 'none'"),
    ):
        config = yaml.safe_load(yaml.safe_dump(simulation.config))
        experiment, changed = config["experiments"]["micro"], section | change
        if "task" in change:
            experiment["task"] = change["task"]
            experiment["evaluation"]["likelihood"] = experiment["prompts"]["common"] = None
        experiment["federation"] |= changed["federation"]
        experiment["methods"] = changed["rows"]
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
        opened = ("server", "open", tmp_path / "server", tmp_path / "config.yaml", "--method", method)
        assert line in refused(favor, *opened)
        assert not (tmp_path / "server").exists()


def test_a_full_disk_leaves_no_empty_key(tmp_path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            secret(tmp_path / "key")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(secret(tmp_path / "key")) == 32
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_noise_comes_from_a_secret_of_the_coordinator(federation) -> None:
    def private(party, config) -> None:
        federation = config["experiments"]["micro"]["federation"]
        config["experiments"]["micro"]["methods"] = {"fedsa_lora": {}}
        federation |= {"privacy": {"clip": 0.1, "noise_multiplier": 1.0}, "weighting": "uniform"}

    made = federation("fedsa_lora", private)
    manifest = json.loads((made.opened / "manifest.json").read_text())["signed"]
    sent = [made.train(client, made.opened) for client in manifest["cohort"]]
    made.close(*sent)
    stage = SharedStage.of(manifest["agreement"]["shared"]["stage"])
    uploads = read_uploads([str(path) for path in sent], stage, 0)
    before, after = (read_safetensors(made.server / "state" / f"{number}.safetensors")[0] for number in (0, 1))
    total = cohort_sum(uploads, replace(stage, privacy=None), 0, 0)
    of = {path.stem.partition("_")[2]: file_digest(path) for path in sent}
    for kept, files, same in (
        (secret(made.server / "noise"), of, True),
        (bytes(32), of, False),
        (secret(made.server / "noise"), of | {manifest["cohort"][0]: "0" * 64}, False),
    ):
        noisy = {
            name: total[name]
            + 0.1 * secret_normal(kept, ["privacy noise", stage.track, 0, name, files], total[name].shape)
            for name in total
        }
        expected, _ = step(stage.server, before, {}, mean_of_sum(noisy, 0.0, stage), 1.0)
        assert all(np.array_equal(after[name], expected[name]) for name in after) == same
    # Of an upload that is longer than the clip the noise says nothing.
    opened = made.open()
    client, other = cohort_of(opened)
    sent = made.train(client, opened)
    long = forged(made.site(client), sent, lambda state: [value.fill(1) for value in state.values()])
    assert "its norm is" in refused(made.favor, "server", "close", made.server, long)
    for path in (made.server / "noise", made.server / "key", made.site("client_001") / "key"):
        assert path.stat().st_mode & 0o777 == 0o600
        assert not [file for file in made.crossed if path.read_bytes() in file.read_bytes()]
    (made.server / "noise").unlink()
    assert f"{made.server / 'noise'}: file not found; another" in made.close(sent, made.train(other, opened))


def test_an_eavesdropper_would_find_what_leaks(trained, simulation, tmp_path) -> None:
    made, cohort, sent = trained
    site, client = made.site(cohort[0]), cohort[0]
    stage = simulation.planner.project.plan(simulation.run("fedsa_lora")).shared
    assert overheard(made.crossed, site, stage, simulation.authors[client]) == []
    for leak in ("rounds/0/endpoints.safetensors", "key", "texts.parquet"):
        content = (site / leak).read_bytes()
        if leak == "texts.parquet":
            content = read_parquet(site / leak, CLIENT_TEXTS)["text"].iloc[0].encode()
        (tmp_path / "leak").write_bytes(sent[0].read_bytes() + content)
        assert overheard([tmp_path / "leak"], site, stage, simulation.authors[client])


def test_a_site_that_is_killed_resumes_with_the_same_bytes(federation, repository) -> None:
    made = federation("ditto")
    site = made.site(cohort_of(made.opened)[0])
    shutil.copytree(site, site.with_name("undisturbed"))
    command = [sys.executable, "-m", "favor.cli", "site", "train", str(site), str(made.opened)]
    environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
    for moment in ("endpoints", "personal"):
        running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 1800
        while not (site / "rounds" / "0" / f"{moment}.safetensors").is_file():
            assert running.poll() is None or (site / "uploads").is_dir()
            assert time.monotonic() < deadline
            time.sleep(0.002)
        running.send_signal(signal.SIGKILL)
        running.wait()
    for place in (site, site.with_name("undisturbed")):
        made.favor("site", "train", place, made.opened)
    files = [
        path.relative_to(site)
        for path in sorted(site.rglob("*"))
        if path.is_file() and ".favor-partial" not in path.name and path.name != "log.jsonl"
    ]
    assert any("uploads" in str(path) for path in files)
    for path in files:
        assert (site / path).read_bytes() == (site.with_name("undisturbed") / path).read_bytes(), path


def test_sites_send_whole_numbers_where_uploads_have_fewer_bits(federation, favor) -> None:
    def change(_party, config) -> None:
        config["experiments"]["micro"]["federation"] |= {"upload_bits": 8, "weighting": "uniform"}
        config["experiments"]["micro"]["methods"] = {"fedsa_lora": {}}  # others send no update, or more

    made = federation("fedsa_lora", change)
    uploads = {client: made.train(client, made.opened) for client in cohort_of(made.opened)}
    sent = {client: read_pack(path)[0][client]["delta"] for client, path in uploads.items()}
    client, path = next(iter(uploads.items()))
    name = next(name for name in sent[client] if not name.endswith(".step"))
    whole = forged(made.site(client), path, lambda state: state.update({name: state[name].astype("float32")}))
    assert "'float32'" in refused(favor, "server", "close", made.server, whole)
    endless = forged(made.site(client), path, lambda state: state[f"{name}.step"].fill(np.inf))
    line = refused(favor, "server", "close", made.server, endless)
    assert f"tensor '{name}.step' of the upload has NaN or infinite" in line
    made.close(*uploads.values())
    before, after = (read_safetensors(made.server / "state" / f"{number}.safetensors")[0] for number in (0, 1))
    for name in [name for name in sent[client] if not name.endswith(".step")]:
        assert {state[name].dtype for state in sent.values()} == {np.dtype("int8")}
        mean = sum(0.5 * (state[name] * np.float64(state[f"{name}.step"][0])) for state in sent.values())
        assert np.array_equal(after[name], (before[name].astype("float64") + mean).astype("float32"))
    # What a site sends is its delta, rounded as the workflow's job rounds it.
    endpoint = read_pack(made.site(client) / "rounds" / "0" / "endpoints.safetensors")[0][client]["endpoint"]
    delta = {name: endpoint[name] - before[name] for name in before if name in sent[client]}
    expected = rounded(delta, 8, 1, 0, client)
    assert all(np.array_equal(sent[client][name], expected[name]) for name in expected)
    traffic = read_parquet(made.server / "traffic" / "0.parquet", TRAFFIC)
    write_safetensors(sent[client], made.folder / "alone", {"format": "pt"})
    assert set(traffic.loc[traffic["content"] == "delta", "bytes"]) == {(made.folder / "alone").stat().st_size}
