"""Tables of embeddings."""

from favor.foundation.schemas import CLIENT, EMBEDDING, OUTPUT, OUTPUT_KEY, TOPIC, Column, Table

SOURCE_EMBEDDINGS = Table(
    "source_embeddings",
    ("kind", "client", "item"),
    CLIENT,
    Column("item", "string", "document_id, or prompt_id where kind is gold"),
    Column("kind", "string", "train, validation, test, gold (an author's own continuation) or draft"),
    TOPIC,
    EMBEDDING,
)

GENERATION_EMBEDDINGS = Table("generation_embeddings", OUTPUT_KEY, *OUTPUT, EMBEDDING)

CERTIFICATE = Table(
    "certificate",
    ("dimension", "item"),
    Column("dimension", "string", "style dimension of the item, as STEL names it"),
    Column("item", "string", "identifier of the item, as STEL names it"),
    Column("stel", "float64", "1 where STEL's order is chosen rightly, 0 where not, 0.5 for a tie"),
    Column("stel_or_content", "float64", "1 where style goes before content, 0 where not, 0.5 for a tie"),
)
