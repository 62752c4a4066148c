"""The settings of base models, adapters, training, alignment and generation; no numerical library is imported.

A job is handed the class that holds what it reads. A configuration file has :class:`LanguageModel`, :class:`Lora`,
:class:`Training`, :class:`Alignment` and :class:`Generation`.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from favor.foundation.gguf import is_gguf, read_header
from favor.foundation.section import (
    DISTINCT,
    OR_NULL,
    Count,
    Day,
    Dropout,
    Filled,
    LearningRate,
    Natural,
    NotNegative,
    Positive,
    Section,
    Seed,
    Share,
    key,
    required,
)
from favor.lm.configuration import local_configuration

CHAT_DATE = "2026-01-01"  # the same on every day, so that prompts are


class Vocabulary(Section):
    """Settings of the job that trains a tokenizer."""

    vocabulary_size: int = key(2048, "Entries of the byte-level BPE vocabulary.", ge=300, le=1_000_000)


class ModelTraining(Section):
    """Settings of the job that pretrains a base model: its shape and its optimisation.

    Passes over the text repeat until ``tokens`` are trained on, in whole batches. Under ``precision: bfloat16`` weights
    stay float32.
    """

    hidden_size: int = key(128, "Width of the model.", ge=8, le=65_536)
    layers: int = key(4, "Number of transformer layers.", ge=1, le=1_000)
    heads: int = key(4, "Number of attention heads.", ge=1)
    key_value_heads: int = key(2, "Number of key and value heads.", ge=1)
    intermediate_size: int = key(384, "Width of the MLP.", ge=8, le=1_000_000)
    context_length: int = key(512, "Longest sequence in tokens.", ge=16, le=1_000_000)
    tokens: int = key(1500000, "Number of tokens trained on.", ge=1000)
    sequence_length: int = key(256, "Length of a packed training sequence in tokens.", ge=16)
    batch_size: int = key(16, "Sequences per step.", ge=1)
    learning_rate: LearningRate = key(0.003, "Peak learning rate.")
    precision: Literal["float32", "bfloat16"] = key("float32", "Computation type.")
    seed: Seed = key(2026, "Random seed of initialisation and order.")


class Pretraining(ModelTraining, Vocabulary):
    """A small Qwen2 model that is trained from scratch on the background authors of a corpus."""

    corpus: str = required("Corpus whose background authors are read.")


class Loading(Section):
    """How a base model is loaded."""

    quantisation: Literal["none", "nf4"] = key(
        "none", "`nf4` loads the model in 4 bits (double quantisation, bfloat16 computation) and needs bitsandbytes."
    )
    device: Literal["auto", "cpu", "cuda"] = key("auto", "Where the model runs; `auto` takes a GPU if there is one.")
    dtype: Literal["auto", "float32", "bfloat16"] = key(
        "auto",
        "Computation type; `auto` is bfloat16 on a GPU. A CPU without products in bfloat16 takes float32, and says so.",
    )
    chat_date: Day = key(CHAT_DATE, "Day that the model's chat template writes where it writes today's date.")


class LoadedModel(Loading):
    """A base model as a job loads it. ``source``: its folder or Hugging Face id."""

    source: str


class Asking(Section):
    """How a base model is asked in words."""

    chat: Literal["auto", "template", "plain"] = key(
        "auto",
        "How prompting baselines, author sheets and local judges ask the model: with its chat template, which must "
        "exist (`template`), in plain text (`plain`), or with the template if there is one (`auto`).",
    )


class AskedModel(Asking, LoadedModel):
    """A base model that a job asks in words."""


class LanguageModel(Asking, Loading):
    """One base model: give either `source` or `pretrain`."""

    title: Filled | None = key(None, "Name printed in tables; null prints the model's name here.")
    source: Filled | None = key(
        None, "Hugging Face id, local folder or GGUF file (`*.gguf`); null where the model is pretrained here."
    )
    parameters: Count | None = key(
        None,
        "Number of parameters, which sizes cluster jobs; null counts them from the shape under `pretrain` or the GGUF "
        "file, or assumes 3 billion.",
    )
    pretrain: Pretraining | None = key(None, "Trains this model from scratch on the background authors of a corpus.")

    @property
    def gguf(self) -> str | None:
        """The GGUF file that the model is dequantised from; None where its source is something else."""
        return self.source if is_gguf(self.source) else None

    @property
    def made_here(self) -> bool:
        """Whether a job writes the model's folder: pretrained, or dequantised."""
        return self.pretrain is not None or self.gguf is not None

    def known_context(self) -> int | None:
        """Return the context in tokens; None where only the Hugging Face hub knows it."""
        if self.pretrain is not None:
            return self.pretrain.context_length
        if self.gguf is not None:
            return read_header(self.gguf).context if Path(self.gguf).is_file() else None
        folder = Path(self.source or "")
        return local_configuration(folder).max_position_embeddings if (folder / "config.json").is_file() else None


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Lora(Section):
    """The adapters: ``delta W = (alpha / rank) B A`` on the named projections (paper, training settings)."""

    rank: int = key(16, "Rank of the adapters.", ge=1)
    alpha: Positive = key(32, "Numerator of the scaling, which is alpha / rank.")
    dropout: Dropout = key(0.05, "Dropout on the adapter's input.")
    target_modules: Annotated[tuple[str, ...], BeforeValidator(_as_tuple), DISTINCT, Field(min_length=1)] | None = key(
        None,
        "Projections that carry an adapter; null takes every linear layer of the model but the output layer, in Qwen2 "
        "the seven of the paper.",
    )

    @property
    def scaling(self) -> float:
        """The factor alpha / rank."""
        return self.alpha / self.rank


