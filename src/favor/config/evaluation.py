"""How an experiment's outputs are prompted for and measured."""

from __future__ import annotations

from typing import Annotated, Any

from favor.corpora.settings import Transfer
from favor.settings.section import DISTINCT, OR_NULL, Count, Filled, Section, Seed, key, section
from favor.statistics.settings import Bootstrap


class BertScore(Section):
    """The model behind BERTScore."""

    model: Filled = key("roberta-large", "Hugging Face id, local folder or `embedded-minilm`.")
    layer: int = key(17, "Layer whose states are compared.", ge=0)
    maximum_tokens: int = key(512, "Longest text in tokens.", ge=8)


class Likelihood(Section):
    """Every client's final model reads every client's held-out texts; nothing is generated."""

    texts_per_client: Count = key(6, "Most held-out texts per client; none is the source of a prompt.")
    maximum_tokens: int | None = key(
        None,
        "Most supervised tokens of a text, which follow a prefix as long as a prompt; null takes those of a "
        "continuation, and at most 128.",
        ge=1,
    )
    minimum_tokens: Count = key(16, "Texts with fewer tokens behind the prefix are passed over.")
    neutral: str | None = key(
        "english",
        "Neutral sentences, in which forgetting shows: `english` takes those that come with the project, a path those "
        "of your text file, null none.",
    )
    neutral_texts: Count = key(16, "Most windows of the neutral sentences.")
    seed: Seed = key(2026, "Random seed of the choice of texts.")


class Evaluation(Section):
    """What outputs are measured with."""

    transfer: Transfer | None = key(None, "Scores human texts of another corpus; null scores none.")
    encoders: Annotated[list[str], DISTINCT] = key(
        [], "Encoders of the metric tables, in addition to the style encoder."
    )
    semantic_encoder: Annotated[str, OR_NULL] = key(
        None, "Encoder of the semantic similarity; null takes the first one with the source `embedded-minilm`."
    )
    assistant: str | None = key(None, "Classifier behind the assistant score; null leaves the score out.")
    scores: dict[str, dict[str, Any]] = key(
        {},
        "Settings of metric families, as in `mauve: { kmeans_seeds: [1, 2, 3] }`. Each family's file lists its own "
        "under `DEFAULTS`.",
    )
    bertscore: BertScore = section(BertScore, "The model behind BERTScore.")
    likelihood: Likelihood | None = section(
        Likelihood, "What every client's model knows of every client's held-out texts; null reads none."
    )
    bootstrap: Bootstrap = section(Bootstrap, "Resamples of authors, for intervals, and patterns of signs, for p.")
