"""Signatures (Ed25519, RFC 8032) and digests (SHA-256) of what crosses between the coordinator and the sites.

Normal draws from a secret, too: a simulation draws the noise of its privacy by NumPy's generator, which is made to be
repeated and not to be secret.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.extras import require

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FEDERATION = "a federation between sites"
LOG = "log.jsonl"


def canonical(content: Any) -> bytes:
    """Return JSON with sorted keys and no spaces: what is signed, and what digests of values are of."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_digest(files: Iterable[Path]) -> str:
    """Return a digest of the names and contents of some files, whatever folder they lie in."""
    return digest(canonical({path.name: file_digest(path) for path in files}))


def tensors_digest(tensors: Mapping[str, np.ndarray]) -> str:
    """Return a digest of named arrays: names, types, shapes and values."""
    said = {}
    for name, value in tensors.items():
        said[name] = [str(value.dtype), list(value.shape), digest(np.ascontiguousarray(value).tobytes())]
    return digest(canonical(said))


def secret_key(path: Path, lost: str = "") -> Ed25519PrivateKey:
    """Return the private key of ``path``: 32 bytes that its owner alone can read. Where it is missing it is made.

    ``lost``: what that means where others know the key already; it raises ``UserError`` then.
    """
    require("sites", FEDERATION)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if lost and not path.exists():
        raise UserError(f"{path}: file not found; {lost}")
    return Ed25519PrivateKey.from_private_bytes(secret(path))


def secret(path: Path) -> bytes:
    """Return the 32 random bytes of ``path``, which are drawn where it is missing. Nobody else can read the file."""
    try:  # of two commands at once one alone draws
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(32))
    except FileExistsError:
        pass
    except OSError:  # a full disk leaves no empty file
        path.unlink(missing_ok=True)
        raise
    found = path.read_bytes()
    if len(found) != 32:
        raise UserError(f"{path}: not a whole key; put back your copy, or begin again in another folder")
    return found


def secret_normal(secret: bytes, about: list[object], shape: tuple[int, ...]) -> np.ndarray:
    """Return standard normal draws in float64: the same for the same ``secret`` and ``about``, JSON values.

    A draw is the normal quantile of (n + 1/2) / 2^52, n of 52 random bits of ChaCha20 (RFC 8439) under HKDF (RFC 5869).
    """
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from scipy.special import ndtri

    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=canonical(about)).derive(secret)
    stream = Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor()
    bits = np.frombuffer(stream.update(bytes(8 * int(np.prod(shape)))), dtype="<u8") >> 12
    return np.asarray(ndtri((bits + 0.5) * 2.0**-52)).reshape(shape)


def replacement(client: str, key: str) -> bytes:
    """Return what the old key of ``client`` signs where the public ``key`` takes its place."""
    return canonical({"client": client, "new key": key})


def public_key(key: Ed25519PrivateKey) -> str:
    """Return the public half of a key, in hexadecimal."""
    return key.public_key().public_bytes_raw().hex()


def signature(key: Ed25519PrivateKey, content: bytes) -> str:
    """Return the signature of some bytes, in hexadecimal."""
    return key.sign(content).hex()


def is_signed(content: bytes, signature: str, public: str) -> bool:
    """Return whether a signature in hexadecimal is that of ``content`` by the owner of a public key."""
    require("sites", FEDERATION)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True
