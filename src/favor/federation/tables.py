"""Tables of training and generation: schedules, traffic, training logs, continuations."""

from favor.foundation.tables import (
    BOOLEAN,
    BYTES,
    CLIENT,
    DOCUMENT,
    FLOAT,
    INT32,
    METHOD,
    PROMPT_ID,
    ROUND,
    SAMPLE,
    SEED,
    SPLIT,
    STRING,
    TEXT,
    TEXTS,
    TOKENS,
    TOPIC,
    Column,
    Table,
)

SCHEDULE = Table(
    "schedule",
    (ROUND, Column("slot", INT32, "", "position in the round's cohort, from 0"), CLIENT),
    ("round", "slot"),
)

TRAFFIC = Table(
    "traffic",
    (
        ROUND,
        Column("direction", STRING, "", "client_to_server or server_to_client"),
        Column("content", STRING, "", "delta, delta and change of state, personal adapter or shared adapter"),
        CLIENT,
        Column("file", STRING, "", "file it was in, relative to the results folder"),
        BYTES,
    ),
    ("round", "direction", "client", "content"),
)

BOUNDARY = Table(
    "boundary",
    (
        SEED,
        METHOD,
        ROUND,
        Column("direction", STRING, "", "client_to_server, server_to_client or stays_on_client"),
        Column(
            "content",
            STRING,
            "",
            "delta, delta and change of state, personal adapter, word count, text, shared or final adapter; of what "
            "stays: residual, endpoint, adapter, gate, state, ...",
        ),
        CLIENT,
        Column("file", STRING, "", "file it was in, relative to the results folder"),
        BYTES,
    ),
    ("seed", "method", "round", "direction", "client", "content"),
)

AUTHOR_SHEETS = Table(
    "author_sheets",
    (
        CLIENT,
        Column("sheet", STRING, "", "how the client's author writes, in a model's words; private to the client"),
        Column("persona", STRING, "", "the sheet as an address to a writer; private to the client"),
        Column("texts", INT32, "texts", "training texts the sheet was made from"),
    ),
    ("client",),
)

PROMPTED_REQUESTS = Table(
    "prompted_requests",
    (
        SEED,
        METHOD,
        CLIENT,
        PROMPT_ID,
        Column("request", STRING, "", "what the base model was given, without its template; private to the client"),
        Column("tokens", INT32, "tokens", "length of the request"),
        Column("documents", TEXTS, "", "training documents that it quotes, nearest first"),
    ),
    ("seed", "method", "client", "prompt_id"),
)

GATES = Table(
    "gates",
    (
        SEED,
        METHOD,
        CLIENT,
        PROMPT_ID,
        Column("gate", FLOAT, "", "weight of the global adapter (FedDPA, APFL); 0.5 for a sum"),
    ),
    ("seed", "method", "client", "prompt_id"),
)

TRAINING_LOG = Table(
    "training_log",
    (
        Column("stage", STRING, "", "shared or personal"),
        ROUND,
        CLIENT,
        Column("step", INT32, "steps", "optimiser step of the stage, from 0"),
        Column("learning_rate", FLOAT, "", "rate applied at the step"),
        Column("task_loss", FLOAT, "nats per token", "mean negative log-likelihood of the supervised tokens"),
        Column("proximal", FLOAT, "", "proximal term added to the loss"),
        Column("alignment_loss", FLOAT, "", "1 - cosine to the style target; NaN without alignment"),
        Column("cosine", FLOAT, "", "cosine to the style target; NaN without alignment"),
        Column("kappa", FLOAT, "", "warm-up coefficient of the alignment loss"),
        Column("gradient_norm", FLOAT, "", "norm of the client's gradient before clipping"),
        Column(
            "alignment_gradient_share",
            FLOAT,
            "",
            "|g_align| / (|g_align| + |g_task|), gradients of the two losses by the final hidden states",
        ),
        Column("supervised_tokens", INT32, "tokens", "supervised tokens of the step"),
        Column(
            "validation_loss_before",
            FLOAT,
            "nats per token",
            "mean negative log-likelihood of the client's validation texts before the stage; NaN but at step 0",
        ),
        Column("validation_loss", FLOAT, "nats per token", "the same after a pass; NaN at the steps within one"),
    ),
    ("stage", "round", "client", "step"),
)