# What training holds at once on a processor: what a pass's layers keep for its gradients, unless one micro-batch keeps
# more, and the values of a stack, unless one client's are more.
PASS_BYTES, STACK_BYTES = 1 << 30, 1 << 29

ALL_LINEAR = Lora()  # for what generates without adapters, on any decoder


class Validation(Section):
    """Reading the clients' validation texts while they train."""

    texts_per_client: Count = key(
        8,
        "Most validation texts of a client that are read before a stage and after each of its passes, the "
        "first piece of each.",
    )
    patience: Count | None = key(
        None,
        "Passes in a row without a lower validation loss after which a personal stage ends. It keeps the adapter of "
        "its best pass; the learning rate follows the planned passes. null runs every stage to its end.",
    )


class PieceLength(Section):
    """How long a piece of a text may be."""

    max_length: int = key(1024, "Longest piece in tokens.", ge=4)


class Optimisation(PieceLength):
    """How one stage is optimised: AdamW, linear decay after a warm-up, clipping per client.

    ``warmup_counts_from`` 1 makes the first step's rate 1 / warm-up steps of the peak, 0 makes it zero (the rule of
    transformers). The norm of a client's gradient is taken over its LoRA factors and its projection head together.
    ``micro_batch`` is also the minibatch that the style state is pooled over. Which pieces share a pooled style state
    depends on ``group_by_length``; the token mean of a step does not.
    """

    learning_rate: LearningRate = key(
        2.0e-4, "Peak AdamW learning rate of both stages, where a row of `methods` sets none of its own."
    )
    weight_decay: NotNegative = key(
        0.0, "AdamW weight decay. It pulls a residual towards 0, and so a private adapter towards the shared one."
    )
    warmup_fraction: Share = key(0.03, "Share of the steps that warm up.")
    clip_norm: Positive = key(1.0, "Largest gradient norm of a client; larger ones are scaled down to it.")
    micro_batch: int = key(4, "Pieces per minibatch.", ge=1)
    accumulation: int = key(8, "Minibatches per optimiser step.", ge=1)
    supervised: Annotated[Literal["response", "all"], OR_NULL] = key(
        None, "Tokens that are learned from. By protocol: paper response, released all."
    )
    warmup_counts_from: Annotated[Literal[0, 1], OR_NULL] = key(
        None, "Whether the first step has learning rate 0. By protocol: paper 1, released 0."
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


class PieceCutting(PieceLength):
    """How texts are cut."""

    pieces: Annotated[Literal["windows", "truncate"], OR_NULL] = key(
        None,
        "What happens to a longer text: it is cut into overlapping windows, or only its start is kept. By protocol: "
        "paper windows, released truncate.",
    )


class Training(PieceCutting, Optimisation):
    """The local optimiser, in shared and personal stages alike."""

    rows_per_forward: Count | None = key(
        None,
        "Most rows of one forward pass; null lets the workflow choose. Fewer than `micro_batch` cut a minibatch "
        "without changing its loss.",
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


class WeightedAlignment(Alignment):
    """Style alignment in a stage (Eqs. pooled_hidden, projected_style, style_alignment_loss). ``weight``: lambda_align.

    ``pooling`` "example": one state per piece, cosines averaged, in micro-batches whose pieces have at least
    ``minimum_tokens`` supervised tokens on average. ``ramp_counts`` "micro_batches" counts as the released trainers do
    (:func:`favor.lm.optimiser.micro_batch_ramp`).
    """

    weight: float


class OutputFilter(Section):
    """Which continuations pass the filter."""

    minimum_words: Natural = key(20, "Shorter outputs fail the filter; one without a word always does.")
    minimum_distinct_bigram_ratio: Share = key(
        0.15, "Outputs with a smaller share of distinct bigrams fail the filter."
    )


class DecodingLimits(Section):
    """How tokens are chosen and how many continuations are generated at once."""

    repetition_penalty: Positive = key(1.1, "Repetition penalty.")
    rows_per_batch: int = key(
        256, "Most continuations generated at once; fewer where a GPU's memory does not hold them.", ge=1
    )


class Decoding(DecodingLimits, OutputFilter):
    """How continuations are generated, and which of them pass the filter, as a job reads it."""

    max_new_tokens: int = key(220, "Longest continuation in tokens.", ge=1)
    temperature: NotNegative = key(
        0, "Temperature that tokens are sampled with; 0 takes the most probable token (greedy)."
    )
    top_p: Share = key(
        1, "With a temperature: tokens are drawn among the most probable ones that together have this probability."
    )
    samples: Count = key(1, "With a temperature: continuations of every prompt.")


class Generation(Decoding):
    """How continuations are generated, and which of them pass the filter."""

    clients_per_job: Annotated[int, OR_NULL] = key(
        None,
        "How many clients' prompts one job continues; null takes all, up to 1,000. Results change by no more than "
        "rounding.",
        ge=1,
    )
