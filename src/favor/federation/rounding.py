"""Uploads at 8 or 16 bits: every number becomes a whole multiple of its tensor's step, up or down at random.

With s = max |Delta| / (2^(bits - 1) - 1), the step of a tensor, its number x is sent as q = floor(x / s + u), u uniform
in [0, 1), and read as q s. So E[q s] = x, and |q s - x| < s (QSGD with the largest value in place of the norm;
Alistarh, Grubic, Li, Tomioka and Vojnovic 2017). What is sent is the q and, as ``<tensor>.step``, the s in float32.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from favor.federation.packs import State
from favor.foundation.lazy import LazyMapping
from favor.foundation.seeds import numpy_generator

STEP = ".step"


def rounded(update: State, bits: int, seed: int, round_number: int, client: str) -> dict[str, np.ndarray]:
    """Return an upload as it is sent at ``bits`` per number; at 32 as it is.

    Stream of a tensor: (``seed``, "upload rounding", round, client, tensor). A tensor with NaN or infinite numbers gets
    a step that is NaN, so that the server refuses it.
    """
    if bits == 32:
        return dict(update)
    sent = {}
    for name in sorted(update):
        values = update[name].astype(np.float64)
        step = _step(float(np.abs(values).max(initial=0.0)), bits)
        draws = numpy_generator(seed, "upload rounding", round_number, client, name).random(values.shape)
        whole = np.floor(values / np.float64(step) + draws) if step > 0 else np.zeros(values.shape)
        # The largest value plus a draw next to 1 is rounded to the next whole number, which the integer does not hold.
        whole = np.minimum(whole, 2 ** (bits - 1) - 1)
        sent[name], sent[name + STEP] = whole.astype(f"int{bits}"), np.asarray([step])
    return sent


def _step(largest: float, bits: int) -> np.float32:
    """Return the least float32 of which 2^(bits - 1) - 1 reach the largest value, which then overflows no integer."""
    if not np.isfinite(largest):
        return np.float32(np.nan)
    most = 2 ** (bits - 1) - 1
    step = np.float32(largest / most)
    return np.nextafter(step, np.float32(np.inf)) if float(step) * most < largest else step


def restored(sent: State, bits: int) -> State:
    """Return the numbers of an upload: q s, in float64 and so exact; at 32 bits as they were sent."""
    if bits == 32:
        return sent
    names = [name for name in sent if not name.endswith(STEP)]
    return LazyMapping(names, lambda name: sent[name] * np.float64(sent[name + STEP][0]))


def sent_types(shapes: Mapping[str, Sequence[int]], bits: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the NumPy type and shape of every tensor of an upload as it is sent, from the shapes of its numbers."""
    kind = "float32" if bits == 32 else f"int{bits}"
    found = {name: (kind, tuple(shape)) for name, shape in shapes.items()}
    return found if bits == 32 else found | {name + STEP: ("float32", (1,)) for name in shapes}
