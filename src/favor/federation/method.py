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
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from favor.federation.factors import Factors
from favor.federation.kinds import SERVING, Gate, Generator, Serving, Start
from favor.federation.method_names import PAPER, Method
from favor.federation.privacy import Privacy
from favor.federation.server_rule import ServerRule
from favor.federation.state_rule import StateRule
from favor.foundation.errors import UserError
from favor.foundation.names import nearest, number_hint
from favor.foundation.registry import METHODS, row_method
from favor.foundation.section import one_line

if TYPE_CHECKING:  # jobs load this file too, and read no configuration
    from favor.config.experiments import Experiment

Sampling = Literal["coverage_first", "uniform"]
POOLED = "pooled"  # the one client of the centralised reference
# Values of a shared stage that name its track whatever they are; a plug point that a stage leaves alone does not.
_IN_EVERY_DIGEST = {"objective", "epochs", "upload_scale", "sampling", "weighting", "start", "inner_steps", "spread"}
RATES = {"learning_rate": "shared", "personal_learning_rate": "personal"}  # keys of a row, by the stage that they set
ROW_KEYS = ("method", "title", "generation", *RATES)  # keys of a row that are not hyper-parameters of its method


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
    ``display`` and ``collaborative``: title and ``federates`` of the method, filled in by :func:`load_method`.
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


def load_method(row: str, overrides: Mapping[str, Any], experiment: Experiment) -> tuple[str, Plan, dict[str, Any]]:
    """Return (module name, plan, resolved hyper-parameters) of a row of ``methods`` in a resolved experiment.

    ``overrides`` may name another method file under "method" and set its hyper-parameters. The experiment's protocol,
    budget and federation settings complete the plan (:func:`complete`). Raises ``UserError`` for an
    unknown hyper-parameter or one of the wrong type, naming the nearest valid one.
    """
    name = row_method(row, overrides)
    module = METHODS.load(name)
    declared = declared_method(name)
    try:
        fields = typing.get_type_hints(module.Hyperparameters)
    except (AttributeError, NameError) as error:
        raise UserError(f"method file '{name}.py' cannot be used ({error}); fix it (docs/extending.md)") from None
    released = experiment.protocol == "released" and hasattr(module, "RELEASED")
    values = dict(module.RELEASED) if released else {}
    for key, value in overrides.items():
        if key in ROW_KEYS:
            continue
        if key not in fields:
            unknown = f"unknown config key 'methods.{row}.{key}'; {nearest(key, [*fields, *ROW_KEYS])}"
            raise UserError(one_line(unknown))
        values[key] = _converted(row, key, value, fields[key])
    hyperparameters = module.Hyperparameters(**values)
    try:
        own = dataclasses.replace(
            module.plan(hyperparameters), display=declared.title, collaborative=declared.federates
        )
        plan = complete(_with_rates(own, row, overrides), experiment)
        overruled = _passes(own) != _passes(plan) and [
            key for key in overrides if key.endswith("epochs") and key != "shared_epochs"
        ]
        if experiment.budget == "matched" and overruled:
            raise ValueError(f"'budget: matched' sets the passes; remove '{overruled[0]}' or set budget: released")
        for stage in (plan.shared, plan.personal):
            if stage is not None and not (stage.epochs is not None and stage.epochs > 0):
                raise ValueError("a stage needs more than 0 epochs")
    except ValueError as error:
        raise UserError(f"config key 'methods.{row}': {error}") from None
    return module.__name__, plan, dataclasses.asdict(hyperparameters)


def stage_rate(stage: SharedStage | PersonalStage, experiment: Experiment) -> float:
    """Return the peak learning rate of a stage: its own, or that of all."""
    return experiment.training.learning_rate if stage.learning_rate is None else stage.learning_rate


def rate_caution(experiment: Experiment, plans: Mapping[str, Plan]) -> str:
    """Return what to say where all rows train at one rate that was not tuned; "" elsewhere."""
    stages = [stage for plan in plans.values() for stage in (plan.shared, plan.personal) if stage is not None]
    rows = sum(plan.shared is not None or plan.personal is not None for plan in plans.values())
    if experiment.tuned is not None or rows < 2 or len({stage_rate(stage, experiment) for stage in stages}) > 1:
        return ""
    return "All rows train at one learning rate that was not tuned: another rate may rank them otherwise (favor tune)."


