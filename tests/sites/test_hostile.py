"""A coordinator or a site that is wrong or hostile, and signs what it sends."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kstest
from tests.exports.conftest import refusal
from tests.sites.conftest import CLIENTS, forged, refused

from favor.foundation.files import PARTIAL
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.sites import manifest as manifests
from favor.sites import server, uploads
from favor.sites import site as site_module
from favor.sites.keys import known_sites, revoke
from favor.sites.manifest import write_signed
from favor.sites.signing import file_digest, public_key, replacement, secret_key, secret_normal, signature


def handed_out(made, change=lambda content: None, tensors=lambda shared: shared, **values) -> Path:
    """The first round as the coordinator signs it with other ``values`` in its manifest and other tensors."""
    folder = made.folder / "forged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made.opened, folder)
    shared, header = read_safetensors(folder / "adapter.safetensors")
    write_safetensors(tensors(shared), folder / "adapter.safetensors", header)
    content = json.loads((folder / "manifest.json").read_text())["signed"]
    content["digests"]["adapter"] = file_digest(folder / "adapter.safetensors")
    change(content)
    said = {key: value for key, value in (content | values).items() if key not in ("format", "key")}
    write_signed(said, secret_key(made.server / "key"), folder / "manifest.json")
    return folder


def test_a_site_takes_nothing_from_a_manifest_that_it_did_not_agree_to(trained, favor) -> None:
    made, cohort, _ = trained
    site = made.folder / "untrained"
    shutil.copytree(made.site(cohort[0]), site, ignore=shutil.ignore_patterns("uploads", "rounds"))
    absent = next(client for client in CLIENTS if client not in cohort)
    for line, values in (
        ("round: 7 there, and the schedule agreed on ends with 1", {"round": 7}),
        ("key 'signed.round': Input should be a valid integer", {"round": "../../x"}),
        ("key 'signed.round': Input should be greater than or equal to 0", {"round": -1}),
        ("cohort: ", {"cohort": [absent, *cohort[1:]]}),
        ("has more members than the federation has clients", {"members": 9}),
        ("key 'signed.taken': Input should be an object", {"taken": [cohort[0]]}),
        (f"round 9 of {cohort[0]} was taken, and none was trained here", {"taken": {cohort[0]: 9}}),
        ("declares", {"declares": {}}),
        ("its time ended at 2020-01-01T00:00:00Z", {"ends": "2020-01-01T00:00:00Z"}),
    ):
        assert line in refused(favor, "site", "train", site, handed_out(made, **values)), line
    for folder, line in (
        (site, "put back your copy, or make another with 'favor site key'"),
        (made.server, "open a new"),
    ):
        (folder / "key").rename(folder / "kept")  # nobody knows another one
        asked = ("site", "train", site, made.opened) if folder == site else ("server", "open", folder)
        assert f"{folder / 'key'}: file not found; " in (said := refused(favor, *asked))
        assert line in said
        (folder / "kept").rename(folder / "key")
    without = handed_out(made, lambda content: content["digests"].pop("adapter"))
    assert "cut, or not the file that manifest.json is of" in refused(favor, "site", "train", site, without)
    for line, tensors in (
        ("is not declared by the plan", lambda shared: {**shared, "more": np.ones((3, 3), np.float32)}),
        ("is missing", lambda _: {}),
        ("int8", lambda shared: {name: value.astype("int8") for name, value in shared.items()}),
        ("is declared", lambda shared: {name: np.zeros((9, 9), np.float32) for name in shared}),
        ("has NaN or infinite", lambda shared: {name: value * np.float32(np.nan) for name, value in shared.items()}),
    ):
        assert line in refused(favor, "site", "train", site, handed_out(made, tensors=tensors)), line
    assert not (site / "uploads").exists()
    reasons = [json.loads(line) for line in (site / "log.jsonl").read_text().splitlines()]
    assert {each["what"] for each in reasons} == {"joined", "received", "to send", "refused"}
    assert made.site(cohort[0]).stat().st_mode & 0o777 == 0o700


def test_no_file_of_a_share_stops_a_round_or_makes_it_nan(trained, favor) -> None:
    made, cohort, (first, second) = trained
    share, taken = made.folder / "share", made.server / "uploads/0" / f"{cohort[0]}.safetensors"
    # What is good is taken, whatever lies before or behind it.
    for name, put, line in (
        ("c", lambda path: path.write_bytes(b"junk"), "c.safetensors: not a complete safetensors file"),
        ("c", lambda path: path.write_bytes(b"PK\x03\x04"), "c.safetensors: a zip archive; unpack it"),
        ("a", lambda path: os.mkfifo(path) or (share / "aa.safetensors").mkdir(), "a.safetensors: not a regular file"),
        ("a", lambda path: path.symlink_to(second), "a.safetensors: cannot be read as a regular file"),
        ("a", lambda path: path.touch() or os.truncate(path, 10**9), "more than the"),
    ):
        share.mkdir()
        shutil.copyfile(first, share / "b.safetensors")
        (share / "._b.safetensors").touch()  # of a program that copies
        put(share / f"{name}.safetensors")
        assert line in refused(favor, "server", "close", made.server, share)
        assert taken.read_bytes() == first.read_bytes()
        taken.unlink()
        shutil.rmtree(share)
    share.mkdir()
    (share / "b.zip").touch()
    line = refused(favor, "server", "close", made.server, share)
    assert f"(not read, because it does not end in .safetensors: {share / 'b.zip'})" in line
    # A number of words that was not said before, and numbers that overflow.
    lying = forged(made.site(cohort[1]), second, about={f"words of {cohort[1]}": "9" * 400})
    assert f"words of {cohort[1]}: " in refused(favor, "server", "close", made.server, lying)
    huge = [
        forged(made.site(client), upload, lambda state: [value.fill(3.4e38) for value in state.values()])
        for client, upload in zip(cohort, (first, second), strict=True)
    ]
    state = made.server / "state" / "0.safetensors"
    shared, header = read_safetensors(state)
    write_safetensors({name: np.full_like(value, 3e38) for name, value in shared.items()}, state, header)
    assert "is not finite: an upload is too large" in refused(favor, "server", "close", made.server, *huge)
    assert not (made.server / "state" / "1.safetensors").exists()
    write_safetensors(shared, state, header)
    # One site's upload that was put in the place of another's.
    for client in cohort:
        shutil.copyfile(second, made.server / "uploads/0" / f"{client}.safetensors")
    line = refused(favor, "server", "close", made.server)
    assert f"{cohort[0]}.safetensors: is the upload of {cohort[1]}; remove it" in line
    assert not (made.server / "state" / "1.safetensors").exists()
    # Stray copies, as sync clients make, are no rounds and no uploads.
    shutil.copyfile(first, made.server / "uploads/0" / f"{cohort[0]} (copy).safetensors")
    (made.server / "traffic").mkdir()
    (made.server / "traffic" / "0 (copy).parquet").touch()
    left = made.server / "state" / f".1.safetensors.x{PARTIAL}"
    left.write_bytes(b"half")  # which a command that was killed was writing
    assert "round 0 is closed; 1 to come" in favor("server", "close", made.server, first, second)
    assert not left.exists()
    # A close that was killed after its last write says that it is done, and exits with 0.
    again = favor("server", "close", made.server, first, second)
    assert again == "round 0 is closed already; 1 to come"
    log = [json.loads(line) for line in (made.server / "log.jsonl").read_text().splitlines()]
    assert {"begun", "handed out", "taken", "refused", "closed"} == {each["what"] for each in log}
    taken = {each["who"]: each["files"] for each in log if each["what"] == "taken"}
    assert file_digest(first) in taken[cohort[0]].values()
    # A state that is not finite is not handed out.
    state = made.server / "state" / "1.safetensors"
    shared, header = read_safetensors(state)
    write_safetensors({name: np.full_like(value, np.inf) for name, value in shared.items()}, state, header)
    assert "is not finite" in refused(favor, "server", "open", made.server)


def test_a_file_that_is_swapped_while_it_is_read_changes_nothing(trained, favor, monkeypatch) -> None:
    """What is taken, and what the log has, is what was checked: of an upload and of the coordinator's adapter."""
    made, cohort, (first, _) = trained
    content, other = first.read_bytes(), forged(made.site(cohort[0]), first, about={"round": "1"}).read_bytes()
    sent, site = handed_out(made), made.site(cohort[0])
    adapter = file_digest(sent / "adapter.safetensors")
    for module, path, after in ((uploads, first, other), (site_module, sent / "adapter.safetensors", b"junk")):

        def swapped(name, *more, read=module.received_bytes, path=path, after=after) -> bytes:
            found = read(name, *more)
            if name == path:
                path.write_bytes(after)
            return found

        monkeypatch.setattr(module, "received_bytes", swapped)
    assert f"round 0 waits for {cohort[1]}" in refused(favor, "server", "close", made.server, first)
    assert first.read_bytes() == other
    assert (made.server / "uploads/0" / f"{cohort[0]}.safetensors").read_bytes() == content
    favor("site", "train", site, sent)
    assert (sent / "adapter.safetensors").read_bytes() == b"junk"
    logged = [json.loads(line)["files"] for line in (site / "log.jsonl").read_text().splitlines()]
    assert adapter in [files.get("adapter.safetensors") for files in logged]


