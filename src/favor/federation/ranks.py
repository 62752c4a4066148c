"""Ranks per client: the server keeps an adapter of the largest rank R, client i one of rank r_i.

A client is sent the first r_i rows of A and columns of B (truncation). The server fills its adapter up with zeros and
takes the weighted mean, B = sum_i w_i [B_i 0] and A = sum_i w_i [A_i; 0] (HetLoRA, Cho et al. 2024, with the weights of
the data and without its pruning), or averages the products sum_i w_i B_i A_i and cuts them by an SVD, whose first r_i
columns are the client's (FlexLoRA, Bai et al. 2024). The scaling is alpha / R for everybody: an adapter's product then
means the same at every rank, which truncation, zeros and the SVD take for granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from favor.foundation.lazy import LazyMapping
from favor.foundation.seeds import derive_seed

if TYPE_CHECKING:  # the workflow reads this module whenever it is parsed
    import numpy as np

    from favor.federation.client_archive import State
    from favor.lm.lora import LoraState


def rank_of(ranks: Sequence[int], seed: int, client: str) -> int:
    """Return a client's rank: one of ``ranks``, each as likely as it is often there (stream: ``seed``, client)."""
    return ranks[derive_seed(seed, "ranks", client) % len(ranks)]


def mean_share(ranks: Sequence[int], seed: int, clients: Sequence[str]) -> float:
    """Return the mean rank of ``clients`` as a share of the largest; 1 where they have one rank."""
    own = [rank_of(ranks, seed, client) for client in clients if ranks]
    return sum(own) / len(own) / max(ranks) if own else 1.0


def shape_at(name: str, shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return the shape at ``rank`` of the tensor of this PEFT name."""
    return (rank, *shape[1:]) if ".lora_A." in name else (*shape[:1], rank)


def at_rank(state: State | LoraState, rank: int) -> State:
    """Return an adapter at ``rank``: its first rows of A and columns of B, filled up with zeros where it has fewer."""

    def tensor(name: str) -> np.ndarray:
        import numpy as np

        value = np.asarray(state[name])
        found = np.zeros(shape_at(name, value.shape, rank), dtype=value.dtype)
        both = tuple(slice(min(sizes)) for sizes in zip(value.shape, found.shape, strict=True))
        found[both] = value[both]
        return found

    return LazyMapping(list(state), tensor)


def as_received(state: State, ranks: Sequence[int] | None, seed: int, clients: Iterable[str]) -> dict[str, State]:
    """Return the shared adapter as each of ``clients`` is sent it; those of one rank share one object."""
    if ranks is None:
        return dict.fromkeys(clients, state)
    own = {client: rank_of(ranks, seed, client) for client in clients}
    made = {rank: at_rank(state, rank) for rank in set(own.values())}
    return {client: made[rank] for client, rank in own.items()}


def filled(update: State, shared: State) -> State:
    """Return an upload A_i - A_t of a lower rank as one of the rank of A_t = ``shared``: that of A_i filled with zeros.

    Beyond the client's rank it is then -A_t. An upload of the whole rank is returned number by number as it is.
    """

    def tensor(name: str) -> np.ndarray:
        value, whole = update[name], shared[name]
        if value.shape == whole.shape:
            return value
        found = (-whole).astype(value.dtype)
        found[tuple(map(slice, value.shape))] = value
        return found

    return LazyMapping(sorted(update), tensor)
