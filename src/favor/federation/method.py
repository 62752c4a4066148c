"""What a federated method is: plain values that say what is trained where, what is uploaded and what generates.

A method file declares one frozen dataclass of hyper-parameters, ``Hyperparameters``, and one function ``plan`` that
turns them into a :class:`Plan`; one that is not of the paper also ``METHOD``, its names
(:class:`favor.federation.method_names.Method`). The kinds of parts are in
:mod:`favor.federation.kinds`. How a plan is executed (one client at a time, or a cohort stacked) is the engine's
business (:mod:`favor.lm.training`); which jobs it takes is the workflow's. This module imports no numerical library,
because the workflow reads it whenever it is parsed.

Adapter names follow the paper: A_t is the server's shared adapter at the start of round t (section 3.3).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from favor.federation.factors import Factors
from favor.federation.kinds import SERVING, Gate, Generator, Serving, Start
from favor.federation.privacy import Privacy
from favor.federation.server_rule import ServerRule
from favor.federation.state_rule import StateRule

Sampling = Literal["coverage_first", "uniform"]
POOLED = "pooled"  # the one client of the centralised reference
# Values of a shared stage that name its track whatever they are; a plug point that a stage leaves alone does not.
_IN_EVERY_DIGEST = {"objective", "epochs", "upload_scale", "sampling", "weighting", "start", "inner_steps", "spread"}


@dataclass(frozen=True)
class Objective:
    """Terms a local stage adds to the task loss (Eq. task_loss).

    ``proximal`` multiplies ||A - A_t||^2, the sum of squared Frobenius norms over the LoRA factor tensors, with A_t
    the server's adapter at the start of the round (Eq. shared_objective; no factor 1/2). ``alignment`` is lambda_align
    of Eq. private_objective.
    """

    proximal: float = 0.0
    alignment: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.proximal < math.inf or not 0 <= self.alignment < math.inf:
            raise ValueError("the weights of its loss terms must be finite and not negative")


@dataclass(frozen=True)
class SharedStage:
    """The stage whose result is uploaded: every sampled client starts from A_t.

    What is trained: the upload is ``upload_scale`` times (local endpoint - A_t); 1 is Eq. shared_delta. ``start``
    "own": a client that took part before starts from its own last endpoint instead of A_t (the released pFedMe); the
    upload and the proximal term still refer to A_t. ``begin`` "initial": its first participation starts from A_0.
    ``inner_steps`` K > 0: every step is taken K times, then the reference point of the proximal term moves by
    ``upload_scale`` of the way to the local adapter; the upload is how far it moved. ``spread``: ``epochs`` is the
    total over a client's participations, each of which gets an equal part. ``trains``: the tensors that are trained;
    the others keep the values of A_0. ``mixture``: a gate per token mixes the adapter, while it trains and when it
    generates, with the mean of the other clients' (:func:`favor.federation.server.mean_of_others`), which is held
    fixed. ``ranks``: those that clients draw theirs from (:mod:`favor.federation.ranks`); None: all have the shared
    adapter's. ``learning_rate``: peak rate of the local optimiser; None: that of ``training``.

    What is sent: ``uploads`` of these tensors. What is trained and not uploaded is personal: it stays on the client,
    where its next participation finds it. ``upload_bits``: of every number that is sent, 32, 16 or 8
    (:mod:`favor.federation.uploads`).

    What the server does: ``server`` with the mean of the uploads. ``state``: server and clients keep numbers beside the
    adapter, by which clients correct their steps. :data:`favor.federation.kinds.SERVING` says what both need.

    What is protected: with ``privacy`` uploads are clipped and their sum gets noise. ``aggregation`` "sum_only": the
    server reads the sum of a round's uploads and no upload.
    """

    objective: Objective = field(default_factory=Objective)
    epochs: float = 1
    upload_scale: float = 1.0
    sampling: Sampling = "coverage_first"
    weighting: Literal["uniform", "words"] = "uniform"
    start: Literal["server", "own"] = "server"
    inner_steps: int = 0
    spread: bool = False
    trains: Factors = field(default_factory=Factors)
    uploads: Factors = field(default_factory=Factors)
    server: ServerRule = field(default_factory=ServerRule)
    begin: Literal["server", "initial"] = "server"
    mixture: Mixture | None = None
    privacy: Privacy | None = None
    aggregation: Literal["uploads", "sum_only"] = "uploads"
    upload_bits: int = 32
    state: StateRule | None = None
    ranks: tuple[int, ...] | None = None
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        name, serving, whole = self.server_name, self.serving, self.trains.whole and self.uploads.whole
        start = "carry over their own adapter" if serving.start == "own" else "start from A_t alone"
        if self.upload_bits != 32 and self.content != "delta":
            raise ValueError(f"uploads its {self.content} and no update that could be rounded; set 'upload_bits: 32'")
        if serving.each and (self.privacy or self.aggregation == "sum_only"):
            raise ValueError(f"{name} needs every upload; set 'aggregation: uploads' and no 'federation.privacy'")
        if serving.each and not whole:
            raise ValueError(f"{name} needs whole adapters to be trained and uploaded")
        if serving.start and (self.inner_steps or self.start != serving.start):
            raise ValueError(f"{name} needs clients that {start}")
        if self.state and self.server.kind in SERVING:
            raise ValueError(f"{name} needs a server that takes a mean")
        if self.inner_steps and not whole:
            raise ValueError("inner steps train and upload the whole adapter")
        if self.mixture and (self.mixture.kind, self.server.kind) != ("token", "members"):
            raise ValueError("the mixture of a shared stage is a gate per token beside the server rule 'members'")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> SharedStage:
        """Return the stage with these plain values, as :func:`plan_values` gives them."""
        parts = {"objective": Objective, "trains": Factors, "uploads": Factors, "server": ServerRule}
        given = {name: part(**values[name]) for name, part in parts.items()}
        optional = {"mixture": Mixture, "privacy": Privacy, "state": StateRule}
        given |= {name: part(**values[name]) for name, part in optional.items() if values[name] is not None}
        return cls(**{**values, **given})

    def sends(self, name: str) -> bool:
        """Return whether the tensor of this name is trained and uploaded, and so broadcast."""
        return self.trains.hold(name) and self.uploads.hold(name)

    @property
    def serving(self) -> Serving:
        """What its server needs and hands out."""
        return SERVING.get("state" if self.state is not None else self.server.kind, Serving(each=False))

    @property
    def server_name(self) -> str:
        """What errors call its server."""
        return "its state of server and clients" if self.state is not None else f"its server rule '{self.server.kind}'"

    @property
    def content(self) -> str:
        """What an upload is called in the record of the boundary."""
        return self.serving.sent

    @property
    def hands_out_more(self) -> bool:
        """Whether the file of the shared adapter holds more than an adapter."""
        return self.serving.start == "server"

    @property
    def carries(self) -> bool:
        """Whether a client's next participation starts with something of its own."""
        return self.start == "own" or not self.uploads.whole or self.state is not None

    @cached_property
    def track(self) -> str:
        """Folder name of the federated trajectory this stage produces.

        Methods whose shared stages are equal (FedAvg and Ditto, FedProx and FAVoR) share one trajectory, which is
        trained once. A server that remembers is named first.
        """
        values = dataclasses.asdict(self)
        plain = SharedStage()
        for name in values.keys() - _IN_EVERY_DIGEST:
            if getattr(self, name) == getattr(plain, name):
                del values[name]
        digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:6]
        terms = [name for name, weight in dataclasses.asdict(self.objective).items() if weight]
        server = [self.server.kind] if self.server.moments else []
        return "-".join([*server, "task", *terms, digest])


