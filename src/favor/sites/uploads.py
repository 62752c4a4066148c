"""One upload file per site and round: how a site writes it, and everything that the coordinator refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from favor.federation.method import SharedStage
from favor.federation.packs import State, write_pack
from favor.federation.upload_checks import check_finite
from favor.federation.uploads import sent_types
from favor.foundation.errors import UserError
from favor.foundation.tensors import open_safetensors
from favor.sites.agreement import stages
from favor.sites.manifest import check_equal, client_header, manifest_digest
from favor.sites.signing import canonical, is_signed, signature, tensors_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def write_upload(
    path: Path,
    client: str,
    sent: State,
    manifest: Mapping[str, Any],
    digests: Mapping[str, str],
    words: int,
    key: Ed25519PrivateKey,
) -> None:
    """Write what ``client`` sends, signed by its site: a pack as the workflow's jobs write it, of one client.

    ``words``: of its training text, which crosses only where the server weights by it.
    """
    stage = stages(manifest["agreement"])[0]
    header = {**_expected(manifest), **digests, "manifest": manifest_digest(manifest)}
    if stage.weighting == "words":
        header[f"words of {client}"] = str(words)
    tensors = {f"{client}/{stage.content}/{name}": np.asarray(value) for name, value in sent.items()}
    header["signature"] = signature(key, _signed(header, tensors))
    write_pack(path, {client: {stage.content: sent}}, header)


def _expected(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return what the header of an upload to a manifest says, as the coordinator has it."""
    agreed = manifest["agreement"]
    header = {"kind": "upload", "track": stages(agreed)[0].track, "round": str(manifest["round"])}
    digests = {name: value for name, value in manifest["digests"].items() if name != "adapter"}
    return {**header, "seed": str(agreed["seed"]), **digests}


def _signed(header: Mapping[str, str], tensors: Mapping[str, np.ndarray]) -> bytes:
    kept = {name: value for name, value in header.items() if name not in ("clients", "signature")}
    return canonical({"header": kept, "tensors": tensors_digest(tensors)})


def check_upload(path: Path, manifest: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    """Return the client of an upload to an open round.

    ``keys``: the public key of every site. Raises ``UserError``, one line that says what differs, for whatever is not
    an upload to this very manifest with exactly the tensors that its plan declares.
    """
    tensors, header = open_safetensors(path)
    client = next((name for name in keys if header.get("clients") == client_header(name)), None)
    if client is None:
        raise UserError(
            f"{path}: its client '{header.get('clients', '')}' has no key here; put its site.json in sites/"
        )
    stage = stages(manifest["agreement"])[0]
    _check_tensors(path, client, stage, manifest["declares"], tensors)
    given = {name: np.asarray(value) for name, value in tensors.items()}
    if not is_signed(_signed(header, given), header.get("signature", ""), keys[client]):
        raise UserError(f"{path}: {client}: its signature is wrong, so it was changed on the way; ask the site for it")
    number = header.get("round", "")
    if number.isdecimal() and int(number) < manifest["round"]:
        raise UserError(f"{path}: {client}: late: round {number} is closed, and round {manifest['round']} is open")
    if client not in manifest["cohort"]:
        raise UserError(f"{path}: {client}: does not take part in round {manifest['round']}; leave it out")
    unchecked = ("clients", "signature", "manifest", f"words of {client}" if stage.weighting == "words" else "")
    check_equal(path, _expected(manifest), {name: value for name, value in header.items() if name not in unchecked})
    check_equal(path, {"manifest": manifest_digest(manifest)}, {"manifest": header.get("manifest")})
    if stage.weighting == "words" and not header.get(f"words of {client}", "").isdecimal():
        raise UserError(f"{path}: {client}: says no number of words, by which the server weights; ask the site for it")
    part = f"{client}/{stage.content}/"
    check_finite({name.removeprefix(part): given[name] for name in given}, client, number, path)
    return client


def _check_tensors(path: Path, client: str, stage: SharedStage, declares: Mapping[str, Any], tensors: State) -> None:
    """Refuse another tensor than the plan declares, before any is read."""
    prefix = f"{client}/{stage.content}/"
    wanted = {f"{prefix}{name}": expected for name, expected in sent_types(declares, stage.upload_bits).items()}
    if other := sorted({*wanted} ^ {*tensors}):
        what = "is not declared by the plan" if other[0] in tensors else "is missing"
        raise UserError(f"{path}: {client}: tensor '{other[0]}' {what} ({len(other)} such in all); nothing was taken")
    for name, expected in wanted.items():
        found = (str(tensors[name].dtype), tensors[name].shape)
        if found != expected:
            raise UserError(f"{path}: {client}: tensor '{name}' is {found}, and {expected} is declared")
