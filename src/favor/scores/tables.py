"""Tables of scores, and of what is measured once per text."""

from favor.foundation.tables import CLIENT, FLOAT, INT64, METHOD, PROMPT_ID, SAMPLE, SEED, STRING, Column, Table

_SCORE_COLUMNS = (
    SEED,
    Column("method", STRING, "", "method key, or a control: gold (own continuations), shuffled (other authors)"),
    Column("encoder", STRING, "", "encoder key of the configuration; empty where none is used"),
    Column("metric", STRING, "", "metric name"),
    Column("variant", STRING, "", "variant of the metric; empty for the default"),
    Column("value", FLOAT, "", "value; NaN where note says why"),
    Column("n", INT64, "", "texts or pairs behind the value"),
    Column("note", STRING, "", "why the value is missing; empty otherwise"),
)


_BERTSCORE_F1 = Column("bertscore_f1", FLOAT, "", "BERTScore F1 against the author's own continuation")

BERTSCORE = Table(
    "bertscore",
    (SEED, METHOD, CLIENT, PROMPT_ID, SAMPLE, _BERTSCORE_F1),
    ("seed", "method", "client", "prompt_id", "sample"),
)

UTILITY = Table(
    "utility",
    (
        SEED,
        METHOD,
        CLIENT,
        PROMPT_ID,
        SAMPLE,
        _BERTSCORE_F1,
        Column("semantic_similarity", FLOAT, "", "cosine of sentence embeddings with the author's own continuation"),
    ),
    ("seed", "method", "client", "prompt_id", "sample"),
)

ASSISTANT = Table(
    "assistant",
    (
        SEED,
        Column("method", STRING, "", "method key of the configuration; gold: the author's own continuation"),
        CLIENT,
        PROMPT_ID,
        SAMPLE,
        Column("assistant_score", FLOAT, "", "probability that an assistant wrote the text"),
    ),
    ("seed", "method", "client", "prompt_id", "sample"),
)

SCORES = Table(
    "scores",
    _SCORE_COLUMNS,
    ("seed", "method", "encoder", "metric", "variant"),
)

SWEEP_SCORES = Table(
    "sweep_scores",
    (
        Column("point", STRING, "", "point of the sweep"),
        Column("experiment", STRING, "", "experiment behind the point"),
        *_SCORE_COLUMNS,
    ),
    ("point", "seed", "method", "encoder", "metric", "variant"),
)
