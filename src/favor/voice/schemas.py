"""Tables of one writer's voice. All are private to the writer."""

from favor.foundation.schemas import DOCUMENT, PROMPT_ID, SPLIT, TEXT, Column, Table

_MODEL = Column("model", "string", "base, shared (the adapter that training began with) or own")

VOICE_CONTINUATIONS = Table(
    "voice_continuations",
    ("model", "prompt_id"),
    _MODEL,
    PROMPT_ID,
    DOCUMENT,
    SPLIT,
    Column("prompt_text", "string", "what was given: the beginning of the document, a draft, or an instruction"),
    TEXT,
)

VOICE_DRAFTS = Table(
    "voice_drafts",
    ("document_id", "passage"),
    DOCUMENT,
    Column("passage", "int32", "number of the passage in the document, from 0; shorter ones are not there"),
    TEXT,
    Column("draft", "string", "by the base model: the passage in neutral words, or an instruction"),
    Column("refused", "string", "why the draft is not used (favor.studies.tasks.requests.REASONS); else empty"),
)

VOICE_LOSSES = Table(
    "voice_losses",
    ("model", "kind", "writer", "text"),
    _MODEL,
    Column("kind", "string", "trained, validation, held_out (all the writer's), contrast or neutral"),
    Column("writer", "string", "who wrote the text; empty for a neutral passage"),
    Column("text", "int32", "number of the text among those of its writer and kind, from 0"),
    Column("tokens", "int32", "tokens that the loss is of", "tokens"),
    Column("loss", "float64", "mean negative log-likelihood of the text under the model", "nats per token"),
)
