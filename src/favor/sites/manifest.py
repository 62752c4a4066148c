"""What the coordinator hands out: an invitation, and the signed manifest of a round beside the shared adapter."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from favor.federation.packs import State
from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json
from favor.foundation.tensors import read_safetensors
from favor.sites.agreement import Agreement, Digests, differences
from favor.sites.signing import canonical, digest, file_digest, is_signed, public_key, signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = 1
INVITATION, MANIFEST, ADAPTER = "invitation.json", "manifest.json", "adapter.safetensors"


def write_signed(content: Mapping[str, Any], key: Ed25519PrivateKey, path: Path) -> None:
    """Write ``content`` with its format, the public key and the signature of both."""
    signed = {**content, "format": FORMAT, "key": public_key(key)}
    write_json({"signed": signed, "signature": signature(key, canonical(signed))}, path)


def read_signed(path: Path, holds: Collection[str], key: str | None = None) -> dict[str, Any]:
    """Return what :func:`write_signed` wrote. Raises ``UserError`` where it is not signed by ``key``, or by its own.

    ``holds``: the values that make it the file that is wanted, and not another signed one.
    """
    if not path.is_file():
        raise UserError(f"{path}: file not found; ask the coordinator for it, or correct the name")
    found = read_json(path)
    try:
        signed, given = found["signed"], str(found["signature"])
        by, form, content = str(signed["key"]), signed["format"], canonical(signed)
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{path}: not a signed file of a federation; ask the coordinator for it") from None
    if form != FORMAT:
        raise UserError(f"{path}: format {form}, and this version reads {FORMAT}; take the same version on all sides")
    if key is not None and by != key:
        raise UserError(f"{path}: key: {key[:16]} here, {by[:16]} there; it is another coordinator's")
    if not is_signed(content, given, by):
        raise UserError(f"{path}: its signature is wrong, so it was changed on the way; ask the coordinator for it")
    if lacking := [name for name in holds if name not in signed]:
        raise UserError(f"{path}: holds no {lacking[0]}, so it is another file of the federation; give the right one")
    return dict(signed)


def read_manifest(folder: Path, kind: str, key: str, agreed: Agreement, digests: Digests) -> dict[str, Any]:
    """Return the manifest of a folder that the coordinator sent (:func:`favor.sites.server.hand_out`).

    Raises ``UserError`` in one line that says what differs from what the site agreed to.
    """
    manifest = read_signed(folder / MANIFEST, ("kind", "agreement", "digests"), key)
    if manifest["kind"] != kind:
        raise UserError(f"{folder}: kind: {kind} is wanted here, {manifest['kind']} there; give the other folder")
    check_equal(folder / MANIFEST, agreed, manifest["agreement"])
    check_equal(folder / MANIFEST, digests, {name: of for name, of in manifest["digests"].items() if name != "adapter"})
    return manifest


def read_adapter(folder: Path, manifest: Mapping[str, Any], first: State) -> dict[str, np.ndarray]:
    """Return the shared adapter beside its manifest; what does not cross has the values of ``first``, the site's A_0.

    Raises ``UserError`` where it is missing or another one.
    """
    if not (folder / ADAPTER).is_file():
        raise UserError(f"{folder}: holds no {ADAPTER}, which you need; ask the coordinator for it")
    check_equal(
        folder / MANIFEST, {"adapter": file_digest(folder / ADAPTER)}, {"adapter": manifest["digests"]["adapter"]}
    )
    return {**{name: np.asarray(value) for name, value in first.items()}, **read_safetensors(folder / ADAPTER)[0]}


def check_equal(path: Path, own: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Refuse what differs. Raises ``UserError`` in one line that names the values of both sides."""
    if found := list(differences(dict(own), dict(other))):
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise UserError(f"{path}: {'; '.join(found[:3])}{more}; take what the federation agreed on")


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """Return the digest by which an upload says which manifest it answers."""
    return digest(canonical(dict(manifest)))


def client_header(client: str) -> str:
    """Return how a pack names its one client (:func:`favor.federation.packs.write_pack`)."""
    return json.dumps([client])
