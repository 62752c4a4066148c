"""FedDPA: a global and a local adapter whose outputs a gate mixes (Yang et al. 2024, the variant that trains together).

The global adapter is FedAvg's. The local adapter persists on the client and trains with the round-start global adapter
held fixed beside it, under a gate that looks at each text; the client generates under its mean gate over validation
texts, or (``gating: dynamic``, the audit of section feddpa_gate_sensitivity) under the gate of each prompt. The global
half of that pair is the adapter that the local one was trained beside, A_t of the client's last participation: for a
client of round 0 the untrained initial adapter. ``global_half: final`` takes A_T instead, under the same gate.

``learning_rate`` trains the global adapter, ``personal_learning_rate`` the local one.
"""

from dataclasses import dataclass
from typing import Literal

from favor.federation.method import Mixture, Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters:
    """Passes of both stages, the gate (see ``Mixture``), and the global adapter of the pair that generates."""

    shared_epochs: int = 1
    local_epochs: int = 2
    gate_coefficient: float = 0.5
    gate_references: int = 5
    gate_training: Literal["dynamic", "none"] = "dynamic"
    gate_export: Literal["rank", "factors"] = "rank"
    gate_states: Literal["prefix", "text"] = "prefix"
    gating: Literal["static", "dynamic"] = "static"
    global_half: Literal["last_round", "final"] = "last_round"


RELEASED = {"gate_training": "none", "gate_export": "factors", "gate_states": "text"}


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its gated pair."""
    mixture = Mixture(
        coefficient=values.gate_coefficient,
        references=values.gate_references,
        training=values.gate_training,
        export=values.gate_export,
        states=values.gate_states,
    )
    local = PersonalStage("own", Objective(), values.local_epochs, mixture=mixture)
    shared = SharedStage(epochs=values.shared_epochs)
    return Plan("personal", shared=shared, personal=local, gating=values.gating, global_half=values.global_half)
