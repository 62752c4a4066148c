"""Experiments: rows of methods on one corpus and base model, how they are trained, and how they are measured."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationError

from favor.config.messages import message
from favor.config.models import PROJECTIONS, check_generation
from favor.corpora.settings import Allocation, Clients, Prompts, Withdrawals
from favor.federation.settings import Federation, Prompting, Tuned
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.registry import row_method
from favor.foundation.section import (
    DISTINCT,
    OR_NULL,
    Filled,
    Name,
    Positive,
    Section,
    Seed,
    check_known,
    is_shown,
    key,
    refuse,
    required,
    section,
)
from favor.lm.settings import Alignment, Generation, Lora, Training
from favor.scores.settings import Evaluation
from favor.studies.settings import Studies, Task

ROW_GENERATION = ("temperature", "top_p", "samples")  # keys of `generation` that a row may set for itself
# Folders and rows that the workflow makes.
RESERVED_ROWS = {"source", "shared", "server", "schedule", "gold", "shuffled"}


class ColdStart(Section):
    """Another experiment's final shared adapter, which the methods of cold start begin with."""

    shared_from: str = required("Experiment whose clients trained the adapter; none of them is a client here.")
    row: str = key("favor", "Row of that experiment.")
    seed: Annotated[Seed, OR_NULL] = key(
        None, "Seed of that experiment; null takes its first. One adapter serves all seeds here."
    )


def _figure_names(value: Any) -> Any:
    return {True: ["all"], False: []}[value] if isinstance(value, bool) else value


Figures = Annotated[list[str], DISTINCT, BeforeValidator(_figure_names, json_schema_input_type=bool | list[str])]
# A row without hyper-parameters may be written as "favor:".
Row = Annotated[dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)]


