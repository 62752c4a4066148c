"""``favor server``: the coordinator opens a round, takes its uploads, closes it, and hands out what comes of the last.

Of the sites it has what they sent: no text, target or private tensor of anybody.
"""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.client_archive import State
from favor.federation.combining import combined
from favor.federation.communication_record import round_traffic, run_boundary
from favor.federation.exchange import declared_shapes, next_shared, parted
from favor.federation.method import Inference
from favor.federation.schemas import BOUNDARY, TRAFFIC
from favor.federation.server import step
from favor.federation.settings import Robust, RunBoundary
from favor.federation.uploads import Uploads, cohort_sum, mean_of_sum, read_uploads
from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path, read_json, write_json
from favor.foundation.lazy import LazyMapping
from favor.foundation.parquet import write_parquet
from favor.foundation.registry import ROBUST_RULES
from favor.foundation.tensors import read_safetensors, safetensors_header, write_safetensors
from favor.plan import Planner
from favor.sites.agreement import Agreement, agreement, check_version, chosen_run, owned_digests, stages
from favor.sites.keys import KnownSite, known_sites, revoke
from favor.sites.manifest import (
    ADAPTER,
    INVITATION,
    MANIFEST,
    TIME,
    Manifest,
    note,
    now,
    read_signed,
    received_digest,
    write_signed,
)
from favor.sites.signing import digest, file_digest, public_key, secret, secret_key, secret_normal
from favor.sites.uploads import check_upload


@dataclass(frozen=True)
class ServerFolder:
    """The files of a coordinator. ``rounds/N`` and ``final`` are what sites are sent; ``uploads/N`` what they sent."""

    path: Path

    @cached_property
    def agreed(self) -> Agreement:
        """What the federation agreed on."""
        record = self.path / "server.json"
        if not record.is_file():
            raise UserError(
                f"{self.path}: no federation was opened here; favor server open {self.path} CONFIG begins one"
            )
        found = dict(read_json(record)["agreement"])
        check_version(found)
        return found

    @property
    def closed(self) -> int:
        """How many rounds are closed: the number of the one that can be open. A stray copy of a file counts nothing."""
        return next(number for number in count() if not self.traffic(number).is_file())

    def round(self, number: int) -> Path:
        """What the clients of a round are sent."""
        return self.path / "rounds" / str(number)

    def state(self, number: int) -> Path:
        """The shared adapter at the start of a round, whole."""
        return self.path / "state" / f"{number}.safetensors"

    def memory(self, number: int) -> Path:
        """The server's moments at the start of a round."""
        return self.path / "state" / f"{number}_memory.safetensors"

    def traffic(self, number: int) -> Path:
        """What crossed in a round, written when it is closed."""
        return self.path / "traffic" / f"{number}.parquet"

    def upload(self, number: int, client: str) -> Path:
        """A taken upload."""
        return self.path / "uploads" / str(number) / f"{client}.safetensors"

    def uploads(self, number: int) -> dict[str, Path]:
        """The taken uploads of a round by client."""
        files = {client: self.upload(number, client) for client in self.agreed["cohorts"][number]}
        return {client: path for client, path in sorted(files.items()) if path.is_file()}

    def sites(self) -> dict[str, KnownSite]:
        """The sites that are known, by client (:func:`favor.sites.keys.known_sites`)."""
        return known_sites(self.path / "sites")

    def key(self) -> Any:
        """The coordinator's private key."""
        lost = "put back your copy: the sites take nothing that another key signs, so without it open a new federation"
        return secret_key(self.path / "key", lost if (self.path / "server.json").is_file() else "")


def hand_out(folder: ServerFolder, kind: str, number: int, cohort: Sequence[str], place: Path, days: int) -> str:
    """Write the shared adapter at the start of round ``number`` with its signed manifest, as sites are sent them.

    ``kind``: "round", or "final" after the last. ``cohort``: who is sent the adapter. Of A_t the tensors cross that are
    trained and uploaded: every site makes the others, A_0's, for itself. Returns until when it is answered: ``days``
    from now, drawn once; a restart keeps a time that is not over.
    """
    agreed, stage = folder.agreed, stages(folder.agreed)[0]
    shared, header = read_safetensors(folder.state(number))
    _check_state(shared, folder.state(number))
    if kind == "final":  # who only generates needs no state of the server
        shared = dict(parted(shared)[0])
    sent = {name: value for name, value in shared.items() if stage.sends(name)}
    about = {"kind": "shared adapter", "seed": str(agreed["seed"]), "round": str(number)}
    write_safetensors(sent, place / ADAPTER, about)
    content = {
        "kind": kind,
        "round": number,
        "cohort": list(cohort),
        "members": int(header.get("members", 0)),
        "taken": {client: earlier for earlier in range(number) for client in folder.uploads(earlier)},
        "agreement": agreed,
        "digests": {**read_json(folder.path / "server.json")["digests"], "adapter": file_digest(place / ADAPTER)},
        "declares": declared_shapes(stage, sent),
        "ends": _ends(folder, kind, number, place / MANIFEST, days),
    }
    write_signed(content, folder.key(), place / MANIFEST)
    files = [(path.name, file_digest(path)) for path in (place / MANIFEST, place / ADAPTER)]
    note(folder.path, "handed out", ", ".join(cohort), files, round=number)
    return str(content["ends"])


