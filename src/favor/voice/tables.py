"""Tables of one writer's voice. All are private to the writer."""

from favor.foundation.tables import DOCUMENT, FLOAT, INT32, PROMPT_ID, SPLIT, STRING, TEXT, Column, Table

_MODEL = Column("model", STRING, "", "base, shared (the adapter that training began with) or own")

VOICE_CONTINUATIONS = Table(
    "voice_continuations",
    (
        _MODEL,
        PROMPT_ID,
        DOCUMENT,
        SPLIT,
        Column("prompt_text", STRING, "", "what was given: the beginning of the document, a draft, or an instruction"),
        TEXT,
    ),
    ("model", "prompt_id"),
)

VOICE_DRAFTS = Table(
    "voice_drafts",
    (
        DOCUMENT,
        Column("passage", INT32, "", "number of the passage in the document, from 0; shorter ones are not there"),
        TEXT,
        Column("draft", STRING, "", "by the base model: the passage in neutral words, or an instruction"),
        Column("refused", STRING, "", "why the draft is not used (favor.studies.tasks.requests.REASONS); else empty"),
    ),
    ("document_id", "passage"),
)

VOICE_LOSSES = Table(
    "voice_losses",
    (
        _MODEL,
        Column("kind", STRING, "", "trained, validation, held_out (all the writer's), contrast or neutral"),
        Column("writer", STRING, "", "who wrote the text; empty for a neutral passage"),
        Column("text", INT32, "", "number of the text among those of its writer and kind, from 0"),
        Column("tokens", INT32, "tokens", "tokens that the loss is of"),
        Column("loss", FLOAT, "nats per token", "mean negative log-likelihood of the text under the model"),
    ),
    ("model", "kind", "writer", "text"),
)