def _with_rates(plan: Plan, row: str, overrides: Mapping[str, Any]) -> Plan:
    """Return a plan at the learning rates that a row sets. Raises ``UserError`` for a stage that the plan has not."""
    for key, name in RATES.items():
        rate = _converted(row, key, overrides.get(key), float | None)
        if rate is None:
            continue
        where = f"config key 'methods.{row}.{key}'"
        if not 0 < rate <= 1:
            raise UserError(f"{where}: {rate:g} is out of range; it must be more than 0 and at most 1")
        stage = getattr(plan, name)
        if stage is None:
            others = [other for other, kind in RATES.items() if getattr(plan, kind) is not None]
            remedy = f"set '{others[0]}' instead" if others else "it trains nothing; remove the key"
            raise UserError(f"{where}: the row has no {name} stage; {remedy}")
        plan = dataclasses.replace(plan, **{name: dataclasses.replace(stage, learning_rate=rate)})
    return plan


def declared_method(name: str) -> Method:
    """Return the names of a method: the paper's, or those its file declares. Raises ``UserError`` for neither."""
    declared = PAPER.get(name) or getattr(METHODS.load(name), "METHOD", None)
    if not isinstance(declared, Method):
        raise UserError(f"method file '{name}.py' declares no METHOD = Method(...); add it (docs/extending.md)")
    return declared


def method_departures(module: str, hyperparameters: Mapping[str, Any], protocol: str) -> list[str]:
    """Return the hyper-parameters that differ between the protocols and have another value than this one's."""
    loaded = METHODS.load(module.rsplit(".", 1)[1])
    released: Mapping[str, Any] = getattr(loaded, "RELEASED", {})
    paper = dataclasses.asdict(loaded.Hyperparameters())
    expected = {key: released[key] if protocol == "released" else paper[key] for key in released}
    return [key for key, value in expected.items() if hyperparameters[key] != value]


def _passes(plan: Plan) -> list[float | None]:
    return [stage.epochs for stage in (plan.shared, plan.personal) if stage is not None]


def _check_attacked(shared: SharedStage | None, kind: str) -> None:
    """Refuse an attack on what is not uploaded. Raises ``ValueError``."""
    if shared is None:
        raise ValueError("uploads nothing that 'federation.attack' changes; move it to an experiment without")
    if shared.content != "delta":
        raise ValueError(f"uploads its {shared.content}, no update that 'federation.attack' changes; leave it out")
    if kind == "hijack" and shared.objective.alignment:
        raise ValueError("its shared stage aligns with a client's own style, which a hijack has not; leave it out")


def _check_ranks(plan: Plan) -> None:
    """Refuse ranks per client where adapters of one rank are needed. Raises ``ValueError``."""
    if plan.shared is not None and plan.shared.serving.start is not None:
        what = plan.shared.server_name
    elif plan.generates.mixture is not None:
        what = "its mixture of two adapters"
    elif plan.personal is not None and plan.personal.start in ("frozen", "random"):
        what = "its start at another experiment's adapter"
    else:
        return
    raise ValueError(f"{what} needs adapters of one rank; set 'federation.ranks: null', or move it elsewhere")


