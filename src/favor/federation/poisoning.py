"""Clients that attack the shared adapter: who they are, what they train on and what they send.

``scale``: an attacker sends ``factor`` times its update; ``flip``: minus ``factor`` times it, away from where honest
clients go. ``hijack``: its shared stage trains on another author's texts, so that the shared adapter writes like that
author, and it sends ``factor`` times what comes of it (model replacement; Bagdasaryan et al. 2020).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from favor.foundation.lazy import LazyMapping
from favor.foundation.seeds import numpy_generator

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd

    from favor.federation.client_archive import State


class Attackers(NamedTuple):
    """``clients`` that attack, in name order, and the ``target``: the honest client whose voice a hijack aims at."""

    clients: list[str]
    target: str


def attackers_of(seed: int, clients: Sequence[str], share: float) -> Attackers:
    """Return the first ceil(share N) of a permutation of the N ``clients`` (stream: ``seed``), and its last as target.

    Who attacks at a share does at every larger one, and the target is the same at all.
    """
    order = numpy_generator(seed, "attackers").permutation(len(clients))
    drawn = [clients[place] for place in order]
    return Attackers(sorted(drawn[: attacker_count(len(clients), share)]), drawn[-1])


def attacker_count(clients: int, share: float) -> int:
    """Return ceil(share N), of the share as it is written: 0.07 of 100 clients are 7."""
    return math.ceil(round(share * clients, 9))


def hijacked(texts: pd.DataFrame, attackers: Collection[str], target: str) -> pd.DataFrame:
    """Return ``texts`` (table ``client_texts``) with the target's texts in the place of those of every attacker."""
    import pandas as pd

    honest, voice = texts[~texts["client"].isin(list(attackers))], texts[texts["client"] == target]
    both = pd.concat([honest, *(voice.assign(client=client) for client in attackers)])
    return both.sort_values(["client", "document_id"], ignore_index=True)


def lied(update: State, factor: float) -> State:
    """Return ``factor`` times an upload, in its own precision. Tensors are read when they are asked for."""
    return LazyMapping(sorted(update), lambda key: update[key] * update[key].dtype.type(factor))