def _ends(folder: ServerFolder, kind: str, number: int, path: Path, days: int) -> str:
    if path.is_file():
        before = read_signed(path, Manifest, public_key(folder.key()))
        if (before.kind, before.round) == (kind, number) and before.ends >= now():
            return before.ends
    return (datetime.now(UTC) + timedelta(days=days)).strftime(TIME)


def _check_state(state: State, path: Path) -> None:
    for name in sorted(state):
        if not np.isfinite(state[name]).all():
            raise UserError(
                f"{path}: tensor '{name}' is not finite: an upload is too large. Leave it out (close --without), or "
                "begin with a robust rule (docs/privacy.md)"
            )


def open_round(arguments: argparse.Namespace, planner_of: Callable[[argparse.Namespace], Planner]) -> None:
    """Write what the clients of the next round are sent; first, where there is no federation yet, begin one.

    Raises ``UserError`` where every round is closed, and for a configuration of a federation that has begun.
    """
    folder = ServerFolder(arguments.server)
    if not (folder.path / "server.json").is_file():
        _begin(folder, planner_of(arguments), arguments)
    elif arguments.configfile or arguments.method or arguments.seed is not None:
        raise UserError(f"{folder.path}: has begun, and keeps its configuration; open the next round without one")
    number, rounds = folder.closed, len(folder.agreed["cohorts"])
    if number == rounds:
        raise UserError(f"{folder.path}: all {number} rounds are closed; favor server export {folder.path} ends it")
    cohort = folder.agreed["cohorts"][number]
    ends = hand_out(folder, "round", number, cohort, folder.round(number), arguments.days)
    print(f"round {number} of {rounds} is open: send {folder.round(number)} to {', '.join(cohort)}")
    print(f"sites train it until {ends}")


def _begin(folder: ServerFolder, planner: Planner, arguments: argparse.Namespace) -> None:
    agreed = agreement(planner, chosen_run(planner, arguments.experiment, arguments.method or "favor", arguments.seed))
    _, first, digests = owned_digests(planner, agreed)
    (folder.path / "sites").mkdir(parents=True, exist_ok=True)
    header = {"kind": "shared adapter", "seed": str(agreed["seed"]), "round": "0"}
    write_safetensors(first, folder.state(0), header)
    write_signed({"agreement": agreed, "digests": digests}, folder.key(), folder.path / INVITATION)
    write_json({"agreement": agreed, "digests": digests}, folder.path / "server.json")
    note(folder.path, "begun", "coordinator", [(INVITATION, file_digest(folder.path / INVITATION))])
    print(f"federation of {agreed['row']}, seed {agreed['seed']}: send {folder.path / INVITATION} to every site")
    print(f"key of the coordinator, to be compared by another way: {public_key(folder.key())}")


