"""Tables of the human audit."""

from favor.foundation.schemas import CLIENT, PROMPT_ID, SEED, Column, Table

HUMAN_2AFC_ITEMS = Table(
    "human_2afc_items",
    ("item",),
    Column("item", "string", "opaque code of the item"),
    Column("source", "string", "method key of the candidate; gold: the author's own continuation"),
    SEED,
    CLIENT,
    PROMPT_ID,
    Column("distractor", "string", "client whose texts make the wrong profile"),
    Column("right", "string", "side of the candidate's own author, A or B"),
    Column("profile_a", "strings", "excerpts on side A; not for publication"),
    Column("profile_b", "strings", "excerpts on side B; not for publication"),
    Column("candidate", "string", "continuation to attribute; not for publication"),
)

HUMAN_2AFC_VOTES = Table(
    "human_2afc_votes",
    ("annotator", "item"),
    Column("annotator", "string", "annotator_1 onwards"),
    Column("item", "string", "code of the item"),
    Column("source", "string", "method key of the candidate; gold: the author's own continuation"),
    CLIENT,
    Column("choice", "string", "chosen profile, A or B"),
    Column("correct", "bool", "whether that is the candidate's own author"),
    Column("confidence", "int32", "from 1 (a guess) to 5 (certain)"),
    Column("comment", "string", "annotator's own words, may be empty; not for publication"),
    Column("seconds", "float64", "how long the item was in sight; NaN where pages record no times", "s"),
)