@dataclass(frozen=True)
class Mixture:
    """A client generates with g * global + (1 - g) * local adapter output.

    ``kind``: what g is. Of "similarity", ``references`` own texts are compared, with states under the global adapter.
    ``training``: the global adapter acts while the local one trains ("dynamic") or not ("none"). ``export``: the
    client's mean gate over its validation texts joins both adapters by rank concatenation ("rank", exact) or by
    averaging their factors ("factors", the released export). ``states``: the last token of a text's first prefix
    ("prefix", what generation sees) or of the whole text ("text").
    """

    kind: Gate = "similarity"
    weight: float = 0.5
    rate: float = 0.0
    coefficient: float = 0.5
    references: int = 5
    training: Literal["dynamic", "none"] = "dynamic"
    export: Literal["rank", "factors"] = "rank"
    states: Literal["prefix", "text"] = "prefix"

    def __post_init__(self) -> None:
        if not 0 <= self.coefficient < math.inf or self.references < 1:
            raise ValueError("a gate needs a coefficient that is not negative and at least one reference text")
        if not 0 <= self.weight <= 1 or not 0 <= self.rate < math.inf:
            raise ValueError("a learned mixture needs a weight within 0..1 and a rate that is not negative")
        if self.kind == "learned" and self.weight == self.rate == 0:
            raise ValueError("a mixture whose weight stays 0 trains no local adapter")


@dataclass(frozen=True)
class PersonalStage:
    """A stage whose result never leaves the client.

    ``start``: where it starts. ``epochs`` None: as many passes as the shared stage gives an average client,
    R * C / N (pooled).
    ``spread``: ``epochs`` is the total over a client's participations, each of which gets an equal part.
    ``residual`` stores the result as a residual relative to the endpoint (Eq. residual_pack).
    ``mixture``: the round-start global adapter is mixed in. ``begin`` "initial": what a client carries over begins at
    the initial adapter, not at A_t. ``ranks``, ``learning_rate``: as in :class:`SharedStage`.
    """

    start: Start
    objective: Objective = field(default_factory=Objective)
    epochs: float | None = 1
    residual: bool = False
    spread: bool = False
    mixture: Mixture | None = None
    begin: Literal["server", "initial"] = "server"
    ranks: tuple[int, ...] | None = None
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        if self.mixture is not None and self.mixture.kind == "token":
            raise ValueError("a gate per token belongs to a shared stage")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> PersonalStage:
        """Return the stage with these plain values, as :func:`plan_values` gives them."""
        mixture = None if values["mixture"] is None else Mixture(**values["mixture"])
        return cls(**{**values, "objective": Objective(**values["objective"]), "mixture": mixture})

    @property
    def chained(self) -> bool:
        """Whether a client's participations build on one another, so that each of them must be computed."""
        return self.start == "own"


