"""Which clients take part in which round: a pure function of (seed, sampling rule), the same for every method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from favor.foundation.seeds import numpy_generator

if TYPE_CHECKING:
    import pandas as pd


def client_names(count: int, skip: int = 0) -> list[str]:
    """Return the anonymous names of ``count`` clients, client_001 onwards, or after the first ``skip`` of a roster."""
    width = max(3, len(str(skip + count)))
    return [f"client_{number:0{width}d}" for number in range(skip + 1, skip + count + 1)]


def cohorts(
    seed: int, clients: Sequence[str], rounds: int, clients_per_round: int, sampling: str = "coverage_first"
) -> list[list[str]]:
    """Return the sampled clients of each round, each cohort in name order.

    "coverage_first" draws clients that were never sampled before any that were, so that ceil(N / C) rounds cover all N
    clients; "uniform" draws each cohort uniformly without replacement. The permutation of a round depends on the seed
    and the round alone.
    """
    seen: set[str] = set()
    result = []
    for round_number in range(rounds):
        order = numpy_generator(seed, "schedule", round_number).permutation(len(clients))
        drawn = [clients[index] for index in order]
        if sampling == "coverage_first":
            drawn.sort(key=lambda client: client in seen)
        cohort = sorted(drawn[:clients_per_round])
        seen.update(cohort)
        result.append(cohort)
    return result


def answering(seed: int, number: int, cohort: Sequence[str], share: float) -> list[str]:
    """Return who answers of a round's cohort, in its order: each client with probability ``share``.

    Every client draws from a stream of (``seed``, round, client), and answers if it draws less than ``share``; the one
    that draws least always does, so that no round is empty. Who answers at a share does at every larger one, and all do
    at 1.
    """
    if share >= 1:
        return list(cohort)
    drawn = {client: numpy_generator(seed, "answers", number, client).random() for client in cohort}
    return [client for client in cohort if drawn[client] < share or client == min(cohort, key=drawn.__getitem__)]


def schedule_frame(rounds: Sequence[Sequence[str]]) -> pd.DataFrame:
    """Return cohorts as the ``schedule`` table."""
    import pandas as pd  # here, because the workflow reads this module whenever it is parsed

    rows = [(number, slot, client) for number, cohort in enumerate(rounds) for slot, client in enumerate(cohort)]
    frame = pd.DataFrame(rows, columns=["round", "slot", "client"])
    return frame.astype({"round": "int32", "slot": "int32"})


def last_participation(rounds: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the last round of every client that was sampled at all."""
    return {client: number for number, cohort in enumerate(rounds) for client in cohort}


def batches(clients: Sequence[str], size: int) -> list[list[str]]:
    """Cut ``clients`` into consecutive groups of ``size``, the clients that one job serves."""
    return [list(clients[start : start + size]) for start in range(0, len(clients), size)]
