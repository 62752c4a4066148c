"""Packs: one safetensors file with the adapters of the clients that one job served.

A tensor is named ``client/part/key``: the client, what the part is (``delta``, ``endpoint``, ``residual`` or
``adapter``; a gated client also keeps its ``companion`` and ``gate``), and the tensor's own key. Client names hold no
slash. The header names the clients, so a pack with none is a valid file too. Tensors are read when they are asked for:
what a job reads of a pack grows with the clients it serves, and what it holds need not grow at all.

A part that another file holds already (the endpoint under a residual, the shared adapter of a mixture) is not stored
twice: the header's ``elsewhere`` names its :class:`Place`, relative to the pack's own folder, and readers follow it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.lazy import LazyMapping
from favor.foundation.tensors import open_safetensors, safetensors_header, safetensors_shapes, write_safetensors

State = Mapping[str, np.ndarray]
Pack = dict[str, dict[str, State]]


@dataclass(frozen=True)
class Place:
    """Where a part is stored: the tensors of file ``path`` whose names begin with ``prefix``, without it.

    ``prefix`` is "client/part/" in a pack, and empty for a file that is one adapter.
    """

    path: str
    prefix: str = ""

    def seen_from(self, pack: str | Path) -> list[str]:
        """Return the path relative to the folder of ``pack``, and the prefix."""
        return [os.path.relpath(self.path, Path(pack).parent), self.prefix]

    @classmethod
    def of(cls, pack: str | Path, seen: Sequence[str]) -> Place:
        """Return the place that :meth:`seen_from` describes."""
        return cls(os.path.normpath(Path(pack).parent / seen[0]), seen[1])


class _Elsewhere(Mapping[str, np.ndarray]):
    """The tensors at a place. Its file is opened when something of it is asked for."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @cached_property
    def _tensors(self) -> LazyMapping[np.ndarray]:
        tensors, _ = open_safetensors(self._place.path)
        prefix = self._place.prefix
        keys = [name.removeprefix(prefix) for name in tensors if name.startswith(prefix)]
        return LazyMapping(keys, lambda key: tensors[prefix + key])

    def __getitem__(self, key: str) -> np.ndarray:
        return self._tensors[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def write_pack(
    path: str | Path,
    pack: Mapping[str, Mapping[str, Mapping[str, object]]],
    header: Mapping[str, str],
    elsewhere: Mapping[str, Mapping[str, Place]] | None = None,
) -> None:
    """Write ``pack``, client -> part -> LoRA state, with ``header`` and the clients' names.

    ``elsewhere``: client -> part -> where that part of it is stored already.
    """
    places = {
        client: {part: place.seen_from(path) for part, place in parts.items()}
        for client, parts in (elsewhere or {}).items()
        if parts
    }
    if places:
        header = {**header, "elsewhere": json.dumps(places, sort_keys=True)}
    tensors = {
        f"{client}/{part}/{key}": tensor
        for client, parts in pack.items()
        for part, state in parts.items()
        for key, tensor in state.items()
    }
    write_safetensors(tensors, path, {**header, "clients": json.dumps(sorted(pack))})


def read_pack(path: str | Path) -> tuple[Pack, dict[str, str]]:
    """Return (client -> part -> LoRA state, header). Raises ``UserError`` where the file is not a pack."""
    tensors, header = open_safetensors(path)
    if "clients" not in header:
        raise UserError(f"{path}: not a pack of client adapters; delete it and run again")
    keys: dict[str, dict[str, list[str]]] = {client: {} for client in json.loads(header["clients"])}
    places = _places(path, header)
    for name in tensors:
        client, part, key = name.split("/", 2)
        keys[client].setdefault(part, []).append(key)

    def state(client: str, part: str) -> State:
        return LazyMapping(keys[client][part], lambda key: tensors[f"{client}/{part}/{key}"])

    pack: Pack = {}
    for client, parts in keys.items():
        other = {part: _Elsewhere(place) for part, place in places.get(client, {}).items()}
        pack[client] = {**other, **{part: state(client, part) for part in parts}}
    return pack, header


def _places(path: str | Path, header: Mapping[str, str]) -> dict[str, dict[str, Place]]:
    """Return where the parts of a pack are that it does not hold itself."""
    found = json.loads(header.get("elsewhere", "{}"))
    return {client: {part: Place.of(path, seen) for part, seen in parts.items()} for client, parts in found.items()}


def pack_shapes(path: str | Path) -> dict[tuple[str, str], dict[str, tuple[int, ...]]]:
    """Return the shapes of every (client, part) of a pack, in order of their names, without reading a tensor."""
    shapes: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {}
    for name, shape in safetensors_shapes(path).items():
        client, part, key = name.split("/", 2)
        shapes.setdefault((client, part), {})[key] = shape
    files: dict[str, dict[str, tuple[int, ...]]] = {}
    for client, parts in _places(path, safetensors_header(path)).items():
        for part, place in parts.items():
            if place.path not in files:
                files[place.path] = safetensors_shapes(place.path)
            shapes[client, part] = {
                name.removeprefix(place.prefix): shape
                for name, shape in files[place.path].items()
                if name.startswith(place.prefix)
            }
    return dict(sorted(shapes.items()))


def places_of(paths: Iterable[str | Path], part: str) -> dict[str, Place]:
    """Return where ``part`` of every client of several packs is stored."""
    return {client: Place(str(path), f"{client}/{part}/") for path in paths for client in read_pack(path)[0]}


def read_packs(paths: Iterable[str | Path]) -> Pack:
    """Return the adapters of several packs by client; of a client in two packs, those of the later round."""
    packs = sorted((read_pack(path) for path in paths), key=lambda item: int(item[1].get("round", 0)))
    return {client: parts for pack, _ in packs for client, parts in pack.items()}