def test_a_round_that_is_opened_again_is_the_same_bytes(trained, favor, monkeypatch) -> None:
    made, cohort, (first, _) = trained
    path = made.server / "rounds/0/manifest.json"
    before, ends = path.read_bytes(), json.loads(path.read_bytes())["signed"]["ends"]
    favor("server", "open", made.server, "--days", "2")
    assert path.read_bytes() == before
    # After its end it has another, and what was trained under the first is still an upload to it.
    monkeypatch.setattr(manifests, "now", lambda: "2199-01-01T00:00:00Z")
    monkeypatch.setattr(server, "now", lambda: "2199-01-01T00:00:00Z")
    assert f"its time ended at {ends}" in refused(favor, "site", "train", made.site(cohort[0]), made.opened)
    favor("server", "open", made.server, "--days", "1000")
    assert path.read_bytes() != before
    assert f"waits for {cohort[1]}" in refused(favor, "server", "close", made.server, first)


def test_another_version_is_refused_in_every_command(trained, favor) -> None:
    made, cohort, _ = trained
    for record in (made.server / "server.json", made.site(cohort[0]) / "settings.json"):
        content = json.loads(record.read_text())
        content["agreement"]["version"] = "0.0.1"
        record.write_text(json.dumps(content))
    for command in (("server", "open", made.server), ("site", "train", made.site(cohort[0]), made.opened)):
        assert "the federation agreed on 0.0.1" in refused(favor, *command)