@dataclass(frozen=True)
class Inference:
    """What generation reads of a :class:`Plan` beside the adapters: fields of the same names, and of its stages."""

    inference: Generator
    gating: Literal["static", "dynamic"] = "static"
    never_sampled: Literal["shared", "dropped"] = "shared"
    mixture: Mixture | None = None
    global_half: Literal["last_round", "final"] = "last_round"
    uploads: Factors = field(default_factory=Factors)
    ranks: tuple[int, ...] | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Inference:
        """Return the inference with these plain values; other keys are passed over."""
        own = {field.name: values[field.name] for field in dataclasses.fields(cls)}
        mixture = None if own["mixture"] is None else Mixture(**own["mixture"])
        return cls(**{**own, "mixture": mixture, "uploads": Factors(**own["uploads"])})


@dataclass(frozen=True)
class Prompting:
    """What stands before a prompt where nothing is trained and the base model is told whom to write as.

    ``passages``: the client's own training texts that are nearest to the prompt. ``sheet``: a description of its style,
    distilled from its training texts; ``persona``: the sheet turned into words that address the model as the author.
    With none of them the model is told to write as an average author.
    """

    passages: bool = False
    sheet: bool = False
    persona: bool = False

    def __post_init__(self) -> None:
        if self.persona and not self.sheet:
            raise ValueError("a persona is made from a sheet")


@dataclass(frozen=True)
class Plan:
    """One method: its shared stage, its personal stage, and the adapter each client generates with.

    ``inference``: what a client generates with; ``prompting`` and ``source`` say more of "prompted", and the path of
    "outputs" and "adapters". A client that was never sampled generates with the final shared adapter
    (``never_sampled`` "dropped": it generates nothing).
    ``gating``: how a mixture's gate is set at generation, "static" (the client's mean) or "dynamic" (by prompt).
    ``global_half``: the global adapter that a mixture generates with, A_t of the client's last participation, under
    which its local adapter and its gate were made, or the final one. With "endpoint" inference, "final" puts the
    tensors that are uploaded at their final shared values beside the client's own others.
    ``display`` and ``collaborative``: title and ``federates`` of the method, filled in for its row
    (:mod:`favor.federation.row_plan`).
    """

    inference: Generator
    shared: SharedStage | None = None
    personal: PersonalStage | None = None
    gating: Literal["static", "dynamic"] = "static"
    never_sampled: Literal["shared", "dropped"] = "shared"
    prompting: Prompting | None = None
    source: str = ""
    display: str = ""
    collaborative: bool = True
    global_half: Literal["last_round", "final"] = "last_round"

    @property
    def generates(self) -> Inference:
        """What generation reads of the plan."""
        stage = self.personal or self.shared
        mixture = stage.mixture if stage is not None else None
        uploads = self.shared.uploads if self.shared is not None else Factors()
        ranks = stage.ranks if stage is not None else None
        return Inference(self.inference, self.gating, self.never_sampled, mixture, self.global_half, uploads, ranks)

    def __post_init__(self) -> None:
        if (self.inference == "prompted") != (self.prompting is not None):
            raise ValueError("'prompted' inference and a prompting belong together")
        if self.inference == "personal" and self.personal is None:
            raise ValueError("generates with a personal adapter but has no personal stage")
        if self.inference in ("server", "endpoint") and self.shared is None:
            raise ValueError("generates with a shared adapter but has no shared stage")
        if self.shared is not None and self.shared.hands_out_more and (self.inference != "server" or self.personal):
            raise ValueError(
                "a server that hands out more than an adapter goes with the final shared adapter and no personal stage"
            )
        mixture = self.generates.mixture
        if self.gating == "dynamic" and (mixture is None or mixture.kind != "similarity"):
            raise ValueError("'gating: dynamic' needs a mixture whose gate follows the prompt")
        if self.global_half == "final" and self.gating == "dynamic":
            raise ValueError(
                "'gating: dynamic' compares states under the adapter of the last participation; it needs "
                "'global_half: last_round'"
            )


def needs_shared(plan: Plan) -> bool:
    """Whether a plan begins with the shared adapter of another experiment (or a random one of its norm)."""
    return plan.inference == "given" or (plan.personal is not None and plan.personal.start in ("frozen", "random"))


def plan_values(plan: Plan | SharedStage | PersonalStage | Inference) -> dict[str, Any]:
    """Return a plan, or a part of one, as plain values, for rule parameters and run records.

    A learning rate that a stage leaves to ``training`` is not among them, so that what was made before stays as it is.
    """
    return dataclasses.asdict(
        plan, dict_factory=lambda items: {key: value for key, value in items if (key, value) != ("learning_rate", None)}
    )
