"""Tables of embeddings."""

from favor.foundation.tables import (
    CLIENT,
    EMBEDDING,
    FLOAT,
    METHOD,
    PROMPT_ID,
    SAMPLE,
    SEED,
    STRING,
    TOPIC,
    Column,
    Table,
)

SOURCE_EMBEDDINGS = Table(
    "source_embeddings",
    (
        CLIENT,
        Column("item", STRING, "", "document_id, or prompt_id where kind is gold"),
        Column("kind", STRING, "", "train, validation, test, gold (an author's own continuation) or draft"),
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

CERTIFICATE = Table(
    "certificate",
    (
        Column("dimension", STRING, "", "style dimension of the item, as STEL names it"),
        Column("item", STRING, "", "identifier of the item, as STEL names it"),
        Column("stel", FLOAT, "", "1 where STEL's order is chosen rightly, 0 where not, 0.5 for a tie"),
        Column("stel_or_content", FLOAT, "", "1 where style goes before content, 0 where not, 0.5 for a tie"),
    ),
    ("dimension", "item"),
)
