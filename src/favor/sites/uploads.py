"""One upload file per site and round: how a site writes it, and everything that the coordinator refuses."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from favor.federation.client_archive import State, write_pack
from favor.federation.upload_checks import check_finite
from favor.federation.uploads import sent_types
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.received import received_bytes, received_tensors
from favor.sites.agreement import stages
from favor.sites.manifest import HEADER, Manifest, check_equal, check_tensors, manifest_digest
from favor.sites.signing import canonical, is_signed, signature, tensors_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def write_upload(
    path: Path,
    client: str,
    sent: State,
    manifest: Manifest,
    digests: Mapping[str, str],
    words: int,
    key: Ed25519PrivateKey,
) -> None:
    """Write what ``client`` sends, signed by its site: a pack as the workflow's jobs write it, of one client.

    ``words``: of its training text, which crosses only where the server weights by it.
    """
    stage = stages(manifest.agreement)[0]
    header = {**_expected(manifest), **digests}
    if stage.weighting == "words":
        header[f"words of {client}"] = str(words)
    tensors = {f"{client}/{stage.content}/{name}": np.asarray(value) for name, value in sent.items()}
    header["signature"] = signature(key, _signed(header, tensors))
    write_pack(path, {client: {stage.content: sent}}, header)


def _expected(manifest: Manifest) -> dict[str, str]:
    header = {"kind": "upload", "track": stages(manifest.agreement)[0].track, "round": str(manifest.round)}
    digests = {name: value for name, value in manifest.digests.items() if name != "adapter"}
    return {**header, "seed": str(manifest.agreement["seed"]), "manifest": manifest_digest(manifest), **digests}


def _signed(header: Mapping[str, str], tensors: Mapping[str, np.ndarray]) -> bytes:
    kept = {name: value for name, value in header.items() if name not in ("clients", "signature")}
    return canonical({"header": kept, "tensors": tensors_digest(tensors)})


def check_upload(
    path: Path, manifest: Manifest, keys: Mapping[str, Collection[str]], words: Mapping[str, int | None]
) -> tuple[str, bytes]:
    """Return the client of an upload to an open round, and the file's content, which is read once.

    ``keys``: the public keys of every site; ``words``: what it says that it trains on. Raises ``UserError``, one line
    that says what differs, for whatever is not an upload to this very manifest with exactly the tensors that its plan
    declares.
    """
    stage = stages(manifest.agreement)[0]
    wanted = sent_types(manifest.declares, stage.upload_bits)
    content = received_bytes(path, HEADER + sum(512 + 4 * int(np.prod(shape)) for _, shape in wanted.values()))
    tensors, header = received_tensors(content, path)
    if header.get("kind") != "upload":
        raise UserError(f"{path}: not an upload; give the file that 'favor site train' names")
    # As write_pack names the clients of a pack.
    client = next((name for name in keys if header.get("clients") == json.dumps([name])), None)
    if client is None:
        given = printable(header.get("clients", ""))
        raise UserError(f"{path}: its client '{given}' has no key here; put its site.json in sites/")
    part = f"{client}/{stage.content}/"
    check_tensors(path, {f"{part}{name}": expected for name, expected in wanted.items()}, tensors, f"{client}: ")
    signed = _signed(header, tensors)
    if not any(is_signed(signed, header.get("signature", ""), key) for key in keys[client]):
        raise UserError(f"{path}: {client}: its signature is wrong, so it was changed on the way; ask the site for it")
    number = header.get("round", "")
    if number in map(str, range(manifest.round)):
        raise UserError(f"{path}: {client}: late: round {number} is closed, and round {manifest.round} is open")
    if client not in manifest.cohort:
        raise UserError(f"{path}: {client}: does not take part in round {manifest.round}; leave it out")
    expected = _expected(manifest)
    if stage.weighting == "words":
        expected[f"words of {client}"] = str(words[client])
    check_equal(path, expected, {name: value for name, value in header.items() if name not in ("clients", "signature")})
    sent = {name.removeprefix(part): value for name, value in tensors.items()}
    check_finite(sent, client, number, path)
    if stage.privacy is not None:  # what is longer than the clip the noise does not cover
        clip, squares = stage.privacy.clip, (float((value.astype(np.float64) ** 2).sum()) for value in sent.values())
        norm = float(np.sqrt(sum(squares)))
        if norm > clip * (1 + 1e-5):  # it was scaled in float32
            raise UserError(f"{path}: {client}: its norm is {norm:.6g}, and the clip is {clip}; leave it out")
    return client, content
