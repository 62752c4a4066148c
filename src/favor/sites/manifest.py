"""The signed files that cross, typed and checked: invitation, ``site.json``, and a round's manifest with its adapter.

``log.jsonl`` of a coordinator or a site says what it sent, took and refused, when, and the digest of every file. Lines
are added and never changed. What a command does twice stands there twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

import numpy as np
from pydantic import ConfigDict, Field, StringConstraints

from favor.federation.client_archive import State
from favor.federation.exchange import declared_shapes
from favor.federation.method import SharedStage
from favor.federation.state_rule import STATE
from favor.foundation.errors import UserError
from favor.foundation.files import write_json
from favor.foundation.received import Received, opened, received_json, received_tensors
from favor.sites.agreement import Agreement, Digests, differences
from favor.sites.signing import LOG, canonical, digest, is_signed, public_key, signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

INVITATION, MANIFEST, ADAPTER = "invitation.json", "manifest.json", "adapter.safetensors"
TIME = "%Y-%m-%dT%H:%M:%SZ"
HEADER = 2**20  # bytes of a safetensors file beside its tensors, and more: names and shapes
FORMAT = 1
MOST_WORDS = 10**8  # more than a person writes in a life
Hexadecimal = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]  # 32 bytes: a digest or a public key
Signature = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]
Client = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Natural = Annotated[int, Field(ge=0, lt=2**31)]
Time = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]  # UTC


class Signed(Received):
    """What a signature is over: ``key`` is the public key of who signed."""

    format: Literal[1]
    key: Hexadecimal


class Agreed(Received):
    """An agreement: which run it is of, and whatever else a party compares with its own."""

    model_config = ConfigDict(extra="allow")

    experiment: str
    row: str
    seed: int


class Invitation(Signed):
    """What everybody agrees on, and the digests of the files that all parties have."""

    agreement: Agreed
    digests: dict[str, Hexadecimal]


class SiteStatement(Signed):
    """Who a site is.

    words: on how many words it trains, where the server weights by them; said once.
    replaces: the key that it had before, and ``statement``, by which that key signs the new one.
    """

    client: Client
    words: Annotated[int, Field(ge=1, le=MOST_WORDS)] | None = None
    replaces: Hexadecimal | None = None
    statement: Signature | None = None


class Manifest(Signed):
    """What the coordinator hands out, beside an adapter file. What the agreement says too is compared with it.

    members: of how many clients the adapter is the mean, where the server keeps members.
    taken: by client the last round whose upload was taken.
    declares: the shape of every tensor of an upload.
    ends: until when a site answers it.
    """

    kind: Literal["round", "final"]
    round: Natural
    cohort: tuple[Client, ...]
    members: Natural
    taken: dict[Client, Natural]
    agreement: dict[str, Any]
    digests: dict[str, Hexadecimal]
    declares: dict[str, tuple[Natural, ...]]
    ends: Time


Content = TypeVar("Content", bound=Signed)


class _Envelope(Received, Generic[Content]):
    signed: Content
    signature: Signature


def write_signed(content: Mapping[str, Any], key: Ed25519PrivateKey, path: Path) -> None:
    """Write ``content`` with its format, the public key and the signature of both."""
    signed = {**content, "format": FORMAT, "key": public_key(key)}
    write_json({"signed": signed, "signature": signature(key, canonical(signed))}, path)


def read_signed(path: Path, kind: type[Content], key: str | None = None, content: bytes | None = None) -> Content:
    """Return what :func:`write_signed` wrote. Raises ``UserError`` where it is not signed by ``key``, or by its own.

    ``content``: what was read of the file, if it was.
    """
    envelope: type[_Envelope[Content]] = _Envelope[kind]  # type: ignore[valid-type]
    remedy = "not the signed file of a federation that belongs here; give the right one"
    found = received_json(path, envelope, remedy, content=content)
    signed = found.signed
    if key is not None and signed.key != key:
        raise UserError(f"{path}: key: {key[:16]} here, {signed.key[:16]} there; it is another coordinator's")
    try:
        said = canonical(signed.model_dump(mode="json", exclude_unset=True))
    except ValueError:  # NaN, or an infinite number
        raise UserError(f"{path}: not a signed file of a federation; ask the coordinator for it") from None
    if not is_signed(said, found.signature, signed.key):
        raise UserError(f"{path}: its signature is wrong, so it was changed on the way; ask the coordinator for it")
    return signed


def read_manifest(
    folder: Path, kind: str, key: str, agreed: Agreement, digests: Digests, content: bytes | None = None
) -> Manifest:
    """Return the manifest of a folder that the coordinator sent (:func:`favor.sites.server.hand_out`).

    Whatever the agreement says too is compared with it; what is said of other clients is theirs to check. Raises
    ``UserError`` in one line that says what differs, and where the manifest's time is over.
    """
    path = folder / MANIFEST
    manifest = read_signed(path, Manifest, key, content)
    check_equal(path, {**agreed, "kind": kind}, {**manifest.agreement, "kind": manifest.kind})
    check_equal(path, digests, {name: of for name, of in manifest.digests.items() if name != "adapter"})
    number, cohorts = manifest.round, agreed["cohorts"]
    if number not in (range(len(cohorts)) if kind == "round" else [len(cohorts)]):
        raise UserError(f"{path}: round: {number} there, and the schedule agreed on ends with {len(cohorts) - 1}")
    if kind == "round":
        check_equal(path, {"cohort": cohorts[number]}, {"cohort": list(manifest.cohort)})
    if manifest.members > len(agreed["clients"]):
        raise UserError(f"{path}: has more members than the federation has clients; ask the coordinator for it")
    if now() > manifest.ends:
        raise UserError(f"{path}: its time ended at {manifest.ends}; ask the coordinator to open it again")
    return manifest


def now() -> str:
    """Return the time in UTC, to the second, as manifests and logs write it."""
    return datetime.now(UTC).strftime(TIME)


def note(folder: Path, what: str, who: str, files: Iterable[tuple[str, str]] = (), **more: object) -> None:
    """Add a line to the log: time, ``what`` happened with ``who``, and (name, SHA-256) of the ``files`` concerned."""
    line = {"time": now(), "what": what, "who": who, "files": dict(files), **more}
    with (folder / LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=True) + "\n")


def received_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, "" for what is none."""
    with suppress(UserError), opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""


