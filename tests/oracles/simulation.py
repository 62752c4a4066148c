"""A whole plan run in memory with any local solver, through the functions that the workflow's jobs call."""

from dataclasses import dataclass

import numpy as np

from favor.federation.exchange import next_shared, parted
from favor.federation.method import POOLED
from favor.federation.schedule import last_participation
from favor.federation.server import mean_of_others
from favor.federation.stages import (
    State,
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
    plan, cohorts, clients, initial, solver, weights=None, server_learning_rate=1.0, resumed=None
) -> Simulation:
    """Run a plan in memory; ``solver(clients, stage, "shared" | "personal")`` trains and returns results in order.

    ``weights`` are the clients' words, used where the stage weights by them. The workflow's jobs apply the same
    functions in the same order. ``resumed``: goes on from what an earlier run left; ``cohorts`` are the later rounds.
    """
    first_adapter = as_arrays(initial)
    begun = resumed or Simulation([first_adapter], {}, [], {}, {}, {}, {})
    server, uploads, memory = begun.server[-1:], [], begun.memory
    left, personal, adapters = dict(begun.left), dict(begun.personal), dict(begun.adapters)
    parts = {name: sum(name in cohort for cohort in cohorts) for name in clients}
    shared, stage = plan.shared, plan.personal
    start = stage.start if stage is not None else ""
    for number, cohort in enumerate(cohorts if shared is not None else ()):
        now = server[-1]
        begin_at = {"first": first_adapter, "members": len(adapters)}
        taking_part = shared_clients(cohort, number, now, shared, left, None, parts, **begin_at)
        trained = solver(taking_part, shared, "shared")
        states = {client.name: client.state for client in taking_part}
        uploads.append({result.name: upload(result, now, shared, states[result.name]) for result in trained})
        left |= {result.name: ended(result, states[result.name]) for result in trained}
        if start in ("endpoint", "own"):
            first, rounds = first_adapter if stage.begin == "initial" else now, dict.fromkeys(cohort, number)
            begin = {name: compose(personal[name]) if name in personal else first for name in cohort}
            if start == "endpoint":
                begin = {name: left[name]["endpoint"] for name in cohort}
            taking_part = personal_clients(rounds, begin, stage, now, None, parts, weights_of(personal))
            for result in solver(taking_part, stage, "personal"):
                personal[result.name] = kept(result, begin[result.name], stage, now)
        even = shared.weighting == "uniform" or weights is None
        received, shares = uploads[-1], {name: 1.0 if even else weights[name] for name in cohort}
        if shared.server.kind == "members":
            adapters |= received
            received, shares = adapters, dict.fromkeys(adapters, 1.0)
        after, memory = next_shared(shared, now, memory, received, shares, server_learning_rate)
        server.append(after)
    if start in ("final", "initial", "pooled"):
        names = [POOLED] if start == "pooled" else list(clients)
        begin = dict.fromkeys(names, server[-1 if start == "final" else 0])
        for result in solver(personal_clients(dict.fromkeys(names, 0), begin, stage), stage, "personal"):
            personal[result.name] = kept(result, begin[result.name], stage)
    seen = {*last_participation(cohorts), *left}
    final = {}
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