VALIDATION_LOSSES = Table(
    "validation_losses",
    (
        CLIENT,
        Column("loss", FLOAT, "nats per token", "mean negative log-likelihood of the client's validation texts"),
    ),
    ("client",),
)

GENERATIONS = Table(
    "generations",
    (
        SEED,
        METHOD,
        CLIENT,
        PROMPT_ID,
        SAMPLE,
        TEXT,
        Column("tokens", INT32, "tokens", "generated tokens"),
        Column("words", INT32, "words", "whitespace-delimited tokens of the text"),
        Column("distinct_bigram_ratio", FLOAT, "", "distinct bigrams over bigrams, lower-cased"),
        Column("passed", BOOLEAN, "", "whether the text passes the quality filter"),
    ),
    ("seed", "method", "client", "prompt_id", "sample"),
)

REQUESTS = Table(
    "requests",
    (
        CLIENT,
        DOCUMENT,
        Column("passage", INT32, "", "number of the passage in the document, from 0; short ones are not there"),
        SPLIT,
        TOPIC,
        TEXT,
        Column("draft", STRING, "", "what the base model made of it: the passage in neutral words, or an instruction"),
        Column("refused", STRING, "", "why it is not used (favor.studies.tasks.requests.REASONS); else empty"),
        Column("prompt_tokens", TOKENS, "tokens", "token ids of the request with the draft, as the model is asked"),
        Column("answer_tokens", TOKENS, "tokens", "token ids of the passage, and the one that ends an answer"),
    ),
    ("client", "document_id", "passage"),
)

_KIND = Column("kind", STRING, "", "client (a held-out text of one) or neutral (a passage that no client wrote)")
_NUMBER = Column("text", INT32, "", "number of the text among those of its writer, from 0")
_READ_SIZES = (
    Column("characters", INT32, "characters", "of the supervised part"),
    Column("function_tokens", INT32, "tokens", "supervised tokens without a letter or figure of a content word"),
)

READ_TEXTS = Table(
    "read_texts",
    (
        _KIND,
        Column("client", STRING, "", "client whose author wrote the text; empty for a neutral passage"),
        Column("topic", STRING, "", "metadata topic of the client; empty for a neutral passage"),
        _NUMBER,
        Column("tokens", TOKENS, "tokens", "token ids under the base model's tokenizer; private to the client"),
        Column("start", INT32, "tokens", "length of the context, after which tokens are supervised"),
        Column("function", TOKENS, "tokens", "places in ``tokens`` of the supervised tokens of no content word"),
        *_READ_SIZES,
        Column("base", FLOAT, "nats", "sum of ln p of the supervised tokens under the base model"),
        Column("function_base", FLOAT, "nats", "the same of those of no content word"),
    ),
    ("kind", "client", "text"),
)

LIKELIHOOD = Table(
    "likelihood",
    (
        SEED,
        METHOD,
        CLIENT,
        Column("client_topic", STRING, "", "metadata topic of the client, whose model reads"),
        _KIND,
        Column("writer", STRING, "", "client whose author wrote the text; empty for a neutral passage"),
        Column("topic", STRING, "", "metadata topic of the writer; empty for a neutral passage"),
        _NUMBER,
        Column("tokens", INT32, "tokens", "supervised tokens"),
        *_READ_SIZES,
        Column("log_likelihood", FLOAT, "nats", "sum of ln p of the supervised tokens under the client's model"),
        Column("base", FLOAT, "nats", "the same under the base model"),
        Column("function_log_likelihood", FLOAT, "nats", "sum of ln p of the tokens of no content word"),
        Column("function_base", FLOAT, "nats", "the same under the base model"),
    ),
    ("seed", "method", "client", "kind", "writer", "text"),
)
