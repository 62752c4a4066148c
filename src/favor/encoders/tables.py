"""Tables of embeddings."""

from __future__ import annotations

from favor.foundation.columns import CLIENT, EMBEDDING, METHOD, PROMPT_ID, SAMPLE, SEED, TOPIC
from favor.foundation.tables import STRING, Column, Table

SOURCE_EMBEDDINGS = Table(
    "source_embeddings",
    (
        CLIENT,
        Column("item", STRING, "", "document_id, or prompt_id where kind is gold"),
        Column("kind", STRING, "", "train, validation, test, or gold (an author's own continuation of a prompt)"),
        TOPIC,
        EMBEDDING,
    ),
    ("kind", "client", "item"),
)

GENERATION_EMBEDDINGS = Table(
    "generation_embeddings",
    (SEED, METHOD, CLIENT, PROMPT_ID, SAMPLE, EMBEDDING),
    ("seed", "method", "client", "prompt_id", "sample"),
)
