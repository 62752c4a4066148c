"""What each stage starts from, uploads and keeps: the update rules, apart from how a client trains.

Used by the workflow's jobs, and by the tests that run a whole plan in memory with a solver of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from favor.federation.client_archive import State
from favor.federation.exchange import ClientState, parted
from favor.federation.factors import Factors
from favor.federation.method import PersonalStage, SharedStage
from favor.federation.privacy import clipped
from favor.federation.server import delta, mean_of_others
from favor.foundation.lazy import LazyMapping

if TYPE_CHECKING:
    from favor.lm.lora import LoraState
    from favor.lm.tasks import ClientResult


@dataclass(frozen=True)
class StageClient:
    """One client of a stage: where it starts, what it is anchored to, how long it trains, and its style target.

    ``start`` is the adapter the stage begins with; with ``residual`` it is held fixed and a residual is trained on top.
    ``anchor`` is A_t, of the proximal term and of a mixture, whose gate per token sees the mean of the others there.
    ``weight`` is the local adapter's in a learned mixture, ``gate`` the vectors of one per token (empty: zeros).
    ``state``: what the server and the client keep beside the adapter, where the stage declares it.
    ``round_number`` names the client's random streams.
    """

    name: str
    round_number: int
    start: State
    epochs: float
    anchor: State | None = None
    target: np.ndarray | None = None
    weight: float | None = None
    gate: State | None = None
    state: ClientState | None = None


def shared_clients(
    names: Sequence[str],
    round_number: int,
    shared: State,
    stage: SharedStage,
    kept: Mapping[str, Mapping[str, State]] | None = None,
    targets: Mapping[str, np.ndarray] | None = None,
    participations: Mapping[str, int] | None = None,
    first: State | None = None,
    members: int = 0,
) -> list[StageClient]:
    """Return the clients of a shared stage: at A_t, or (``start`` "own") where their last participation ended.

    ``shared``: A_t, and the server's state where the stage has one. ``kept``: the parts that clients kept of
    their last participation (:func:`ended`). Tensors that are not uploaded are always a client's own. ``first``: the
    initial adapter, where a client's first participation begins there. ``members``: the clients whose mean A_t is.
    """
    server: State = {}
    if stage.state is not None:
        shared, server = parted(shared)

    def left(name: str, part: str) -> State | None:
        return (kept or {}).get(name, {}).get(part)

    def start(name: str) -> State:
        own = left(name, "endpoint")
        if own is None and stage.begin == "initial":
            assert first is not None
            return first
        if own is None or not stage.carries:
            return shared
        if stage.start == "own":
            return own
        return LazyMapping(sorted(shared), lambda key: (shared if stage.sends(key) else own)[key])

    return [
        StageClient(
            name,
            round_number,
            start(name),
            _epochs(stage, name, participations),
            shared if stage.mixture is None else mean_of_others(shared, left(name, "endpoint"), members),
            (targets or {}).get(name),
            gate=None if stage.mixture is None else left(name, "gate") or {},
            state=None if stage.state is None else ClientState(stage.state, shared, server, left(name, "state") or {}),
        )
        for name in names
    ]


def _epochs(stage: SharedStage | PersonalStage, client: str, participations: Mapping[str, int] | None) -> float:
    """Return the passes of one participation: an equal part of them where they are spread over all."""
    parts = (participations or {}).get(client, 1) if stage.spread else 1
    assert stage.epochs is not None  # the plan is complete
    return float(stage.epochs) / parts


def upload(
    result: ClientResult, shared: State, stage: SharedStage, state: ClientState | None = None
) -> dict[str, np.ndarray]:
    """Return what a client sends: its scaled delta (Eq. shared_delta), or how far pFedMe's outer steps moved.

    A server that keeps the mean of its members' adapters is sent the adapter itself. Where the stage has ``privacy``,
    what is sent is clipped. Of the ``state`` that the client trained with it sends the change.
    """
    if result.displacement is not None:
        sent = as_arrays(result.displacement)
    elif stage.server.kind == "members":
        sent = as_arrays(result.state)
    else:
        end = {key: value for key, value in as_arrays(result.state).items() if stage.sends(key)}
        sent = delta(end, {key: shared[key] for key in end}, stage.upload_scale)
    if state is not None:
        assert result.gradient is not None
        sent |= state.change(result.gradient)
    return sent if stage.privacy is None else clipped(sent, stage.privacy.clip)


def personal_clients(
    rounds: Mapping[str, int],
    starts: Mapping[str, State],
    stage: PersonalStage,
    anchor: State | None = None,
    targets: Mapping[str, np.ndarray] | None = None,
    participations: Mapping[str, int] | None = None,
    weights: Mapping[str, float] | None = None,
) -> list[StageClient]:
    """Return the clients of a personal stage, which begin at ``starts``, and learned mixtures at ``weights``.

    ``rounds``: the round each stage belongs to; ``participations``: how often each client takes part in all, which a
    ``spread`` number of epochs is divided by.
    """
    learned = stage.mixture if stage.mixture is not None and stage.mixture.kind == "learned" else None
    return [
        StageClient(
            name,
            round_number,
            starts[name],
            _epochs(stage, name, participations),
            anchor,
            (targets or {}).get(name),
            # Where the last participation ended, if there was one.
            None if learned is None else (weights or {}).get(name, learned.weight),
        )
        for name, round_number in rounds.items()
    ]


def kept(
    result: ClientResult, start: State, stage: PersonalStage, anchor: State | None = None
) -> dict[str, Mapping[str, np.ndarray]]:
    """Return the parts of a personal result that the client keeps: its adapter, or endpoint and residual.

    Of a mixture also the global half A_t (``anchor``), and the gate g of a learned one; FedDPA's needs the model.
    """
    if stage.residual:
        return {"endpoint": start, "residual": as_arrays(result.residual)}
    parts: dict[str, Mapping[str, np.ndarray]] = {"adapter": as_arrays(result.state)}
    if stage.mixture is not None and anchor is not None:
        parts["companion"] = anchor
        if result.weight is not None:
            parts["gate"] = {"value": np.asarray([1.0 - result.weight])}
    return parts


def ended(result: ClientResult, state: ClientState | None = None) -> dict[str, Mapping[str, np.ndarray]]:
    """Return the parts of a shared result that the client keeps: its endpoint, and its gate per token if it has one.

    Of a client with a ``state`` that is its own after the stage alone: nobody generates with its endpoint.
    """
    if state is not None:
        assert result.gradient is not None
        return {"state": state.after(result.gradient)}
    parts: dict[str, Mapping[str, np.ndarray]] = {"endpoint": as_arrays(result.state)}
    if result.gate is not None:
        parts["gate"] = as_arrays(result.gate)
    return parts


def carried_weight(parts: Mapping[str, State]) -> float:
    """Return the local adapter's learned weight from what a client kept of its last participation."""
    return 1.0 - float(parts["gate"]["value"][0])


def compose(parts: Mapping[str, State]) -> State:
    """Return the adapter a client generates with, from the parts it keeps.

    A residual is added to its endpoint factor by factor (Eq. residual_pack). Training computed every forward pass with
    this very sum in float32, so the reconstruction is the trained adapter bit for bit.
    """
    if "residual" in parts:
        endpoint, residual = parts["endpoint"], parts["residual"]
        return LazyMapping(sorted(endpoint), lambda key: endpoint[key] + residual[key])
    return parts["adapter"] if "adapter" in parts else parts["endpoint"]


def with_final(endpoint: State, final: State, uploads: Factors) -> State:
    """Return a client's endpoint with the tensors that are uploaded at their final shared values."""
    return LazyMapping(sorted(endpoint), lambda key: (final if uploads.hold(key) else endpoint)[key])


def as_arrays(state: LoraState | State) -> dict[str, np.ndarray]:
    """Return an adapter of tensors or arrays as arrays."""
    return {key: np.asarray(value) for key, value in state.items()}
