"""Tables of the human audit."""

from favor.foundation.tables import BOOLEAN, CLIENT, FLOAT, INT32, PROMPT_ID, SEED, STRING, TEXTS, Column, Table

HUMAN_2AFC_ITEMS = Table(
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
)

HUMAN_2AFC_VOTES = Table(
    "human_2afc_votes",
    (
        Column("annotator", STRING, "", "annotator_1 onwards"),
        Column("item", STRING, "", "code of the item"),
        Column("source", STRING, "", "method key of the candidate; gold: the author's own continuation"),
        CLIENT,
        Column("choice", STRING, "", "chosen profile, A or B"),
        Column("correct", BOOLEAN, "", "whether that is the candidate's own author"),
        Column("confidence", INT32, "", "from 1 (a guess) to 5 (certain)"),
        Column("comment", STRING, "", "annotator's own words, may be empty; not for publication"),
        Column("seconds", FLOAT, "s", "how long the item was in sight; NaN where pages record no times"),
    ),
    ("annotator", "item"),
)
