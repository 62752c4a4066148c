"""Tables of training and generation: schedules, traffic, training logs, continuations."""

from favor.foundation.schemas import (
    CLIENT,
    DOCUMENT,
    METHOD,
    OUTPUT,
    OUTPUT_KEY,
    PROMPT_ID,
    ROUND,
    SEED,
    SPLIT,
    TEXT,
    TOPIC,
    Column,
    Table,
)

_FILE = (
    Column("file", "string", "file it was in, relative to the results folder"),
    Column("bytes", "int64", "size of this one client's part, as an adapter file of its own", "bytes"),
)

SCHEDULE = Table(
    "schedule", ("round", "slot"), ROUND, Column("slot", "int32", "position in the round's cohort, from 0"), CLIENT
)

TRAFFIC = Table(
    "traffic",
    ("round", "direction", "client", "content"),
    ROUND,
    Column("direction", "string", "client_to_server or server_to_client"),
    Column("content", "string", "delta, delta and change of state, personal adapter or shared adapter"),
    CLIENT,
    *_FILE,
)

BOUNDARY = Table(
    "boundary",
    ("seed", "method", "round", "direction", "client", "content"),
    SEED,
    METHOD,
    ROUND,
    Column("direction", "string", "client_to_server, server_to_client or stays_on_client"),
    Column(
        "content",
        "string",
        "delta, delta and change of state, personal adapter, word count, text, shared or final adapter; of what "
        "stays: residual, endpoint, adapter, gate, state, ...",
    ),
    CLIENT,
    *_FILE,
)

AUTHOR_SHEETS = Table(
    "author_sheets",
    ("client",),
    CLIENT,
    Column("sheet", "string", "how the client's author writes, in a model's words; private to the client"),
    Column("persona", "string", "the sheet as an address to a writer; private to the client"),
    Column("texts", "int32", "training texts the sheet was made from", "texts"),
)

PROMPTED_REQUESTS = Table(
    "prompted_requests",
    ("seed", "method", "client", "prompt_id"),
    SEED,
    METHOD,
    CLIENT,
    PROMPT_ID,
    Column("request", "string", "what the base model was given, without its template; private to the client"),
    Column("tokens", "int32", "length of the request", "tokens"),
    Column("documents", "strings", "training documents that it quotes, nearest first"),
)

GATES = Table(
    "gates",
    ("seed", "method", "client", "prompt_id"),
    SEED,
    METHOD,
    CLIENT,
    PROMPT_ID,
    Column("gate", "float64", "weight of the global adapter (FedDPA, APFL); 0.5 for a sum"),
)

TRAINING_LOG = Table(
    "training_log",
    ("stage", "round", "client", "step"),
    Column("stage", "string", "shared or personal"),
    ROUND,
    CLIENT,
    Column("step", "int32", "optimiser step of the stage, from 0", "steps"),
    Column("learning_rate", "float64", "rate applied at the step"),
    Column("task_loss", "float64", "mean negative log-likelihood of the supervised tokens", "nats per token"),
    Column("proximal", "float64", "proximal term added to the loss"),
    Column("alignment_loss", "float64", "1 - cosine to the style target; NaN without alignment"),
    Column("cosine", "float64", "cosine to the style target; NaN without alignment"),
    Column("kappa", "float64", "warm-up coefficient of the alignment loss"),
    Column("gradient_norm", "float64", "norm of the client's gradient before clipping"),
    Column(
        "alignment_gradient_share",
        "float64",
        "|g_align| / (|g_align| + |g_task|), gradients of the two losses by the final hidden states",
    ),
    Column("supervised_tokens", "int32", "supervised tokens of the step", "tokens"),
    Column(
        "validation_loss_before",
        "float64",
        "mean negative log-likelihood of the client's validation texts before the stage; NaN but at step 0",
        "nats per token",
    ),
    Column("validation_loss", "float64", "the same after a pass; NaN at the steps within one", "nats per token"),
)

VALIDATION_LOSSES = Table(
    "validation_losses",
    ("client",),
    CLIENT,
    Column("loss", "float64", "mean negative log-likelihood of the client's validation texts", "nats per token"),
)

GENERATIONS = Table(
    "generations",
    OUTPUT_KEY,
    *OUTPUT,
    TEXT,
    Column("tokens", "int32", "generated tokens", "tokens"),
    Column("words", "int32", "whitespace-delimited tokens of the text", "words"),
    Column("distinct_bigram_ratio", "float64", "distinct bigrams over bigrams, lower-cased"),
    Column("passed", "bool", "whether the text passes the quality filter"),
)

REQUESTS = Table(
    "requests",
    ("client", "document_id", "passage"),
    CLIENT,
    DOCUMENT,
    Column("passage", "int32", "number of the passage in the document, from 0; short ones are not there"),
    SPLIT,
    TOPIC,
    TEXT,
    Column("draft", "string", "what the base model made of it: the passage in neutral words, or an instruction"),
    Column("refused", "string", "why it is not used (favor.studies.tasks.requests.REASONS); else empty"),
    Column("prompt_tokens", "int32s", "token ids of the request with the draft, as the model is asked", "tokens"),
    Column("answer_tokens", "int32s", "token ids of the passage, and the one that ends an answer", "tokens"),
)

_KIND = Column("kind", "string", "client (a held-out text of one) or neutral (a passage that no client wrote)")
_NUMBER = Column("text", "int32", "number of the text among those of its writer, from 0")
_READ_SIZES = (
    Column("characters", "int32", "of the supervised part", "characters"),
    Column("function_tokens", "int32", "supervised tokens without a letter or figure of a content word", "tokens"),
)

READ_TEXTS = Table(
    "read_texts",
    ("kind", "client", "text"),
    _KIND,
    Column("client", "string", "client whose author wrote the text; empty for a neutral passage"),
    Column("topic", "string", "metadata topic of the client; empty for a neutral passage"),
    _NUMBER,
    Column("tokens", "int32s", "token ids under the base model's tokenizer; private to the client", "tokens"),
    Column("start", "int32", "length of the context, after which tokens are supervised", "tokens"),
    Column("function", "int32s", "places in ``tokens`` of the supervised tokens of no content word", "tokens"),
    *_READ_SIZES,
    Column("base", "float64", "sum of ln p of the supervised tokens under the base model", "nats"),
    Column("function_base", "float64", "the same of those of no content word", "nats"),
)

LIKELIHOOD = Table(
    "likelihood",
    ("seed", "method", "client", "kind", "writer", "text"),
    SEED,
    METHOD,
    CLIENT,
    Column("client_topic", "string", "metadata topic of the client, whose model reads"),
    _KIND,
    Column("writer", "string", "client whose author wrote the text; empty for a neutral passage"),
    Column("topic", "string", "metadata topic of the writer; empty for a neutral passage"),
    _NUMBER,
    Column("tokens", "int32", "supervised tokens", "tokens"),
    *_READ_SIZES,
    Column("log_likelihood", "float64", "sum of ln p of the supervised tokens under the client's model", "nats"),
    Column("base", "float64", "the same under the base model", "nats"),
    Column("function_log_likelihood", "float64", "sum of ln p of the tokens of no content word", "nats"),
    Column("function_base", "float64", "the same under the base model", "nats"),
)
