"""Every Parquet table of the workflow: its columns, their types, units and meaning, and its row order.

Files are written and read only through these declarations (:mod:`favor.foundation.files`), so a column that is
missing, misspelt or of another type stops the step that meets it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

STRING = pa.string()
INT32 = pa.int32()
INT64 = pa.int64()
FLOAT = pa.float64()
BOOLEAN = pa.bool_()
VECTOR = pa.list_(pa.float32())
TOKENS = pa.list_(pa.int32())
TEXTS = pa.list_(pa.string())


@dataclass(frozen=True)
class Column:
    """One column: name, Arrow type, unit ("" where none applies) and meaning."""

    name: str
    dtype: pa.DataType
    unit: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """One Parquet table: its columns in file order and the columns its rows are sorted by."""

    name: str
    columns: tuple[Column, ...]
    sort_by: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the file."""
        return pa.schema([(column.name, column.dtype) for column in self.columns])


AUTHOR = Column("author", STRING, "", "author identifier of the corpus; internal, never published")
CLIENT = Column("client", STRING, "", "anonymous client name, client_001 onwards")
DOCUMENT = Column("document_id", STRING, "", "document identifier, unique in the corpus")
TOPIC = Column("topic", STRING, "", "metadata topic of the author (indUnk: unknown)")
SPLIT = Column(
    "split", STRING, "", "train, validation or test; reference, for a few-shot client's evaluation prototypes"
)
SEED = Column("seed", INT32, "", "training seed")
METHOD = Column("method", STRING, "", "method key of the configuration")
PROMPT_ID = Column("prompt_id", STRING, "", "prompt identifier, unique in the experiment")
ROUND = Column("round", INT32, "", "communication round, from 0")
EMBEDDING = Column("embedding", VECTOR, "", "embedding of the text")
WRITING_PROMPT = Column("prompt", STRING, "", "writing prompt the text answers; empty where the corpus has none")
TEXT = Column("text", STRING, "", "text")
BYTES = Column("bytes", INT64, "bytes", "size of this one client's part, as an adapter file of its own")
_KIND = Column("kind", STRING, "", "quality (one continuation) or voice (two, beside an author's profile)")
_ITEM = Column("item", STRING, "", "blind name of what is judged, unique within its kind")
_JUDGEMENT = Column("judgement", INT32, "", "number of the judgement of the item, from 1")
WORDS = Column("words", INT32, "words", "word units of the text (corpus word expression)")


def _author_totals() -> tuple[Column, ...]:
    return (
        Column("documents", INT32, "documents", "documents of the author after cleaning"),
        Column("words", INT64, "words", "word units of the author after cleaning"),
        Column("tokens", INT64, "tokens", "tokens of the author under the base model's tokenizer; -1 if not counted"),
    )


_SCORE_COLUMNS = (
    SEED,
    Column("method", STRING, "", "method key, or a control: gold (upper bound), shuffled (lower bound)"),
    Column("encoder", STRING, "", "encoder key of the configuration; empty where none is used"),
    Column("metric", STRING, "", "metric name"),
    Column("variant", STRING, "", "variant of the metric; empty for the default"),
    Column("value", FLOAT, "", "value; NaN where note says why"),
    Column("n", INT64, "", "texts or pairs behind the value"),
    Column("note", STRING, "", "why the value is missing; empty otherwise"),
)

