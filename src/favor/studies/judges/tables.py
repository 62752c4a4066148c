"""Tables of the judges."""

from favor.foundation.tables import BOOLEAN, CLIENT, INT32, INT64, PROMPT_ID, SEED, STRING, Column, Table

_KIND = Column("kind", STRING, "", "quality (one continuation) or voice (two, beside an author's profile)")
_ITEM = Column("item", STRING, "", "blind name of what is judged, unique within its kind")
_JUDGEMENT = Column("judgement", INT32, "", "number of the judgement of the item, from 1")


JUDGE_REQUESTS = Table(
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
)

JUDGE_KEY = Table(
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
)

JUDGE_RESPONSES = Table(
    "judge_responses",
    (
        Column("digest", STRING, "", "SHA-256 of the request, its number of the judgement and of the repeat"),
        Column("content", STRING, "", "what the judge answered"),
        Column("finish", STRING, "", "why the answer ended, as the endpoint reports it"),
        Column("input_tokens", INT64, "tokens", "tokens of the request, as counted by the endpoint; 0 if it does not"),
        Column("output_tokens", INT64, "tokens", "tokens of the answer, likewise"),
    ),
    ("digest",),
)

JUDGEMENTS = Table(
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
)
