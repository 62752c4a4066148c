"""A local solver small enough to follow by hand: gradient descent on a quadratic, with every term a stage can have."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from tests.experiments import experiment as an_experiment
from tests.oracles.simulation import Simulation, simulate

from favor.config.experiments import Experiment
from favor.federation.factors import Factors
from favor.federation.method import Plan
from favor.federation.row_plan import load_method
from favor.federation.schedule import cohorts


def experiment(clients=2, rounds=1, cohort=2, **changes) -> Experiment:
    """A resolved experiment of the size of these oracles."""
    # A configuration has two clients or more; the reduction to one is about a round.
    return an_experiment(clients=max(2, clients), federation={"rounds": rounds, "clients_per_round": cohort}, **changes)


def plan_of(name, overrides=None, **settings) -> Plan:
    """The plan of a method in such an experiment."""
    return load_method(name, overrides or {}, experiment(**settings))[1]


@dataclass
class Result:
    name: str
    state: dict[str, np.ndarray]
    residual: dict[str, np.ndarray]
    displacement: dict[str, np.ndarray] | None = None
    weight: float | None = None
    gate: dict[str, np.ndarray] | None = None
    gradient: dict[str, np.ndarray] | None = None


@dataclass
class Quadratic:
    """Client i's task loss is 1/2 sum h_i (w - c_i)^2; an epoch is ``steps`` plain gradient steps at ``rate``.

    A gate per token sees one constant input 1, so that its weight is sigmoid(u) for one number u.
    Alignment, where a stage has it, is lambda * kappa * 1/2 sum (w - q_i)^2 with kappa = 1: enough to see that it
    acts in the right stage and with the right weight.
    """

    centres: dict[str, dict[str, np.ndarray]]
    curvature: dict[str, float]
    rate: float = 0.1
    steps: int = 1
    targets: dict[str, dict[str, np.ndarray]] | None = None

    def __post_init__(self) -> None:
        self.calls = []

    def __call__(self, clients, stage, kind) -> list[Result]:
        return [self._train(client, stage, kind) for client in clients]

    def _train(self, client, stage, kind) -> Result:
        self.calls.append((kind, client.name, client.round_number, client.epochs))
        offset = client.start if getattr(stage, "residual", False) else None
        # A residual begins at zero on a fixed endpoint.
        values = {
            k: np.array(v if offset is None else np.zeros_like(v), dtype=np.float64) for k, v in client.start.items()
        }
        moved = {k: np.zeros_like(v) for k, v in values.items()}
        inner, rate = getattr(stage, "inner_steps", 0), stage.learning_rate or self.rate
        objective = stage.objective
        mixture = getattr(stage, "mixture", None)
        kind, weight = (mixture.kind if mixture else None), client.weight
        u = float(client.gate["u"][0]) if client.gate else 0.0
        correction = client.state.correction() if getattr(client, "state", None) else None
        total, taken = {k: np.zeros_like(v) for k, v in values.items()}, math.ceil(client.epochs * self.steps)
        for _ in range(taken):
            for _ in range(max(1, inner)):
                slope, weight = 0.0, (1 / (1 + math.exp(-u)) if kind == "token" else weight)
                for key in values:
                    if not getattr(stage, "trains", Factors()).hold(key):
                        continue
                    at = values[key] + (0 if offset is None else offset[key])
                    if kind == "sum":
                        at = at + client.anchor[key]
                    elif kind in ("learned", "token"):
                        at = weight * at + (1 - weight) * client.anchor[key]
                    gradient = self.curvature[client.name] * (at - self.centres[client.name][key])
                    if kind in ("learned", "token"):
                        slope += float((gradient * (values[key] - client.anchor[key])).sum())
                        gradient = weight * gradient
                    if objective.proximal:
                        gradient = gradient + 2 * objective.proximal * (at - client.anchor[key] - moved[key])
                    if objective.alignment:
                        gradient = gradient + objective.alignment * (at - self.targets[client.name][key])
                    total[key] = total[key] + gradient
                    if correction is not None:
                        gradient = gradient + correction[key]
                    values[key] = values[key] - rate * gradient
                if kind == "learned":
                    weight = min(1.0, max(0.0, weight - mixture.rate * slope))
                if kind == "token":
                    u -= rate * weight * (1 - weight) * slope
            if inner:
                for key in values:
                    moved[key] = moved[key] + stage.upload_scale * (values[key] - client.anchor[key] - moved[key])
        state = {k: v + (0 if offset is None else offset[k]) for k, v in values.items()}
        gate = {"u": np.array([u])} if kind == "token" else None
        mean = None if correction is None else {k: v / taken for k, v in total.items()}
        return Result(client.name, state, values, moved if inner else None, None if gate else weight, gate, mean)


A, B = "layers.0.q_proj.lora_A.weight", "layers.0.q_proj.lora_B.weight"
NAMES = [f"client_{n:03d}" for n in range(1, 8)]
ROUNDS = cohorts(5, NAMES, rounds=10, clients_per_round=3)
RATE, STEPS = 0.05, 4
PERSONAL = ("ditto", "ditto_asce", "feddpa", "favor", "favor_without_asce", "pfedme")


def square(number) -> dict[str, np.ndarray]:
    return {A: np.full((2, 2), float(number)), B: np.full((2, 2), float(number))}


def flat(state, prefix="") -> np.ndarray:
    return np.concatenate([np.ravel(state[prefix + name]).astype(np.float64) for name in (A, B)])


def close(state, vector, prefix="") -> None:
    # Server and endpoints are float32 between rounds: ten roundings, against float64 throughout.
    np.testing.assert_allclose(flat(state, prefix), vector, rtol=0, atol=2e-6)


@pytest.fixture
def problem() -> tuple[Quadratic, dict[str, np.ndarray]]:
    """Seven clients with their own centres and curvatures, and where they start: fourteen numbers in two tensors."""
    generator = np.random.default_rng(11)

    def draw() -> dict[str, np.ndarray]:
        return {A: generator.normal(size=(2, 3)), B: generator.normal(size=(4, 2))}

    solver = Quadratic({n: draw() for n in NAMES}, {n: float(generator.uniform(0.5, 2)) for n in NAMES}, RATE, STEPS)
    return solver, {A: draw()[A], B: np.zeros((4, 2))}


@pytest.fixture
def two_clients() -> Quadratic:
    """Client x pulls to +1, client y to -3, from 0, so the drifts have both signs."""
    centres = {"x": square(1), "y": square(-3), "z": square(5), "pooled": square(-1)}
    return Quadratic(centres, dict.fromkeys(centres, 1.0), targets=dict.fromkeys("xyz", square(2)))


BOTH = [["x", "y"]]


def run(method, solver, cohorts=BOTH, clients=("x", "y"), weights=None, overrides=None, **settings) -> Simulation:
    """Run a method from 0 on the loss of ``two_clients``."""
    plan = plan_of(method, overrides, clients=len(clients), rounds=len(cohorts), cohort=len(cohorts[0]), **settings)
    return simulate(plan, cohorts, list(clients), square(0), solver, weights)