def close(arguments: argparse.Namespace) -> None:
    """Take the uploads of the open round and make the next shared adapter; a round closes with all of its clients.

    ``without`` names those that are waited for no longer. Raises ``UserError`` in one line for every upload that is
    refused, and where one is missing: the round then stays open, and what was taken is kept.
    """
    folder = ServerFolder(arguments.server)
    number = folder.closed
    if gone := [path for path in arguments.uploads if not os.path.lexists(path)]:
        raise UserError(f"{gone[0]}: no such upload; correct its name")
    # Hidden files in a folder are neither: file systems and programs that copy leave them.
    inside = [each for path in arguments.uploads if path.is_dir() for each in sorted(path.glob("[!.]*"))]
    given = [each for each in inside if each.suffix == ".safetensors"]
    given += [path for path in arguments.uploads if not path.is_dir()]
    others = [each for each in inside if each.suffix != ".safetensors"]
    before = {upload for upload in given if _taken_before(folder, upload)}
    if not (folder.round(number) / MANIFEST).is_file():
        if given and before == {*given}:
            print(_closed(folder, number - 1, " already"))
            return
        for upload in filter(Path.is_file, given):
            if safetensors_header(upload).get("round") in [str(earlier) for earlier in range(number)]:
                raise UserError(f"{upload}: late: its round is closed, {number} of {len(folder.agreed['cohorts'])} are")
        raise UserError(f"{folder.path}: round {number} is not open; favor server open {folder.path} opens it")
    manifest = read_signed(folder.round(number) / MANIFEST, Manifest, public_key(folder.key()))
    for upload in sorted(before):
        print(f"left out: {upload}, which was taken in an earlier round")
    _take(folder, manifest, [upload for upload in given if upload not in before])
    for name, upload in folder.uploads(number).items():  # also what was taken before, or put there by hand
        if (client := _check(folder, upload, manifest)[0]) != name:
            raise UserError(f"{upload}: is the upload of {client}; remove it, and add that of {name}")
    absent = [client for client in manifest.cohort if client not in folder.uploads(number)]
    if unknown := sorted({*arguments.without} - {*absent}):
        raise UserError(f"--without {unknown[0]}: has sent its upload or takes no part in round {number}; leave it out")
    if missing := [client for client in absent if client not in arguments.without]:
        raise UserError(
            f"round {number} waits for {', '.join(missing)}; add its upload, or close the round --without {missing[0]}"
            + (f" (not read, because it does not end in .safetensors: {others[0]})" if others else "")
        )
    if len(absent) == len(manifest.cohort):
        raise UserError(f"round {number} has no upload at all; a round needs one")
    _aggregate(folder, number)
    note(folder.path, "closed", ", ".join(folder.uploads(number)), round=number)
    print(_closed(folder, number))


def _closed(folder: ServerFolder, number: int, already: str = "") -> str:
    left = len(folder.agreed["cohorts"]) - number - 1
    ending = f"{left} to come" if left else f"favor server export {folder.path} ends it"
    return f"round {number} is closed{already}; {ending}"


def _taken_before(folder: ServerFolder, upload: Path) -> bool:
    """Return whether a file is an upload that was taken in a closed round, as when a command is started again."""
    found = received_digest(upload)
    taken = (path for number in range(folder.closed) for path in folder.uploads(number).values())
    return bool(found) and any(
        path.stat().st_size == upload.stat().st_size and file_digest(path) == found for path in taken
    )


def _check(folder: ServerFolder, upload: Path, manifest: Manifest, since: int = 0) -> tuple[str, bytes]:
    """Check an upload against the keys that a site has had, ``since`` one of them."""
    sites = folder.sites()
    keys = {client: site.keys[since:] for client, site in sites.items()}
    return check_upload(upload, manifest, keys, {client: site.words for client, site in sites.items()})


def _take(folder: ServerFolder, manifest: Manifest, given: Sequence[Path]) -> None:
    refusals = []
    for upload in given:
        try:
            client, content = _check(folder, upload, manifest, since=-1)
        except UserError as error:
            refusals.append(error)
            note(folder.path, "refused", "", [(upload.name, received_digest(upload))], reason=str(error))
            continue
        with atomic_path(folder.upload(manifest.round, client)) as temporary:
            temporary.write_bytes(content)
        note(folder.path, "taken", client, [(upload.name, digest(content))], round=manifest.round)
        words = folder.sites()[client].words
        said = "" if words is None else f", which trains on {words:,} words"
        print(f"taken: round {manifest.round}, {client}{said}")
    if refusals:
        raise refusals[0]


def _aggregate(folder: ServerFolder, number: int) -> None:
    """Do what the jobs ``combine_uploads`` and ``aggregate`` of the workflow do. The record of traffic comes last."""
    agreed, stage = folder.agreed, stages(folder.agreed)[0]
    rate = float(agreed["server"]["learning_rate"])
    shared, _ = read_safetensors(folder.state(number))
    memory = read_safetensors(folder.memory(number))[0] if folder.memory(number).is_file() else {}
    header = {"seed": str(agreed["seed"]), "round": str(number + 1)}
    files = folder.uploads(number)
    if stage.server.kind == "members":  # it keeps the mean of every client's last adapter
        files = {client: path for earlier in range(number + 1) for client, path in folder.uploads(earlier).items()}
    uploads = read_uploads(map(str, files.values()), stage, number)
    if stage.server.kind == "members":
        header["members"] = str(len(uploads.deltas))
    means = _means(folder, uploads, number)
    next_state = folder.state(number + 1)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            if means is None:
                state, kept = next_shared(stage, shared, memory, uploads.deltas, uploads.weights, rate)
            else:
                state, kept = step(stage.server, shared, memory, means, rate)
    except np.linalg.LinAlgError as error:  # of numbers that overflow
        raise UserError(f"{next_state}: an upload is too large ({error}); leave it out (close --without)") from None
    _check_state({**state, **kept}, next_state)
    if stage.server.moments:
        write_safetensors(kept, folder.memory(number + 1), {"kind": "server moments", **header})
    write_safetensors(state, folder.state(number + 1), {"kind": "shared adapter", **header})
    traffic = round_traffic(number, str(folder.round(number) / ADAPTER), uploads.files, str(folder.path), stage)
    write_parquet(traffic, folder.traffic(number), TRAFFIC)


