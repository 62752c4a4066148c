"""Packs: one safetensors file with the adapters of the clients that one job served.

A tensor is named ``client/part/key``: the client, what the part is (``delta``, ``endpoint``, ``residual`` or
``adapter``; a gated client also keeps its ``companion`` and ``gate``), and the tensor's own key. Client names hold no
slash. The header names the clients, so a pack with none is a valid file too. Tensors are read when they are asked for:
what a job reads of a pack grows with the clients it serves, and what it holds need not grow at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.lazy import LazyMapping
from favor.foundation.tensors import open_safetensors, write_safetensors

State = Mapping[str, np.ndarray]
Pack = dict[str, dict[str, State]]


def write_pack(
    path: str | Path, pack: Mapping[str, Mapping[str, Mapping[str, object]]], header: Mapping[str, str]
) -> None:
    """Write ``pack``, client -> part -> LoRA state, with ``header`` and the clients' names."""
    tensors = {
        f"{client}/{part}/{key}": tensor
        for client, parts in pack.items()
        for part, state in parts.items()
        for key, tensor in state.items()
    }
    write_safetensors(tensors, path, {**header, "clients": json.dumps(sorted(pack))})


def read_pack(path: str | Path) -> tuple[Pack, dict[str, str]]:
    """Return (client -> part -> LoRA state, header). Raises ``UserError`` where the file is no pack."""
    tensors, header = open_safetensors(path)
    if "clients" not in header:
        raise UserError(f"{path}: not a pack of client adapters; delete it and run again")
    keys: dict[str, dict[str, list[str]]] = {client: {} for client in json.loads(header["clients"])}
    for name in tensors:
        client, part, key = name.split("/", 2)
        keys[client].setdefault(part, []).append(key)

    def state(client: str, part: str) -> State:
        return LazyMapping(keys[client][part], lambda key: tensors[f"{client}/{part}/{key}"])

    return {client: {part: state(client, part) for part in parts} for client, parts in keys.items()}, header


def read_packs(paths: Iterable[str | Path]) -> Pack:
    """Return the adapters of several packs by client; of a client in two packs, those of the later round."""
    packs = sorted((read_pack(path) for path in paths), key=lambda item: int(item[1].get("round", 0)))
    return {client: parts for pack, _ in packs for client, parts in pack.items()}
