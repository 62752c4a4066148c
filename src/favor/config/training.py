"""How an experiment federates, trains and generates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from favor.settings.section import (
    DISTINCT,
    OR_NULL,
    Count,
    Dropout,
    LearningRate,
    Natural,
    NotNegative,
    Positive,
    Section,
    Share,
    key,
    refuse,
    required,
)

# The projections of the Qwen2 models that are pretrained here.
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class DifferentialPrivacy(Section):
    """Differential privacy of authors: clipped uploads, noise on their sum."""

    clip: Positive = required("Largest L2 norm of a client's upload; a larger one is scaled down to it.")
    noise_multiplier: NotNegative = required("Standard deviation of the noise on a round's sum, in units of `clip`.")
    delta: float | None = key(
        None,
        "Delta at which epsilon is printed; null takes N^-1.1 for N clients. From 1/N on it would allow to publish an "
        "author whole, and is refused.",
        gt=0,
        lt=1,
    )


class Federation(Section):
    """Rounds, cohorts and the server."""

    rounds: int = key(6, "Number of communication rounds.", ge=1, le=10_000)
    clients_per_round: int = key(12, "Clients sampled per round.", ge=1)
    server_learning_rate: Positive = key(1.0, "Server learning rate.")
    weighting: Annotated[Literal["uniform", "words"], OR_NULL] = key(
        None, "Weights of the server's mean. By protocol: paper uniform, released words."
    )
    never_sampled: Annotated[Literal["shared", "dropped"], OR_NULL] = key(
        None,
        "What a client that no round sampled generates with under residual methods: the shared adapter, or nothing. By "
        "protocol: paper shared, released dropped.",
    )
    initial_adapter: Annotated[Literal["common", "per_track"], OR_NULL] = key(
        None,
        "Whether all tracks of a seed start from one adapter or each from its own. By protocol: paper common, released "
        "per_track.",
    )
    privacy: DifferentialPrivacy | None = key(
        None, "Clips uploads and adds noise to their sum (DP-FedAvg, docs/privacy.md); null for neither."
    )
    aggregation: Literal["uploads", "sum_only"] = key(
        "uploads",
        "What the server reads of a round: every upload, or their sum alone, as secure aggregation leaves it.",
    )
    engine: Literal["stacked", "sequential"] = key(
        "stacked", "Trains the clients of a job stacked, or one after another."
    )
    clients_per_job: Annotated[int, OR_NULL] = key(
        None,
        "How many clients one job serves; null takes all that are trained at once, up to 32. Results change only by "
        "floating-point rounding.",
        ge=1,
    )


class Lora(Section):
    """The adapters."""

    rank: int = key(16, "Rank of the adapters.", ge=1)
    alpha: Positive = key(32, "Numerator of the scaling, which is alpha / rank.")
    dropout: Dropout = key(0.05, "Dropout on the adapter's input.")
    target_modules: Annotated[list[str], DISTINCT, Field(min_length=1)] | None = key(
        None,
        "Projections that carry an adapter; null takes every linear layer of the model but the output layer, in Qwen2 "
        "the seven of the paper.",
    )


class Validation(Section):
    """Reading the clients' validation texts while they train."""

    texts_per_client: Count = key(
        8, "Most validation texts of a client that are read before a stage and after each of its passes."
    )
    patience: Count | None = key(
        None,
        "Passes in a row without a lower validation loss after which a personal stage ends. It keeps the adapter of "
        "its best pass; the learning rate follows the planned passes. null runs every stage to its end.",
    )


