"""A whole plan run in memory with any local solver, through the functions that the workflow's jobs call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from favor.federation.exchange import next_shared, parted
from favor.federation.method import POOLED, PersonalStage, SharedStage
from favor.federation.schedule import last_participation
from favor.federation.server import mean_of_others
from favor.federation.stages import (
    StageClient,
    State,
    Trained,
    as_arrays,
    carried_weight,
    compose,
    ended,
    kept,
    personal_clients,
    shared_clients,
    upload,
    with_final,
)

Solver = Callable[[Sequence[StageClient], SharedStage | PersonalStage, str], Sequence[Trained]]


@dataclass(frozen=True)
class Simulation:
    """What a plan leaves: the server's adapter of every round, and what every client generates with."""

    server: list[dict[str, np.ndarray]]
    clients: dict[str, State]
    uploads: list[dict[str, dict[str, np.ndarray]]]
    memory: State
    left: dict[str, dict[str, State]]
    personal: dict[str, dict[str, State]]
    adapters: dict[str, dict[str, np.ndarray]]


def weights_of(personal) -> dict[str, float]:
    """The learned weights that clients carry over."""
    return {name: carried_weight(parts) for name, parts in personal.items() if "gate" in parts}


def generates(parts, stage) -> State:
    """What a client generates with, where an adapter is a vector of parameters: mixtures are sums of them."""
    own = compose(parts)
    if stage.mixture is None or stage.mixture.kind == "similarity":
        return own
    if stage.mixture.kind == "sum":
        return {key: own[key] + parts["companion"][key] for key in own}
    weight = carried_weight(parts)
    return {key: weight * own[key] + (1 - weight) * parts["companion"][key] for key in own}


def simulate(
    plan,
    cohorts,
    clients,
    initial,
    solver,
    weights=None,
    server_learning_rate=1.0,
    resumed=None,
) -> Simulation:
    """Run a plan in memory; ``solver(clients, stage, "shared" | "personal")`` trains and returns results in order.

    ``weights`` are the clients' words, used where the stage weights by them. The workflow's jobs apply the same
    functions in the same order. ``resumed``: goes on from what an earlier run left; ``cohorts`` are the later rounds.
    """
    server: list[dict[str, np.ndarray]] = [as_arrays(initial) if resumed is None else resumed.server[-1]]
    uploads: list[dict[str, dict[str, np.ndarray]]] = []
    first_adapter = as_arrays(initial)
    memory: State = {} if resumed is None else resumed.memory
    left: dict[str, dict[str, State]] = {} if resumed is None else dict(resumed.left)
    adapters: dict[str, dict[str, np.ndarray]] = {} if resumed is None else dict(resumed.adapters)
    personal: dict[str, dict[str, State]] = {} if resumed is None else dict(resumed.personal)
    parts = {name: sum(name in cohort for cohort in cohorts) for name in clients}
    shared, stage = plan.shared, plan.personal
    for number, cohort in enumerate(cohorts if plan.shared is not None else ()):
        now = server[-1]
        begin_at = {"first": first_adapter, "members": len(adapters)}
        taking_part = shared_clients(cohort, number, now, shared, left, None, parts, **begin_at)
        trained = solver(taking_part, shared, "shared")
        states = {client.name: client.state for client in taking_part}
        uploads.append({result.name: upload(result, now, shared, states[result.name]) for result in trained})
        left |= {result.name: ended(result, states[result.name]) for result in trained}
        endpoints = {name: found["endpoint"] for name, found in left.items() if "endpoint" in found}
        if plan.personal is not None and plan.personal.start in ("endpoint", "own"):
            begin: dict[str, State] = {}
            for name in cohort:
                first = first_adapter if plan.personal.begin == "initial" else now
                carried = compose(personal[name]) if name in personal else first
                begin[name] = endpoints[name] if plan.personal.start == "endpoint" else carried
            taking_part = personal_clients(
                dict.fromkeys(cohort, number), begin, stage, now, None, parts, weights_of(personal)
            )
            for result in solver(taking_part, stage, "personal"):
                personal[result.name] = kept(result, begin[result.name], stage, now)
        even = shared.weighting == "uniform" or weights is None
        shares = {name: 1.0 if even or weights is None else weights[name] for name in cohort}
        received = uploads[-1]
        if shared.server.kind == "members":
            adapters |= received
            received, shares = adapters, dict.fromkeys(adapters, 1.0)
        after, memory = next_shared(shared, now, memory, received, shares, server_learning_rate)
        server.append(after)
    if plan.personal is not None and plan.personal.start == "final":
        begin = dict.fromkeys(clients, server[-1])
        for result in solver(personal_clients(dict.fromkeys(clients, 0), begin, stage), stage, "personal"):
            personal[result.name] = kept(result, begin[result.name], stage)
    if plan.personal is not None and plan.personal.start in ("initial", "pooled"):
        names = [POOLED] if plan.personal.start == "pooled" else list(clients)
        begin = dict.fromkeys(names, server[0])
        for result in solver(personal_clients(dict.fromkeys(names, 0), begin, stage), stage, "personal"):
            personal[result.name] = kept(result, begin[result.name], stage)
    seen = {*last_participation(cohorts), *left}
    final: dict[str, State] = {}
    for name in clients:
        if plan.inference == "endpoint" and name in seen:
            own = left[name]["endpoint"]
            final[name] = with_final(own, server[-1], shared.uploads) if plan.global_half == "final" else own
            if shared.mixture is not None:
                others = mean_of_others(server[-1], own, len(adapters))
                weight = 1 / (1 + np.exp(-left[name]["gate"]["u"][0]))
                final[name] = {key: weight * own[key] + (1 - weight) * others[key] for key in own}
        elif plan.inference == "personal" and (name in personal or POOLED in personal):
            final[name] = generates(personal.get(name) or personal[POOLED], stage)
        elif plan.inference not in ("base", "prompted") and not (plan.never_sampled == "dropped" and name not in seen):
            final[name] = parted(server[-1])[0]
    return Simulation(server, final, uploads, memory, left, personal, adapters)
