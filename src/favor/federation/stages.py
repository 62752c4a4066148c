"""What each stage starts from, uploads and keeps: the update rules, apart from how a client trains.

Used by the workflow's scripts, where every step is a job, and by :func:`simulate`, which runs a plan in memory with any
local solver. A stage is the plain values of a ``SharedStage`` or ``PersonalStage``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from favor.federation.method import Plan, plan_values
from favor.federation.schedule import last_participation
from favor.federation.server import aggregate, delta

State = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class StageClient:
    """One client of a stage: where it starts, what it is anchored to, how long it trains, and its style target.

    ``start`` is the adapter the stage begins with; with ``residual`` it is held fixed and a residual is trained on top.
    ``anchor`` is A_t, of the proximal term and of a mixture. ``round_number`` names the client's random streams.
    """

    name: str
    round_number: int
    start: State
    epochs: float
    anchor: State | None = None
    target: np.ndarray | None = None


class Trained(Protocol):
    """What a local solver returns of one client, as :class:`favor.lm.tasks.ClientResult` does."""

    name: str
    state: Mapping[str, Any]
    residual: Mapping[str, Any]
    displacement: Mapping[str, Any] | None


def shared_clients(
    names: Sequence[str],
    round_number: int,
    shared: State,
    stage: Mapping[str, Any],
    previous: Mapping[str, State] | None = None,
    targets: Mapping[str, np.ndarray] | None = None,
    participations: Mapping[str, int] | None = None,
) -> list[StageClient]:
    """Return the clients of a shared stage: at A_t, or (``start`` "own") where their last participation ended."""
    own = (previous or {}) if stage["start"] == "own" else {}
    return [
        StageClient(
            name,
            round_number,
            own.get(name, shared),
            _epochs(stage, name, participations),
            shared,
            (targets or {}).get(name),
        )
        for name in names
    ]


def _epochs(stage: Mapping[str, Any], client: str, participations: Mapping[str, int] | None) -> float:
    """Return the passes of one participation: an equal part of them where they are spread over all."""
    parts = (participations or {}).get(client, 1) if stage["spread"] else 1
    return float(stage["epochs"]) / parts


def upload(result: Trained, shared: State, stage: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return what a client sends: its scaled delta (Eq. shared_delta), or how far pFedMe's outer steps moved."""
    if result.displacement is not None:
        return as_arrays(result.displacement)
    return delta(as_arrays(result.state), shared, stage["upload_scale"])


def personal_clients(
    rounds: Mapping[str, int],
    starts: Mapping[str, State],
    stage: Mapping[str, Any],
    anchor: State | None = None,
    targets: Mapping[str, np.ndarray] | None = None,
    participations: Mapping[str, int] | None = None,
) -> list[StageClient]:
    """Return the clients of a personal stage, which begin at ``starts``.

    ``rounds``: the round each stage belongs to; ``participations``: how often each client takes part in all, which a
    ``spread`` number of epochs is divided by.
    """
    return [
        StageClient(
            name,
            round_number,
            starts[name],
            _epochs(stage, name, participations),
            anchor,
            (targets or {}).get(name),
        )
        for name, round_number in rounds.items()
    ]


def kept(result: Trained, start: State, stage: Mapping[str, Any]) -> dict[str, State]:
    """Return the parts of a personal result that the client keeps: its adapter, or endpoint and residual."""
    if stage["residual"]:
        return {"endpoint": start, "residual": as_arrays(result.residual)}
    return {"adapter": as_arrays(result.state)}


def compose(parts: Mapping[str, State]) -> State:
    """Return the adapter a client generates with, from the parts it keeps.

    A residual is added to its endpoint factor by factor (Eq. residual_pack). Training computed every forward pass with
    this very sum in float32, so the reconstruction is the trained adapter bit for bit.
    """
    if "residual" in parts:
        endpoint, residual = parts["endpoint"], parts["residual"]
        return {key: endpoint[key] + residual[key] for key in sorted(endpoint)}
    return parts["adapter"] if "adapter" in parts else parts["endpoint"]


def as_arrays(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return an adapter of tensors or arrays as arrays."""
    return {key: np.asarray(value) for key, value in state.items()}


Solver = Callable[[Sequence[StageClient], Mapping[str, Any], str], Sequence[Trained]]


@dataclass(frozen=True)
class Simulation:
    """What a plan leaves: the server's adapter of every round, and what every client generates with."""

    server: list[dict[str, np.ndarray]]
    clients: dict[str, State]
    uploads: list[dict[str, dict[str, np.ndarray]]]


def simulate(
    plan: Plan,
    cohorts: Sequence[Sequence[str]],
    clients: Sequence[str],
    initial: State,
    solver: Solver,
    weights: Mapping[str, float] | None = None,
    server_learning_rate: float = 1.0,
) -> Simulation:
    """Run a plan in memory; ``solver(clients, stage, "shared" | "personal")`` trains and returns results in order.

    ``weights`` are the clients' words, used where the stage weights by them. The workflow's jobs apply the same
    functions in the same order.
    """
    values = plan_values(plan)
    server: list[dict[str, np.ndarray]] = [as_arrays(initial)]
    uploads: list[dict[str, dict[str, np.ndarray]]] = []
    endpoints: dict[str, State] = {}
    personal: dict[str, dict[str, State]] = {}
    parts = {name: sum(name in cohort for cohort in cohorts) for name in clients}
    shared, own = values["shared"], values["personal"]
    for number, cohort in enumerate(cohorts if plan.shared is not None else ()):
        now = server[-1]
        trained = solver(shared_clients(cohort, number, now, shared, endpoints, None, parts), shared, "shared")
        uploads.append({result.name: upload(result, now, shared) for result in trained})
        endpoints |= {result.name: as_arrays(result.state) for result in trained}
        if plan.personal is not None and plan.personal.start in ("endpoint", "own"):
            begin: dict[str, State] = {}
            for name in cohort:
                carried = compose(personal[name]) if name in personal else now
                begin[name] = endpoints[name] if plan.personal.start == "endpoint" else carried
            taking_part = personal_clients(dict.fromkeys(cohort, number), begin, own, now, participations=parts)
            for result in solver(taking_part, own, "personal"):
                personal[result.name] = kept(result, begin[result.name], own)
        even = shared["weighting"] == "uniform" or weights is None
        shares = {name: 1.0 if even or weights is None else weights[name] for name in cohort}
        server.append(aggregate(now, uploads[-1], shares, server_learning_rate))
    if plan.personal is not None and plan.personal.start in ("initial", "pooled"):
        names = ["pooled"] if plan.personal.start == "pooled" else list(clients)
        begin = dict.fromkeys(names, server[0])
        for result in solver(personal_clients(dict.fromkeys(names, 0), begin, own), own, "personal"):
            personal[result.name] = kept(result, begin[result.name], own)
    seen = last_participation(cohorts)
    final: dict[str, State] = {}
    for name in clients:
        if plan.inference == "endpoint" and name in seen:
            final[name] = endpoints[name]
        elif plan.inference == "personal" and (name in personal or "pooled" in personal):
            final[name] = compose(personal.get(name) or personal["pooled"])
        elif plan.inference != "base" and not (plan.never_sampled == "dropped" and name not in seen):
            final[name] = server[-1]
    return Simulation(server, final, uploads)