def _means(folder: ServerFolder, uploads: Uploads, number: int) -> State | None:
    """Return what takes the place of the weighted mean: a robust rule's, or that under privacy; None for neither."""
    stage, robust = stages(folder.agreed)[0], folder.agreed["server"]["robust"]
    if robust is not None:
        settings = Robust.model_validate_json(json.dumps(robust))
        rule = ROBUST_RULES.load(settings.rule)
        times, more = getattr(rule, "FEWEST", (0, 1))
        if len(uploads.deltas) < (least := times * settings.attackers + more):
            raise UserError(
                f"round {number}: '{settings.rule}' needs {least} uploads against {settings.attackers} attackers, and "
                f"{len(uploads.deltas)} came; wait for more"
            )
        return combined(uploads.deltas, rule.RULE, settings)
    if stage.privacy is None:
        return None
    total, privacy = cohort_sum(uploads, replace(stage, privacy=None), 0, number), stage.privacy
    path = folder.path / "noise"
    if number and not path.is_file():
        print(f"{path}: file not found; another secret is drawn, which makes the noise of no closed round again")
    kept, scale = secret(path), privacy.noise_multiplier * privacy.clip
    # Every site knows the seed. Another set of uploads, as after a backup was put back, has other noise.
    of = {client: file_digest(path) for client, path in folder.uploads(number).items()}

    def with_noise(name: str) -> np.ndarray:
        draws = secret_normal(kept, ["privacy noise", stage.track, number, name, of], total[name].shape)
        return np.asarray(total[name] + scale * draws)

    return mean_of_sum(LazyMapping(sorted(total), with_noise), 0.0, stage)


def export(arguments: argparse.Namespace) -> None:
    """Write the final shared adapter, signed, and ``boundary.parquet``: every file that crossed, with its bytes."""
    folder = ServerFolder(arguments.server)
    agreed, number = folder.agreed, folder.closed
    if number < len(agreed["cohorts"]):
        raise UserError(
            f"{folder.path}: {number} of {len(agreed['cohorts'])} rounds are closed; close the others first"
        )
    final = folder.path / "final"
    taken = {client for earlier in range(number) for client in folder.uploads(earlier)}
    unheard = set() if Inference.of(agreed["generates"]).never_sampled == "dropped" else set(agreed["clients"]) - taken
    recipients = [client for client in agreed["clients"] if client in agreed["recipients"] or client in unheard]
    hand_out(folder, "final", number, recipients, final, arguments.days)
    run = RunBoundary(
        seed=agreed["seed"],
        method=agreed["row"],
        traffic=[str(folder.traffic(earlier)) for earlier in range(number)],
        packs=[],
        final=str(final / ADAPTER) if recipients else None,
        recipients=recipients,
        stage=agreed["shared"]["stage"],
        pooled=False,
    )
    texts = pd.DataFrame(columns=CLIENT_TEXTS.names)
    write_parquet(run_boundary(run, texts, str(folder.path)), folder.path / "boundary.parquet", BOUNDARY)
    whom = f"; {final / ADAPTER} to {', '.join(recipients)}" if recipients else "; no site needs the adapter"
    print(f"send {final / MANIFEST} to every site{whom}")
    print(f"what crossed: {folder.path / 'boundary.parquet'}")


def revoke_key(arguments: argparse.Namespace) -> None:
    """Revoke the keys of a client, and set aside what it sent in the open round."""
    folder = ServerFolder(arguments.server)
    keys = revoke(folder.path / "sites", arguments.client)
    note(folder.path, "revoked", arguments.client, keys=keys)
    print(f"revoked: {arguments.client}; nothing that its keys sign is taken")
    number = folder.closed
    upload = folder.upload(number, arguments.client)
    if upload.is_file():
        upload.rename(upload.with_suffix(".revoked"))
        print(f"set aside: its upload of round {number}")
