"""What becomes of a state that server and clients keep beside the adapter (:mod:`favor.federation.state_rule`).

The server's is in the file of the shared adapter, so that a client receives both; by how much a client's own changed is
in its upload, beside its delta. A state that nobody sent yet is zero.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from favor.federation.client_archive import State
from favor.federation.method import SharedStage
from favor.federation.server import update
from favor.federation.state_rule import STATE, StateEquations, StateRule
from favor.foundation.lazy import LazyMapping


def parted(tensors: State) -> tuple[State, State]:
    """Return (the adapter's own tensors, the state beside them under the names of the adapter's)."""
    own = [name for name in tensors if not name.startswith(STATE)]
    state = [name.removeprefix(STATE) for name in tensors if name.startswith(STATE)]
    return LazyMapping(own, lambda name: tensors[name]), LazyMapping(state, lambda name: tensors[STATE + name])


def equations(rule: StateRule) -> StateEquations:
    """Return what the file of the rule's method declares."""
    declared: StateEquations = importlib.import_module(rule.module).STATE
    return declared


@dataclass(frozen=True)
class ClientState:
    """What a client has at the start of a round: the server's state and its own, under the names of ``adapter``."""

    rule: StateRule
    adapter: State
    server: State
    own: State

    def correction(self) -> dict[str, np.ndarray]:
        """Return what the client adds to every gradient."""
        correct = equations(self.rule).correction
        return {name: correct(_of(self.server, name, value), self._own(name)) for name, value in self.adapter.items()}

    def after(self, gradient: Mapping[str, object]) -> dict[str, np.ndarray]:
        """Return the client's own state after a stage of this mean ``gradient``, in float32."""
        follow = equations(self.rule).own
        return {
            name: follow(_of(self.server, name, value), self._own(name), np.asarray(gradient[name])).astype(np.float32)
            for name, value in self.adapter.items()
        }

    def change(self, gradient: Mapping[str, object]) -> dict[str, np.ndarray]:
        """Return what the client uploads of its state: by how much it changed, in float32."""
        return {STATE + name: value - self._own(name) for name, value in self.after(gradient).items()}

    def _own(self, name: str) -> np.ndarray:
        return _of(self.own, name, self.adapter[name])


def _of(state: State, name: str, like: np.ndarray) -> np.ndarray:
    return np.asarray(state[name]) if name in state else np.zeros(like.shape, np.float32)


def next_shared(
    stage: SharedStage,
    shared: State,
    memory: State,
    deltas: Mapping[str, State],
    weights: Mapping[str, float],
    server_learning_rate: float,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return what :func:`favor.federation.server.update` does, with the server's next state beside the adapter.

    The changes of clients are summed in float64, in name order.
    """
    if stage.state is None:
        return update(stage.server, shared, memory, deltas, weights, server_learning_rate)
    adapter, state = parted(shared)
    sent = {client: parted(delta) for client, delta in sorted(deltas.items())}
    own = {client: delta for client, (delta, _) in sent.items()}
    made, kept = update(stage.server, adapter, memory, own, weights, server_learning_rate)
    follow = equations(stage.state).server
    for name, like in adapter.items():
        total = np.zeros(like.shape)
        for _, change in sent.values():
            total += change[name].astype(np.float64)
        before = _of(state, name, like).astype(np.float64)
        made[STATE + name] = follow(before, total, stage.state.clients).astype(np.float32)
    return made, kept


def declared_shapes(stage: SharedStage, sent: State) -> dict[str, list[int]]:
    """Return the shapes of what a client uploads, from the tensors that it was ``sent``."""
    shapes = {name: list(value.shape) for name, value in parted(sent)[0].items()}
    return shapes if stage.state is None else shapes | {STATE + name: shape for name, shape in shapes.items()}
