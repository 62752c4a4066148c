"""Tables of corpora and clients: from documents to prompts."""

from favor.foundation.tables import (
    AUTHOR,
    CLIENT,
    DATE,
    DOCUMENT,
    FLOAT,
    INT32,
    INT64,
    PROMPT_ID,
    SPLIT,
    STRING,
    TEXT,
    TOKENS,
    TOPIC,
    WORDS,
    WRITING_PROMPT,
    Column,
    Table,
)

_AUTHOR_TOTALS = (
    Column("documents", INT32, "documents", "documents of the author after cleaning"),
    Column("words", INT64, "words", "word units of the author after cleaning"),
    Column(
        "tokens",
        INT64,
        "tokens",
        "tokens of the author under the base model's tokenizer; -1 where they are too few to count",
    ),
)


DOCUMENTS = Table("documents", (AUTHOR, DOCUMENT, TOPIC, WRITING_PROMPT, TEXT, WORDS, DATE), ("author", "document_id"))

DROPPED = Table(
    "dropped",
    (
        Column("reason", STRING, "", "why rows were dropped; 'kept' counts the rows that remain"),
        Column("rows", INT64, "rows", "number of raw rows"),
    ),
    ("reason",),
)

AUTHORS = Table("authors", (AUTHOR, TOPIC, *_AUTHOR_TOTALS), ("author",))

SCRIPTS = Table(
    "scripts",
    (
        Column("script", STRING, "", "Unicode script; none for posts without a letter"),
        Column("letters", INT64, "letters", "letters of the script in all posts that are not empty"),
        Column("posts", INT64, "posts", "posts most of whose letters are of the script"),
        Column("too_short", INT64, "posts", "those among them that are dropped because they have too few words"),
    ),
    ("script",),
)

SPLITS = Table("splits", (AUTHOR, DOCUMENT, SPLIT), ("author", "document_id"))

NEAR_DUPLICATES = Table(
    "near_duplicates",
    (
        AUTHOR,
        DOCUMENT,
        Column("split", STRING, "", "train, validation or test; empty for an author with too few documents"),
        Column("own_training", INT32, "documents", "near duplicates among the author's training documents"),
        Column("own_held_out", INT32, "documents", "near duplicates among the author's other documents"),
        Column("others", INT32, "documents", "near duplicates among other authors' documents"),
        Column("similarity", FLOAT, "", "largest Jaccard similarity of the word sequences with one of them"),
    ),
    ("author", "document_id"),
)

AUTHOR_MEASURES = Table(
    "author_measures",
    (
        AUTHOR,
        Column("language", STRING, "", "most frequent language of the author's posts, by ISO 639 code"),
        Column("language_share", FLOAT, "", "share of the identified posts in that language"),
        Column("characters_per_token", FLOAT, "characters per token", "under the base model's tokenizer"),
        Column("quoted_mail", FLOAT, "", "share of posts that quote or forward mail"),
        Column("near_duplicates", FLOAT, "", "share of posts with a near duplicate in the corpus"),
        Column("style_change", FLOAT, "", "silhouette of two clusters of the author's text by style; NaN: too little"),
    ),
    ("author",),
)

ROSTER = Table(
    "roster",
    (
        AUTHOR,
        Column("role", STRING, "", "client, asce_a, asce_b, background, unused, filtered or too_small"),
        Column("client", STRING, "", "anonymous client name; empty for the other roles"),
        TOPIC,
        Column("cluster", INT32, "", "style cluster of the author; -1 where none was computed"),
        *_AUTHOR_TOTALS,
    ),
    ("author",),
)

_NEEDED = "that the experiment asks of each of its clients"
SUITABILITY = Table(
    "suitability",
    (
        AUTHOR,
        Column("experiment", STRING, "", "experiment on this corpus"),
        Column("prompts", INT32, "prompts", "test posts of the author that give one, counted up to what is wanted"),
        Column("wanted_prompts", INT32, "prompts", "prompts that the experiment takes of each of its clients"),
        Column("preferred_prompts", INT32, "prompts", "prompts for which an author is preferred to others as a client"),
        Column("minimum_prompts", INT32, "prompts", f"fewest prompts {_NEEDED}"),
        Column("training_texts", INT32, "documents", "training documents of the author"),
        Column("minimum_texts", INT32, "documents", f"fewest training documents {_NEEDED}"),
        Column("first_client", INT32, "", "place in the roster of the experiment's first client, from 1"),
        Column("last_client", INT32, "", "place in the roster of the experiment's last client"),
    ),
    ("author", "experiment"),
)

OVERLAP = Table(
    "overlap",
    (
        Column("left", STRING, "", "role"),
        Column("right", STRING, "", "another role"),
        Column("shared_authors", INT32, "authors", "authors in both roles"),
        Column("shared_documents", INT32, "documents", "identical documents in both roles"),
        Column("near_copies", INT32, "pairs", "pairs of near duplicates across both; -1 where none are looked for"),
    ),
    ("left", "right"),
)

ALLOCATION = Table(
    "allocation",
    (
        CLIENT,
        Column("available_words", INT64, "words", "word units in the client's training documents"),
        Column("target_words", INT64, "words", "word units the allocation asks for"),
        Column("allocated_words", INT64, "words", "word units the client trains on"),
    ),
    ("client",),
)

CLIENT_TEXTS = Table(
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
)

PROMPTS = Table(
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
)

COMMON_PROMPTS = Table(
    "common_prompts",
    (
        PROMPT_ID,
        Column("document_id", STRING, "", "post that the prompt is cut from; empty for a prompt of the user's"),
        TOPIC,
        Column("prompt_text", STRING, "", "text of the prompt"),
        Column("prompt_tokens", TOKENS, "tokens", "token ids of the prompt under the base model's tokenizer"),
    ),
    ("prompt_id",),
)