def stated(folder, name, key, client="client_001", **more) -> None:
    write_signed({"client": client, **more}, secret_key(folder / key), folder / "sites" / f"{name}.json")


@pytest.fixture
def sites(tmp_path) -> Path:
    (tmp_path / "sites").mkdir()
    return tmp_path


def test_a_key_is_replaced_by_what_the_old_one_signs(sites) -> None:
    old, new = (public_key(secret_key(sites / name)) for name in ("old", "new"))
    stated(sites, "a", "old", words=3)
    stated(sites, "a (copy)", "old", words=3)
    assert known_sites(sites / "sites")["client_001"].keys == (old,)
    stated(sites, "b", "new", words=3)
    assert "client_001 has two keys" in refusal(known_sites, sites / "sites")
    stated(sites, "b", "new", words=3, replaces=old, statement="0" * 128)
    assert "b.json: the old key of client_001 did not sign the new one" in refusal(known_sites, sites / "sites")
    by = signature(secret_key(sites / "old"), replacement("client_001", new))
    stated(sites, "b", "new", words=4, replaces=old, statement=by)
    assert "says another number of words than before" in refusal(known_sites, sites / "sites")
    stated(sites, "b", "new", words=3, replaces=old, statement=by)
    assert known_sites(sites / "sites")["client_001"].keys == (old, new)
    (sites / "sites/a.json").rename(sites / "a.json")
    (sites / "sites/a (copy).json").unlink()
    assert "b.json: replaces a key of client_001 that is not here" in refusal(known_sites, sites / "sites")


def test_a_key_belongs_to_one_site_and_can_be_revoked(sites) -> None:
    stated(sites, "a", "old")
    stated(sites, "b", "old", "client_002")
    assert "b.json: client_002 has the key of client_001; every site makes" in refusal(known_sites, sites / "sites")
    stated(sites, "b", "other", "client_002")
    revoke(sites / "sites", "client_001")
    assert set(known_sites(sites / "sites")) == {"client_002"}
    stated(sites, "again", "old")
    assert "again.json: the key of client_001 was revoked" in refusal(known_sites, sites / "sites")
    stated(sites, "again", "third")
    assert set(known_sites(sites / "sites")) == {"client_001", "client_002"}
    stated(sites, "again", "third", "../x")
    assert "again.json: key 'signed.client': " in refusal(known_sites, sites / "sites")


def test_a_site_and_its_coordinator_change_a_key(trained, favor) -> None:
    made, cohort, (first, second) = trained
    client = cohort[0]
    favor("site", "key", made.site(client))
    shutil.copyfile(made.site(client) / "site.json", made.server / "sites" / "new.json")
    # What the old key signed is not taken any more; what the new one signs is.
    assert "its signature is wrong" in refused(favor, "server", "close", made.server, first)
    favor("server", "close", made.server, forged(made.site(client), first), second)
    made.open()
    favor("server", "revoke", made.server, client)
    another = forged(made.site(client), first, about={"round": "1"})
    assert "has no key here" in refused(favor, "server", "close", made.server, another)


def test_noise_of_a_secret_is_normal_and_of_its_secret_alone() -> None:
    drawn = secret_normal(bytes(32), ["a", 1], (200, 500))
    assert np.array_equal(drawn, secret_normal(bytes(32), ["a", 1], (200, 500)))
    assert kstest(drawn.ravel(), "norm").pvalue > 0.01
    for secret, about in ((b"\x01" + bytes(31), ["a", 1]), (bytes(32), ["a", 2])):
        other = secret_normal(secret, about, (200, 500))
        assert abs(np.corrcoef(drawn.ravel(), other.ravel())[0, 1]) < 0.02
