"""Where personal LoRA adapters put their update: energy by block of layers and module, averaged over adapters.

The energy of an adapted projection is ||V U||_F^2 of its effective update (paper, Adapter-Space Diagnostic), with U the
factor A [r, d_in] and V the factor B [d_out, r]. The factor (alpha / r)^2 is common to all modules and drops out of
shares. Only shares averaged over clients leave here, no tensor of a client.
"""

import re
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from favor.federation.client_archive import State
from favor.federation.stages import compose
from favor.foundation.errors import UserError

BLOCK_LAYERS = 6  # the paper's blocks, for models of at least twice as many layers; smaller ones are shown by layer
_KEY = re.compile(r"\.layers\.(\d+)\.(?:\w+\.)*(\w+)\.lora_A\.weight$")


def product_energy(left: np.ndarray, right: np.ndarray) -> float:
    """||left right||_F^2 of left [m, r] and right [r, n] as sum((left' left) * (right right')): no [m, n] product."""
    return float(((left.T @ left) * (right @ right.T)).sum())


def update_energies(parts: Mapping[str, State]) -> dict[str, dict[tuple[int, str], float]]:
    """Energies by (layer, module) of one client's pack: "personal", and "residual" where it holds an endpoint.

    The residual's energy is that of the personal update minus the shared endpoint's, [V, -V_e] [U; U_e].
    """
    personal = compose(parts)
    endpoint = parts.get("endpoint") if "residual" in parts else None
    energies: dict[str, dict[tuple[int, str], float]] = {"personal": {}}
    if endpoint is not None:
        energies["residual"] = {}
    for name in personal:
        match = _KEY.search(name)
        if match is None:
            continue
        place, other = (int(match[1]), match[2]), name.replace(".lora_A.", ".lora_B.")
        up, down = (personal[key].astype(np.float64) for key in (other, name))
        energies["personal"][place] = product_energy(up, down)
        if endpoint is not None:
            left = np.hstack([up, -endpoint[other].astype(np.float64)])
            right = np.vstack([down, endpoint[name].astype(np.float64)])
            energies["residual"][place] = product_energy(left, right)
    if not energies["personal"]:
        raise UserError("adapter energies: no tensor of the adapters names a numbered layer; use a decoder model")
    return energies


def block_shares(energies: Mapping[tuple[int, str], float], block: int) -> dict[tuple[int, str], float]:
    """Share of each module in its block's energy, by (first layer of the block, module), of blocks that have energy."""
    sums: dict[tuple[int, str], float] = {}
    for (layer, module), energy in energies.items():
        place = (layer // block * block, module)
        sums[place] = sums.get(place, 0.0) + energy
    totals: dict[int, float] = {}
    for (first, _), energy in sums.items():
        totals[first] = totals.get(first, 0.0) + energy
    return {place: energy / totals[place[0]] for place, energy in sums.items() if totals[place[0]] > 0}


def adapter_energy(packs: Iterable[Mapping[str, Mapping[str, State]]]) -> pd.DataFrame:
    """Return the table ``adapter_energy`` of packs (client -> part -> state), read one at a time."""
    shares: dict[tuple[str, int, str], list[float]] = {}
    layers = block = 0
    for pack in packs:
        for parts in pack.values():
            energies = update_energies(parts)
            layers = max(layer for layer, _ in energies["personal"]) + 1
            block = BLOCK_LAYERS if layers >= 2 * BLOCK_LAYERS else 1
            for part, found in energies.items():
                for (first, module), share in block_shares(found, block).items():
                    shares.setdefault((part, first, module), []).append(share)
    rows = [
        (part, first, min(first + block, layers) - 1, module, float(np.mean(values)), len(values))
        for (part, first, module), values in shares.items()
    ]
    frame = pd.DataFrame(rows, columns=["part", "first_layer", "last_layer", "module", "share", "adapters"])
    return frame.astype({"first_layer": "int32", "last_layer": "int32", "adapters": "int32"})
