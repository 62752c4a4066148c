"""Tables of corpora and clients: from documents to prompts."""

from favor.foundation.schemas import AUTHOR, CLIENT, DOCUMENT, PROMPT_ID, SPLIT, TEXT, TOPIC, WORDS, Column, Table

_AUTHOR_TOTALS = (
    Column("documents", "int32", "documents of the author after cleaning", "documents"),
    Column("words", "int64", "word units of the author after cleaning", "words"),
    Column("tokens", "int64", "tokens of the author under the base model's tokenizer; -1: too few to count", "tokens"),
)
_DATE = Column("date", "string", "day of the post, as 2004-05-12; empty where none can be read")
_WRITING_PROMPT = Column("prompt", "string", "writing prompt the text answers; empty where the corpus has none")

DOCUMENTS = Table("documents", ("author", "document_id"), AUTHOR, DOCUMENT, TOPIC, _WRITING_PROMPT, TEXT, WORDS, _DATE)

DROPPED = Table(
    "dropped",
    ("reason",),
    Column("reason", "string", "why rows were dropped; 'kept' counts the rows that remain"),
    Column("rows", "int64", "number of raw rows", "rows"),
)

AUTHORS = Table("authors", ("author",), AUTHOR, TOPIC, *_AUTHOR_TOTALS)

SCRIPTS = Table(
    "scripts",
    ("script",),
    Column("script", "string", "Unicode script; none for posts without a letter"),
    Column("letters", "int64", "letters of the script in all posts that are not empty", "letters"),
    Column("posts", "int64", "posts most of whose letters are of the script", "posts"),
    Column("too_short", "int64", "those among them that are dropped because they have too few words", "posts"),
)

SPLITS = Table("splits", ("author", "document_id"), AUTHOR, DOCUMENT, SPLIT)

NEAR_DUPLICATES = Table(
    "near_duplicates",
    ("author", "document_id"),
    AUTHOR,
    DOCUMENT,
    Column("split", "string", "train, validation or test; empty for an author with too few documents"),
    Column("own_training", "int32", "near duplicates among the author's training documents", "documents"),
    Column("own_held_out", "int32", "near duplicates among the author's other documents", "documents"),
    Column("others", "int32", "near duplicates among other authors' documents", "documents"),
    Column("similarity", "float64", "largest Jaccard similarity of the word sequences with one of them"),
)

AUTHOR_MEASURES = Table(
    "author_measures",
    ("author",),
    AUTHOR,
    Column("language", "string", "most frequent language of the author's posts, by ISO 639 code"),
    Column("language_share", "float64", "share of the identified posts in that language"),
    Column("characters_per_token", "float64", "under the base model's tokenizer", "characters per token"),
    Column("quoted_mail", "float64", "share of posts that quote or forward mail"),
    Column("near_duplicates", "float64", "share of posts with a near duplicate in the corpus"),
    Column("style_change", "float64", "silhouette of two clusters of the author's text by style; NaN: too little"),
)

ROSTER = Table(
    "roster",
    ("author",),
    AUTHOR,
    Column("role", "string", "client, asce_a, asce_b, background, unused, filtered or too_small"),
    Column("client", "string", "anonymous client name; empty for the other roles"),
    TOPIC,
    Column("cluster", "int32", "style cluster of the author; -1 where none was computed"),
    *_AUTHOR_TOTALS,
)

_NEEDED = "that the experiment asks of each of its clients"
SUITABILITY = Table(
    "suitability",
    ("author", "experiment"),
    AUTHOR,
    Column("experiment", "string", "experiment on this corpus"),
    Column("prompts", "int32", "test posts of the author that give one, counted up to what is wanted", "prompts"),
    Column("wanted_prompts", "int32", "prompts that the experiment takes of each of its clients", "prompts"),
    Column("preferred_prompts", "int32", "prompts for which an author is preferred to others as a client", "prompts"),
    Column("minimum_prompts", "int32", f"fewest prompts {_NEEDED}", "prompts"),
    Column("training_texts", "int32", "training documents of the author", "documents"),
    Column("minimum_texts", "int32", f"fewest training documents {_NEEDED}", "documents"),
    Column("first_client", "int32", "place in the roster of the experiment's first client, from 1"),
    Column("last_client", "int32", "place in the roster of the experiment's last client"),
)

OVERLAP = Table(
    "overlap",
    ("left", "right"),
    Column("left", "string", "role"),
    Column("right", "string", "another role"),
    Column("shared_authors", "int32", "authors in both roles", "authors"),
    Column("shared_documents", "int32", "identical documents in both roles", "documents"),
    Column("near_copies", "int32", "pairs of near duplicates across both; -1 where none are looked for", "pairs"),
)

ALLOCATION = Table(
    "allocation",
    ("client",),
    CLIENT,
    Column("available_words", "int64", "word units in the client's training documents", "words"),
    Column("target_words", "int64", "word units the allocation asks for", "words"),
    Column("allocated_words", "int64", "word units the client trains on", "words"),
)

CLIENT_TEXTS = Table(
    "client_texts",
    ("client", "document_id"),
    CLIENT,
    DOCUMENT,
    SPLIT,
    TOPIC,
    _WRITING_PROMPT,
    TEXT,
    WORDS,
    Column("allocated_words", "int32", "word units of the text that are trained on", "words"),
    Column("training_text", "string", "the part of the text that is trained on; empty if none"),
)

_CUT = (
    Column("prompt_text", "string", "text of the prompt"),
    Column("prompt_tokens", "int32s", "token ids of the prompt under the base model's tokenizer", "tokens"),
)
PROMPTS = Table(
    "prompts",
    ("client", "prompt_id"),
    CLIENT,
    PROMPT_ID,
    DOCUMENT,
    TOPIC,
    *_CUT,
    Column("gold_text", "string", "the author's own continuation"),
    Column("gold_tokens", "int32", "length of the author's own continuation", "tokens"),
)

COMMON_PROMPTS = Table(
    "common_prompts",
    ("prompt_id",),
    PROMPT_ID,
    Column("document_id", "string", "post that the prompt is cut from; empty for a prompt of the user's"),
    TOPIC,
    *_CUT,
)