def sent_tensors(stage: SharedStage, first: State, number: int) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor that crosses at the start of round ``number``, from A_0."""
    shapes = {name: tuple(value.shape) for name, value in first.items() if stage.sends(name)}
    if stage.state is None or number == 0:
        return shapes
    return shapes | {STATE + name: tuple(value.shape) for name, value in first.items() if stage.sends(STATE + name)}


def read_adapter(
    folder: Path, content: bytes | None, manifest: Manifest, first: State, stage: SharedStage
) -> dict[str, np.ndarray]:
    """Return the shared adapter from the ``content`` of the file beside its manifest, None where there is none.

    What does not cross has the values of ``first``, the site's A_0. Raises ``UserError`` where the file is missing, or
    has other tensors than the site's own plan, in float32 and finite.
    """
    path = folder / ADAPTER
    if content is None:
        raise UserError(f"{folder}: holds no {ADAPTER}, which you need; ask the coordinator for it")
    final = manifest.kind == "final"
    wanted = sent_tensors(stage, first, 0 if final else manifest.round)
    own = {name: np.asarray(value) for name, value in first.items()}
    if not final:
        declared = declared_shapes(stage, {name: own[name] for name in wanted if name in own})
        given = {name: list(shape) for name, shape in manifest.declares.items()}
        check_equal(folder / MANIFEST, {"declares": declared}, {"declares": given})
    if digest(content) != manifest.digests.get("adapter"):
        raise UserError(f"{path}: cut, or not the file that {MANIFEST} is of; ask the coordinator for both again")
    tensors, _ = received_tensors(content, path)
    check_tensors(path, {name: ("float32", shape) for name, shape in wanted.items()}, tensors)
    for name, value in tensors.items():
        if not np.isfinite(value).all():
            raise UserError(f"{path}: tensor '{name}' has NaN or infinite numbers; ask the coordinator for another")
    return {**own, **tensors}


def check_tensors(
    path: Path, wanted: Mapping[str, tuple[str, Sequence[int]]], tensors: Mapping[str, np.ndarray], whose: str = ""
) -> None:
    """Refuse other tensors than ``wanted``, name to (type, shape). Raises ``UserError`` that names the first."""
    if other := sorted({*wanted} ^ {*tensors}):
        what = "is not declared by the plan" if other[0] in tensors else "is missing"
        raise UserError(f"{path}: {whose}tensor '{other[0]}' {what} ({len(other)} such in all); ask for the file again")
    for name, expected in wanted.items():
        found = (str(tensors[name].dtype), tuple(tensors[name].shape))
        if found != (expected[0], tuple(expected[1])):
            raise UserError(
                f"{path}: {whose}tensor '{name}' is {found}, and {expected} is declared; ask for the file again"
            )


def check_equal(path: Path, own: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Refuse what differs. Raises ``UserError`` in one line that names the values of both sides."""
    if found := list(differences(dict(own), dict(other))):
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise UserError(f"{path}: {'; '.join(found[:3])}{more}; take what the federation agreed on")


def manifest_digest(manifest: Manifest) -> str:
    """Return the digest by which an upload says which manifest it answers, whenever that ends."""
    return digest(canonical(manifest.model_dump(mode="json", exclude={"ends"})))