class Experiment(Task, Withdrawals, Clients, Section):
    """One experiment; it has a folder of its own under `results`."""

    extends: str | None = key(
        None,
        "Experiment to inherit from; settings not given here are taken from it, except `title`, `tables` and "
        "`studies`. Sections are merged key by key; `methods` replaces the other's rows together, with `tuned`.",
    )
    outputs_of: str | None = key(
        None,
        "Experiment whose continuations this one evaluates: rows that both have are neither trained nor generated "
        "again, and rows that only generate otherwise take the adapters of the same method there. Whatever outputs "
        "depend on must be equal.",
    )
    title: Filled = key("Experiment", "Name printed in tables and reports.")
    corpus: str = required("Corpus of the clients.")
    base_model: str = required("Base model that every method adapts.")
    style_encoder: str = required("Encoder of the style target and of the style metrics.")
    protocol: Literal["paper", "released"] = key(
        "paper", "Preset behind every choice that is not set (docs/scaling.md)."
    )
    budget: Literal["released", "matched"] = key(
        "released",
        "Passes over a client's own text: each method's own (`released`), or the same behind every personal adapter "
        "(`matched`).",
    )
    matched_epochs: Positive = key(3, "Passes behind every personal adapter under `budget: matched`.")
    seeds: Annotated[list[Seed], DISTINCT] = key(
        [2026, 2027, 2028], "Training seeds; tables show their mean.", min_length=1
    )
    cold_start: ColdStart | None = key(
        None, "Another experiment's final shared adapter, which methods of cold start begin with; null for none."
    )
    methods: dict[Name, Row] = key(
        {"fedavg": {}, "fedprox": {}, "ditto": {}, "favor": {}},
        "Rows by name, each with its hyper-parameters. A row runs the method file of its name, or the one that "
        "`method` names; `title` is its printed name, and `generation` its own temperature, top_p and samples. "
        "`learning_rate` is its own rate in the shared stage and `personal_learning_rate` in the personal one; null "
        "takes `training.learning_rate`. A row with `outputs: FILE` or `adapters: FOLDER` measures what was made "
        "elsewhere (docs/outside.md).",
        min_length=1,
    )
    tuned: Tuned | None = key(
        None,
        "What `favor tune` tried before it set the rates of `methods`; it writes this itself. null: nothing was tuned.",
    )
    allocation: Allocation = section(Allocation, "How many words, or texts, each client trains on.")
    prompts: Prompts = section(Prompts, "Evaluation prompts.")
    federation: Federation = section(Federation, "Rounds, cohorts and the server.")
    lora: Lora = section(Lora, "The adapters.")
    training: Training = section(Training, "The local optimiser.")
    alignment: Alignment = section(Alignment, "The style alignment loss.")
    generation: Generation = section(Generation, "How continuations are generated.")
    prompting: Prompting = section(Prompting, "What prompting baselines put before a prompt.")
    evaluation: Evaluation = section(Evaluation, "What outputs are measured with.")
    studies: Studies = section(Studies, "Studies beside the main tables (docs/studies.md).")
    tables: Annotated[list[str], DISTINCT] = key(["main_federated_results"], "Tables to print, by label.")
    figures: Figures = key(
        ["all"],
        "Figures to draw, by name; true draws all, false none. An experiment without tables and figures has no section "
        "in the report.",
    )

    @property
    def answers(self) -> bool:
        """Whether models answer requests, and do not continue texts."""
        return self.task != "continue"

    @property
    def remaining_clients(self) -> int:
        """Number of clients that did not withdraw."""
        return self.clients - len(self.withdrawn)

    def check_rows(self, where: str, methods: list[str]) -> None:
        """Check the names of rows and of their method files. Raises ``UserError`` that names the key."""
        for row, overrides in self.methods.items():
            for name in ("method", "title"):
                if not isinstance(overrides.get(name, ""), str):
                    refuse(f"{where}.methods.{row}.{name}", f"expected text, found {overrides[name]!r}")
                if not is_shown(overrides.get(name, "")):
                    refuse(f"{where}.methods.{row}.{name}", "holds a character that cannot be seen; type it again")
            own = f"{where}.methods.{row}.generation"
            check_generation(self.row_generation(row, own), own)
            check_known(row_method(row, overrides), methods, f"{where}.methods.{row}")

    def row_generation(self, row: str, where: str = "generation") -> Generation:
        """Return how a row's continuations are generated: as the experiment's, or with keys of its own.

        Raises ``UserError`` that names the key.
        """
        own = self.methods[row].get("generation", {})
        if not isinstance(own, dict):
            refuse(where, f"expected a mapping such as {{ temperature: 0.8 }}, found {own!r}")
        check_known(own, ROW_GENERATION, where)
        try:
            return Generation.model_validate({**self.generation.model_dump(), **own})
        except ValidationError as error:
            raise UserError(message(error, Generation, where)) from None

    def check_lengths(self, where: str) -> None:
        """Check that prompts, pieces and continuations fit one another. Raises ``UserError`` that names the key."""
        prefix, new, longest = self.prompts.prefix_tokens, self.generation.max_new_tokens, self.training.max_length
        golds = self.prompts.minimum_gold_tokens
        if golds > new:
            refuse(
                f"{where}.prompts.minimum_gold_tokens",
                f"{golds} tokens, but continuations have {new} at most (generation.max_new_tokens); lower the first or "
                "raise the second",
            )
        common = self.prompts.common
        if common is not None and common.path is not None and not Path(common.path).is_file():
            refuse(f"{where}.prompts.common.path", f"{printable(common.path)} is not a file; correct the path")
        likelihood = self.evaluation.likelihood
        neutral = "english" if likelihood is None or likelihood.neutral is None else likelihood.neutral
        if neutral != "english" and not Path(neutral).is_file():
            refuse(
                f"{where}.evaluation.likelihood.neutral",
                f"{printable(neutral)} is not a file; correct the path, or set it to english or null",
            )
        if self.alignment.minimum_tokens > longest:
            refuse(
                f"{where}.alignment.minimum_tokens",
                f"no piece of {longest} tokens (training.max_length) has {self.alignment.minimum_tokens}, so nothing "
                "would be aligned; lower it",
            )
        if self.prompts.minimum_per_client > self.prompts.per_client:
            refuse(
                f"{where}.prompts.minimum_per_client",
                f"{self.prompts.minimum_per_client} is more than the {self.prompts.per_client} that are taken "
                "(prompts.per_client); lower it",
            )
        if prefix >= longest:
            refuse(
                f"{where}.training.max_length",
                f"{longest} tokens leave nothing to learn after a prefix of {prefix}; raise it",
            )

    def check_context(self, where: str, context: int) -> None:
        """Check lengths against a base model that reads ``context`` tokens. Raises ``UserError`` that names the key."""
        prefix, new, longest = self.prompts.prefix_tokens, self.generation.max_new_tokens, self.training.max_length
        if prefix >= context:
            refuse(
                f"{where}.prompts.prefix_tokens",
                f"a prefix of {prefix} tokens does not fit the model's context of {context}; shorten it, or give "
                f"base_models.{self.base_model} a longer context",
            )
        if prefix + new > context:
            refuse(
                f"{where}.generation.max_new_tokens",
                f"a prefix of {prefix} and {new} new tokens exceed the model's context of {context}; lower one of them",
            )
        if longest > context:
            refuse(
                f"{where}.training.max_length", f"{longest} tokens exceed the model's context of {context}; lower it"
            )

    def check_projections(self, where: str) -> None:
        """Check adapted projections against a model pretrained here. Raises ``UserError`` that names the key."""
        check_known(self.lora.target_modules, PROJECTIONS, f"{where}.lora.target_modules")