_TABLES = (
    Table("documents", (AUTHOR, DOCUMENT, TOPIC, WRITING_PROMPT, TEXT, WORDS), ("author", "document_id")),
    Table(
        "dropped",
        (
            Column("reason", STRING, "", "why rows were dropped; 'kept' counts the rows that remain"),
            Column("rows", INT64, "rows", "number of raw rows"),
        ),
        ("reason",),
    ),
    Table("authors", (AUTHOR, TOPIC, *_author_totals()), ("author",)),
    Table("splits", (AUTHOR, DOCUMENT, SPLIT), ("author", "document_id")),
    Table(
        "roster",
        (
            AUTHOR,
            Column("role", STRING, "", "client, asce_a, asce_b, background, unused or too_small"),
            Column("client", STRING, "", "anonymous client name; empty for the other roles"),
            TOPIC,
            Column("cluster", INT32, "", "style cluster of the author; -1 where none was computed"),
            *_author_totals(),
        ),
        ("author",),
    ),
    Table(
        "overlap",
        (
            Column("left", STRING, "", "role"),
            Column("right", STRING, "", "another role"),
            Column("shared_authors", INT32, "authors", "authors in both roles"),
            Column("shared_documents", INT32, "documents", "identical documents in both roles"),
        ),
        ("left", "right"),
    ),
    Table(
        "allocation",
        (
            CLIENT,
            Column("available_words", INT64, "words", "word units in the client's training documents"),
            Column("target_words", INT64, "words", "word units the allocation asks for"),
            Column("allocated_words", INT64, "words", "word units the client trains on"),
        ),
        ("client",),
    ),
    Table(
        "client_texts",
        (
            CLIENT,
            DOCUMENT,
            SPLIT,
            TOPIC,
            WRITING_PROMPT,
            TEXT,
            WORDS,
            Column("allocated_words", INT32, "words", "word units of the text that are trained on"),
            Column("training_text", STRING, "", "the part of the text that is trained on; empty if none"),
        ),
        ("client", "document_id"),
    ),
    Table(
        "prompts",
        (
            CLIENT,
            PROMPT_ID,
            DOCUMENT,
            TOPIC,
            Column("prompt_text", STRING, "", "text of the prompt"),
            Column("prompt_tokens", TOKENS, "tokens", "token ids of the prompt under the base model's tokenizer"),
            Column("gold_text", STRING, "", "the author's own continuation"),
            Column("gold_tokens", INT32, "tokens", "length of the author's own continuation"),
        ),
        ("client", "prompt_id"),
    ),
    Table(
        "schedule",
        (ROUND, Column("slot", INT32, "", "position in the round's cohort, from 0"), CLIENT),
        ("round", "slot"),
    ),
    Table(
        "traffic",
        (
            ROUND,
            Column("direction", STRING, "", "client_to_server or server_to_client"),
            Column("content", STRING, "", "delta or shared adapter"),
            CLIENT,
            Column("file", STRING, "", "file it was in, relative to the results folder"),
            BYTES,
        ),
        ("round", "direction", "client", "content"),
    ),
    Table(
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
                "delta, word count, text, shared or final adapter; of what stays: residual, endpoint, adapter, ...",
            ),
            CLIENT,
            Column("file", STRING, "", "file it was in, relative to the results folder"),
            BYTES,
        ),
        ("seed", "method", "round", "direction", "client", "content"),
    ),
    Table(
        "author_sheets",
        (
            CLIENT,
            Column("sheet", STRING, "", "how the client's author writes, in a model's words; private to the client"),
            Column("persona", STRING, "", "the sheet as an address to a writer; private to the client"),
            Column("texts", INT32, "texts", "training texts the sheet was made from"),
        ),
        ("client",),
    ),
    Table(
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
    ),
    Table(
        "gates",
        (SEED, METHOD, CLIENT, PROMPT_ID, Column("gate", FLOAT, "", "weight of the global adapter (FedDPA)")),
        ("seed", "method", "client", "prompt_id"),
    ),
    Table(
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
            Column("alignment_gradient_share", FLOAT, "", "|g_align| / (|g_align| + |g_task|) on the LoRA factors"),
            Column("supervised_tokens", INT32, "tokens", "supervised tokens of the step"),
        ),
        ("stage", "round", "client", "step"),
    ),
    Table(
        "generations",
        (
            SEED,
            METHOD,
            CLIENT,
            PROMPT_ID,
            TEXT,
            Column("tokens", INT32, "tokens", "generated tokens"),
            Column("words", INT32, "words", "whitespace-delimited tokens of the text"),
            Column("distinct_bigram_ratio", FLOAT, "", "distinct bigrams over bigrams, lower-cased"),
            Column("passed", BOOLEAN, "", "whether the text passes the quality filter"),
        ),
        ("seed", "method", "client", "prompt_id"),
    ),
    Table(
        "source_embeddings",
        (
            CLIENT,
            Column("item", STRING, "", "document_id, or prompt_id where kind is gold"),
            Column("kind", STRING, "", "train, validation, test, or gold (an author's own continuation of a prompt)"),
            TOPIC,
            EMBEDDING,
        ),
        ("kind", "client", "item"),
    ),
    Table(
        "generation_embeddings",
        (SEED, METHOD, CLIENT, PROMPT_ID, EMBEDDING),
        ("seed", "method", "client", "prompt_id"),
    ),
    Table(
        "utility",
        (
            SEED,
            METHOD,
            CLIENT,
            PROMPT_ID,
            Column("bertscore_f1", FLOAT, "", "BERTScore F1 against the author's own continuation"),
            Column(
                "semantic_similarity", FLOAT, "", "cosine of sentence embeddings with the author's own continuation"
            ),
        ),
        ("seed", "method", "client", "prompt_id"),
    ),
    Table(
        "assistant",
        (
            SEED,
            Column("method", STRING, "", "method key of the configuration; gold: the author's own continuation"),
            CLIENT,
            PROMPT_ID,
            Column("assistant_score", FLOAT, "", "probability that an assistant wrote the text"),
        ),
        ("seed", "method", "client", "prompt_id"),
    ),
    Table(
        "scores",
        _SCORE_COLUMNS,
        ("seed", "method", "encoder", "metric", "variant"),
    ),
    Table(
        "comparisons",
        (
            Column("left_method", STRING, "", "method key that a positive difference favours"),
            Column("right_method", STRING, "", "method key it is compared with"),
            Column("encoder", STRING, "", "encoder key of the configuration; empty where none is used"),
            Column("metric", STRING, "", "metric name"),
            Column("clusters", STRING, "", "what the bootstrap draws: seed-author or author"),
            Column("left", FLOAT, "", "value of the left method on the matched outputs; NaN where note says why"),
            Column("right", FLOAT, "", "value of the right method on the matched outputs"),
            Column("delta", FLOAT, "", "difference, signed so that positive favours the left method"),
            Column("low", FLOAT, "", "lower end of the 95 % percentile interval of the difference"),
            Column("high", FLOAT, "", "upper end of that interval"),
            Column("p", FLOAT, "", "two-sided bootstrap tail probability"),
            Column("p_exact", FLOAT, "", "McNemar's (accuracy) or Wilcoxon's p; NaN for AUC and EER"),
            Column("test", STRING, "", "the p that the table prints: bootstrap (p) or exact (p_exact)"),
            Column("p_holm", FLOAT, "", "that p, Holm-adjusted over the file's rows with the same clusters"),
            Column("n", INT64, "outputs", "matched outputs"),
            Column("pairs", INT64, "pairs", "verification pairs of the left method; 0 for other metrics"),
            Column("draws", INT64, "draws", "bootstrap draws in which both values exist"),
            Column("cluster_count", INT64, "clusters", "clusters that a draw takes with replacement"),
            Column("note", STRING, "", "why the values are missing; empty otherwise"),
        ),
        ("left_method", "right_method", "encoder", "metric", "clusters"),
    ),
    Table(
        "adapter_energy",
        (
            Column("part", STRING, "", "personal (the whole update) or residual (what the private stage added)"),
            Column("first_layer", INT32, "", "first decoder layer of the block, from 0"),
            Column("last_layer", INT32, "", "last decoder layer of the block"),
            Column("module", STRING, "", "adapted projection"),
            Column("share", FLOAT, "", "module's share of the block's update energy, mean over adapters"),
            Column("adapters", INT32, "adapters", "adapters behind the mean"),
        ),
        ("part", "first_layer", "module"),
    ),
    Table(
        "coordinate_effects",
        (
            Column("space", STRING, "", "stylometric (hand-made features) or style (the style encoder)"),
            Column("coordinate", STRING, "", "name or number of the coordinate"),
            Column("author_effect", FLOAT, "", "omega squared of author within topic"),
            Column("topic_effect", FLOAT, "", "omega squared of topic"),
            Column("texts", INT64, "texts", "human texts behind the effects"),
        ),
        ("space", "coordinate"),
    ),
    Table(
        "participation",
        (
            SEED,
            METHOD,
            Column("last_round", INT32, "", "round of a client's last participation, from 0; -1: never sampled"),
            Column("clients", INT32, "clients", "clients whose last participation it was"),
            Column("outputs", INT64, "outputs", "their outputs that passed the filter"),
            Column("correct", INT64, "outputs", "outputs nearest to their own author's prototype"),
        ),
        ("seed", "method", "last_round"),
    ),
    Table(
        "judge_requests",
        (
            _KIND,
            _ITEM,
            _JUDGEMENT,
            Column("position", INT32, "", "place in the random order of asking, from 0 over the whole file"),
            Column("system", STRING, "", "instructions to the judge"),
            Column("user", STRING, "", "what is judged; quotes texts, names no method and no client"),
        ),
        ("position",),
    ),
    Table(
        "judge_key",
        (
            _KIND,
            _ITEM,
            _JUDGEMENT,
            SEED,
            CLIENT,
            PROMPT_ID,
            Column("first", STRING, "", "method of the text, or of the text shown first"),
            Column("second", STRING, "", "method of the text shown second; empty where one is judged alone"),
            Column("passed", BOOLEAN, "", "whether the outputs of all judged methods pass the filter on this prompt"),
        ),
        ("kind", "item", "judgement"),
    ),
    Table(
        "judge_responses",
        (
            Column("digest", STRING, "", "SHA-256 of the request, its number of the judgement and of the repeat"),
            Column("content", STRING, "", "what the judge answered"),
            Column("finish", STRING, "", "why the answer ended, as the endpoint reports it"),
            Column(
                "input_tokens", INT64, "tokens", "tokens of the request, as counted by the endpoint; 0 if it does not"
            ),
            Column("output_tokens", INT64, "tokens", "tokens of the answer, likewise"),
        ),
        ("digest",),
    ),
    Table(
        "judgements",
        (
            _KIND,
            _ITEM,
            _JUDGEMENT,
            *(
                Column(name, INT32, "", f"{name.replace('_', ' ')}, 1 to 5; 0 where not judged")
                for name in ("coherence", "fluency", "specificity", "non_repetition", "overall")
            ),
            Column("choice", STRING, "", "text that fits the profile better: A, B or tie; empty for quality"),
            Column("judge", STRING, "", "name of the judging model"),
            Column("reason", STRING, "", "why the judgement is missing; empty otherwise"),
            Column("answers", INT32, "answers", "answers it took, malformed ones included"),
        ),
        ("kind", "item", "judgement"),
    ),
    Table(
        "human_2afc_items",
        (
            Column("item", STRING, "", "opaque code of the item"),
            Column("source", STRING, "", "method key of the candidate; gold: the author's own continuation"),
            SEED,
            CLIENT,
            PROMPT_ID,
            Column("distractor", STRING, "", "client whose texts make the wrong profile"),
            Column("right", STRING, "", "side of the candidate's own author, A or B"),
            Column("profile_a", TEXTS, "", "excerpts on side A; not for publication"),
            Column("profile_b", TEXTS, "", "excerpts on side B; not for publication"),
            Column("candidate", STRING, "", "continuation to attribute; not for publication"),
        ),
        ("item",),
    ),
    Table(
        "human_2afc_votes",
        (
            Column("annotator", STRING, "", "annotator_1 onwards"),
            Column("item", STRING, "", "code of the item"),
            Column("source", STRING, "", "method key of the candidate; gold: the author's own continuation"),
            Column("choice", STRING, "", "chosen profile, A or B"),
            Column("correct", BOOLEAN, "", "whether that is the candidate's own author"),
            Column("confidence", INT32, "", "from 1 (a guess) to 5 (certain)"),
            Column("comment", STRING, "", "annotator's own words, may be empty; not for publication"),
        ),
        ("annotator", "item"),
    ),
    Table(
        "sweep_scores",
        (
            Column("point", STRING, "", "point of the sweep"),
            Column("experiment", STRING, "", "experiment behind the point"),
            *_SCORE_COLUMNS,
        ),
        ("point", "seed", "method", "encoder", "metric", "variant"),
    ),
    Table(
        "table_cells",
        (
            Column("panel", STRING, "", "panel of the table"),
            Column("section", STRING, "", "section of the table, such as the corpus"),
            Column("row", STRING, "", "row label"),
            Column("column", STRING, "", "column label"),
            Column("order", INT32, "", "reading order of the cell"),
            Column("value", FLOAT, "", "mean over seeds"),
            Column("deviation", FLOAT, "", "sample standard deviation over seeds; NaN with one seed"),
            Column("n", INT64, "", "seeds behind the value"),
            Column("mark", STRING, "", "best, second or empty"),
            Column("text", STRING, "", "the cell as printed, without markup"),
            Column("reason", STRING, "", "why the cell is a dash; empty otherwise"),
            Column("paper_value", FLOAT, "", "value the paper prints; NaN where it prints none"),
            Column("paper_deviation", FLOAT, "", "deviation the paper prints; NaN where it prints none"),
            Column("paper_text", STRING, "", "what the paper prints where that is no number; empty otherwise"),
        ),
        ("order",),
    ),
)

TABLES: dict[str, Table] = {table.name: table for table in _TABLES}