def complete(plan: Plan, experiment: Experiment) -> Plan:
    """Return ``plan`` with what the experiment decides: the server's weights, unsampled clients, passes, the budget.

    ``budget: matched`` gives every client the same passes over its own text behind the adapter it generates with,
    ``matched_epochs`` E: the shared and private passes together where a private stage starts from shared ones (FAVoR,
    fine-tuning), E over all participations where a client carries something over, E where training is local. Methods
    without anything personal, and the pooled reference, keep theirs. Raises ``ValueError`` where E leaves nothing to
    train.
    """
    if needs_shared(plan) and experiment.cold_start is None:
        raise ValueError("begins with another experiment's shared adapter; name it in 'cold_start'")
    federation = experiment.federation
    shared, personal = plan.shared, plan.personal
    if federation.attack is not None:
        _check_attacked(shared, federation.attack.kind)
    ranks = None if federation.ranks is None else tuple(federation.ranks)
    if ranks is not None:
        _check_ranks(plan)
    if shared is not None:
        members = shared.server.kind == "members"
        if not shared.serving.steps and shared.server.rate * federation.server_learning_rate != 1:
            raise ValueError(
                "its server keeps a mean and takes no steps; it needs 'federation.server_learning_rate: 1'"
            )
        if federation.robust is not None and shared.serving.each:
            raise ValueError(
                f"{shared.server_name} needs every upload, which 'federation.robust' combines into one; leave one of "
                "them out"
            )
        if shared.state is not None and not hasattr(METHODS.load(shared.state.module.rsplit(".", 1)[1]), "STATE"):
            raise ValueError(f"its state is that of {shared.state.module}, which assigns no STATE; add it")
        asked = federation.privacy
        private = None
        if asked is not None:
            private = Privacy(asked.clip, asked.noise_multiplier, federation.clients_per_round)
        shared = dataclasses.replace(
            shared,
            weighting="uniform" if members or shared.state else federation.weighting,
            state=shared.state and dataclasses.replace(shared.state, clients=experiment.clients),
            privacy=private,
            aggregation=federation.aggregation,
            upload_bits=federation.upload_bits,
            ranks=ranks,
        )
    if personal is not None and personal.start != "pooled":
        personal = dataclasses.replace(personal, ranks=ranks)
    # A row that sets the rate that all have shares its rounds with those that do not.
    if shared is not None and shared.learning_rate == experiment.training.learning_rate:
        shared = dataclasses.replace(shared, learning_rate=None)
    if personal is not None and personal.learning_rate == experiment.training.learning_rate:
        personal = dataclasses.replace(personal, learning_rate=None)
    if personal is not None and personal.epochs is None:
        personal = dataclasses.replace(personal, epochs=federation.participations(experiment.clients))
    if experiment.budget == "matched":
        total = float(experiment.matched_epochs)
        if plan.inference == "endpoint" and shared is not None:
            # An inner step is a step on the same pieces, so K of them are K passes.
            shared = dataclasses.replace(shared, epochs=total / max(1, shared.inner_steps), spread=shared.carries)
        elif personal is not None and personal.start in ("endpoint", "final"):
            assert shared is not None
            if total <= shared.epochs:
                raise ValueError(
                    f"matched_epochs {total:g} leaves nothing after {shared.epochs:g} shared epochs; raise it"
                )
            personal = dataclasses.replace(personal, epochs=total - shared.epochs)
        elif personal is not None and personal.start in ("own", "initial", "frozen", "random"):
            personal = dataclasses.replace(personal, epochs=total, spread=personal.start == "own")
    dropped = personal is not None and personal.residual and federation.never_sampled == "dropped"
    return dataclasses.replace(
        plan, shared=shared, personal=personal, never_sampled="dropped" if dropped else plan.never_sampled
    )


def _converted(row: str, key: str, value: Any, hint: Any) -> Any:
    """Return ``value`` as the hyper-parameter's type. Raises ``UserError`` where it is of another type or choice."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        if value in options and isinstance(value, str):
            return value
        raise UserError(f"config key 'methods.{row}.{key}': {value!r} is not possible; {nearest(str(value), options)}")
    if type(None) in options and value is None:
        return None
    kind = next((option for option in options if option is not type(None)), hint)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return value
    hint = number_hint(value) if kind in (int, float) else ""
    raise UserError(f"config key 'methods.{row}.{key}': expected {kind.__name__}, found {value!r}{hint}")


def row_title(row: str, overrides: Mapping[str, Any], plan: Plan) -> str:
    """Return the printed name of a row: its own title, or the method's name (with the row's where they differ)."""
    if "title" in overrides:
        return str(overrides["title"])
    return plan.display if row_method(row, overrides) == row else f"{plan.display} ({row})"


def plan_values(plan: Plan | SharedStage | PersonalStage | Inference) -> dict[str, Any]:
    """Return a plan, or a part of one, as plain values, for rule parameters and run records.

    A learning rate that a stage leaves to ``training`` is not among them, so that what was made before stays as it is.
    """
    return dataclasses.asdict(
        plan, dict_factory=lambda items: {key: value for key, value in items if (key, value) != ("learning_rate", None)}
    )
