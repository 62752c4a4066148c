"""Normal draws from a secret, which nobody can tell from chance without it: ChaCha20 (RFC 8439) under HKDF (RFC 5869).

A simulation draws the noise of its privacy by NumPy's generator, which is made to be repeated and not to be secret.
"""

import numpy as np
from scipy.special import ndtri

from favor.sites.signing import canonical


def secret_normal(secret: bytes, about: list[object], shape: tuple[int, ...]) -> np.ndarray:
    """Return standard normal draws in float64: the same for the same ``secret`` and ``about``, JSON values.

    A draw is the normal quantile of (n + 1/2) / 2^52, n of 52 random bits.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=canonical(about)).derive(secret)
    stream = Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor()
    bits = np.frombuffer(stream.update(bytes(8 * int(np.prod(shape)))), dtype="<u8") >> 12
    return np.asarray(ndtri((bits + 0.5) * 2.0**-52)).reshape(shape)
