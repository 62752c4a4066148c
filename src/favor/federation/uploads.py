"""The uploads of a round as they are read, and their sum: all that secure aggregation leaves a server.

The sum is computed by a job of its own, which stands for the cryptography: nothing is encrypted here, and what a server
could learn beyond the sum is who took part.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.federation.client_archive import State, read_pack
from favor.federation.method import SharedStage
from favor.federation.privacy import noise
from favor.federation.schemas import TRAFFIC
from favor.federation.upload_checks import check_finite
from favor.foundation.lazy import LazyMapping
from favor.foundation.seeds import numpy_generator
from favor.foundation.tensors import open_safetensors, safetensors_header, write_safetensors


class Uploads(NamedTuple):
    """``deltas`` and ``weights`` by client, and the ``files`` of the round itself."""

    deltas: dict[str, State]
    weights: dict[str, float]
    files: list[str]


def read_uploads(paths: Iterable[str], stage: SharedStage, round_number: int) -> Uploads:
    """Read packs of uploads; a client's later upload takes the place of an earlier one, where a server has both.

    Raises ``UserError`` for an upload that holds NaN or infinite numbers.
    """
    found = Uploads({}, {}, [])
    for path in sorted(paths, key=lambda path: int(safetensors_header(path)["round"])):
        pack, header = read_pack(path)
        if int(header["round"]) == round_number:
            found.files.append(path)
        for client, parts in pack.items():
            sent = restored(parts[stage.content], stage.upload_bits)
            check_finite(sent, client, header["round"], path)
            found.deltas[client] = sent
            found.weights[client] = 1.0 if stage.weighting == "uniform" else float(header[f"words of {client}"])
    return found


def cohort_sum(uploads: Uploads, stage: SharedStage, seed: int, round_number: int) -> State:
    """Return sum_i w_i Delta_i in float64, clients in name order, with the noise of ``stage.privacy`` if it is set."""
    clients = sorted(uploads.deltas)

    def total(key: str) -> np.ndarray:
        summed = np.zeros(uploads.deltas[clients[0]][key].shape, dtype=np.float64)
        for client in clients:
            summed += uploads.weights[client] * uploads.deltas[client][key].astype(np.float64)
        if stage.privacy is not None:
            summed += noise(summed.shape, stage.privacy, seed, stage.track, round_number, key)
        return summed

    return LazyMapping(sorted(uploads.deltas[clients[0]]), total)


def mean_of_sum(total: State, weight: float, stage: SharedStage) -> State:
    """Return the mean of uploads from their sum: by their ``weight``, or, under privacy, by the cohort as drawn."""
    share = weight if stage.privacy is None else stage.privacy.cohort
    return LazyMapping(sorted(total), lambda key: total[key] / share)


def write_sum(total: State, uploads: Uploads, traffic: pd.DataFrame, path: str, header: Mapping[str, str]) -> None:
    """Write a sum with its weight and the round's ``traffic``, which names who took part and no content."""
    about = {"weight": repr(sum(uploads.weights.values())), "traffic": json.dumps(traffic.to_dict("list"))}
    write_safetensors(total, path, {"kind": "sum of uploads", **header, **about})


def read_sum(path: str) -> tuple[State, float, pd.DataFrame]:
    """Return (sum, weight, traffic) of a file of :func:`write_sum`."""
    total, header = open_safetensors(path)
    return total, float(header["weight"]), pd.DataFrame(json.loads(header["traffic"]), columns=TRAFFIC.names)


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
