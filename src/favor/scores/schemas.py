"""Tables of scores, and of what is measured once per text."""

from favor.foundation.schemas import CLIENT, OUTPUT, OUTPUT_KEY, PROMPT_ID, SAMPLE, SEED, Column, Table

_SCORE_COLUMNS = (
    SEED,
    Column("method", "string", "method key, or a control: gold (own continuations), shuffled (other authors)"),
    Column("encoder", "string", "encoder key of the configuration; empty where none is used"),
    Column("metric", "string", "metric name"),
    Column("variant", "string", "variant of the metric; empty for the default"),
    Column("value", "float64", "value; NaN where note says why"),
    Column("n", "int64", "texts or pairs behind the value"),
    Column("note", "string", "why the value is missing; empty otherwise"),
)

_BERTSCORE_F1 = Column("bertscore_f1", "float64", "BERTScore F1 against the author's own continuation")

BERTSCORE = Table("bertscore", OUTPUT_KEY, *OUTPUT, _BERTSCORE_F1)

UTILITY = Table(
    "utility",
    OUTPUT_KEY,
    *OUTPUT,
    _BERTSCORE_F1,
    Column("semantic_similarity", "float64", "cosine of sentence embeddings with the author's own continuation"),
)

ASSISTANT = Table(
    "assistant",
    OUTPUT_KEY,
    SEED,
    Column("method", "string", "method key of the configuration; gold: the author's own continuation"),
    CLIENT,
    PROMPT_ID,
    SAMPLE,
    Column("assistant_score", "float64", "probability that an assistant wrote the text"),
)

SCORES = Table("scores", ("seed", "method", "encoder", "metric", "variant"), *_SCORE_COLUMNS)

SWEEP_SCORES = Table(
    "sweep_scores",
    ("point", "seed", "method", "encoder", "metric", "variant"),
    Column("point", "string", "point of the sweep"),
    Column("experiment", "string", "experiment behind the point"),
    *_SCORE_COLUMNS,
)