class Training(Section):
    """The local optimiser, in shared and personal stages alike."""

    learning_rate: LearningRate = key(2.0e-4, "Peak AdamW learning rate of both stages.")
    weight_decay: NotNegative = key(
        0.0, "AdamW weight decay. It pulls a residual towards 0, and so a private adapter towards the shared one."
    )
    warmup_fraction: Share = key(0.03, "Share of the steps that warm up.")
    clip_norm: Positive = key(1.0, "Largest gradient norm of a client; larger ones are scaled down to it.")
    micro_batch: int = key(4, "Pieces per minibatch.", ge=1)
    accumulation: int = key(8, "Minibatches per optimiser step.", ge=1)
    max_length: int = key(1024, "Longest piece in tokens.", ge=4)
    pieces: Annotated[Literal["windows", "truncate"], OR_NULL] = key(
        None,
        "What happens to a longer text: it is cut into overlapping windows, or only its start is kept. By protocol: "
        "paper windows, released truncate.",
    )
    supervised: Annotated[Literal["response", "all"], OR_NULL] = key(
        None, "Tokens that are learned from. By protocol: paper response, released all."
    )
    warmup_counts_from: Annotated[Literal[0, 1], OR_NULL] = key(
        None, "Whether the first step has learning rate 0. By protocol: paper 1, released 0."
    )
    rows_per_forward: Count | None = key(
        None,
        "Most rows of one forward pass; null lets the workflow choose. Fewer than `micro_batch` cut a minibatch "
        "without changing its loss.",
    )
    group_by_length: bool = key(True, "Sorts the pieces of one optimiser step by length.")
    steps_per_epoch: Count | None = key(
        None,
        "Optimiser steps, each of a whole effective batch, that count as one pass over a client's text; null takes as "
        "many as its text needs.",
    )
    gradient_checkpointing: Literal["auto", "on", "off"] = key(
        "auto", "Recomputes activations to save memory; `auto` does so for as many layers as a GPU's memory asks for."
    )
    validation: Validation | None = key(
        None, "Validation losses in the training logs, and early stopping; null reads none."
    )


class Alignment(Section):
    """The style alignment loss."""

    ramp_fraction: Share = key(0.05, "Share of the steps over which alignment ramps up.")
    ramp_counts: Annotated[Literal["steps", "micro_batches"], OR_NULL] = key(
        None, "What the ramp counts. By protocol: paper steps, released micro_batches."
    )
    pooling: Annotated[Literal["minibatch", "example"], OR_NULL] = key(
        None, "What a style state is pooled over. By protocol: paper minibatch, released example."
    )
    minimum_tokens: int = key(
        8, "Fewest supervised tokens that an example has on average, when pooling by example.", ge=1
    )
    hidden: int = key(1024, "Hidden width of the projection head.", ge=1)
    dropout: Dropout = key(0.05, "Dropout of the projection head.")


class Generation(Section):
    """How continuations are generated, and which of them pass the filter."""

    max_new_tokens: int = key(220, "Longest continuation in tokens.", ge=1)
    repetition_penalty: Positive = key(1.1, "Repetition penalty.")
    temperature: NotNegative = key(
        0, "Temperature that tokens are sampled with; 0 takes the most probable token (greedy)."
    )
    top_p: Share = key(
        1, "With a temperature: tokens are drawn among the most probable ones that together have this probability."
    )
    samples: Count = key(1, "With a temperature: continuations of every prompt.")
    rows_per_batch: int = key(
        256, "Most continuations generated at once; fewer where a GPU's memory does not hold them.", ge=1
    )
    clients_per_job: Annotated[int, OR_NULL] = key(
        None,
        "How many clients' prompts one job continues; null takes all, up to 1,000. Results change by no more than "
        "rounding.",
        ge=1,
    )
    minimum_words: Natural = key(20, "Shorter outputs fail the filter.")
    minimum_distinct_bigram_ratio: Share = key(
        0.15, "Outputs with a smaller share of distinct bigrams fail the filter."
    )

    def check(self, where: str) -> None:
        """Check that what sampling needs is set. Raises ``UserError`` that names the key."""
        if self.temperature == 0 and self.samples > 1:
            refuse(
                f"{where}.samples",
                f"without 'temperature' all {self.samples} continuations would be equal; set that too",
            )
        if self.temperature == 0 and self.top_p < 1:
            refuse(f"{where}.top_p", "works only with 'temperature'; set that too")
        if self.top_p == 0:
            refuse(f"{where}.top_p", "leaves no token to draw; raise it")
