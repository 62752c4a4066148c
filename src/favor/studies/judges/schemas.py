"""Tables of the judges."""

from favor.foundation.schemas import CLIENT, PROMPT_ID, SEED, Column, Table

_JUDGED = (
    Column("kind", "string", "quality (one continuation) or voice (two, beside an author's profile)"),
    Column("item", "string", "blind name of what is judged, unique within its kind"),
    Column("judgement", "int32", "number of the judgement of the item, from 1"),
)

JUDGE_REQUESTS = Table(
    "judge_requests",
    ("position",),
    *_JUDGED,
    Column("position", "int32", "place in the random order of asking, from 0 over the whole file"),
    Column("system", "string", "instructions to the judge"),
    Column("user", "string", "what is judged; quotes texts, names no method and no client"),
)

JUDGE_KEY = Table(
    "judge_key",
    ("kind", "item", "judgement"),
    *_JUDGED,
    SEED,
    CLIENT,
    PROMPT_ID,
    Column("first", "string", "method of the text, or of the text shown first"),
    Column("second", "string", "method of the text shown second; empty where one is judged alone"),
    Column("passed", "bool", "whether the outputs of all judged methods pass the filter on this prompt"),
)

JUDGE_RESPONSES = Table(
    "judge_responses",
    ("digest",),
    Column("digest", "string", "SHA-256 of the request, its number of the judgement and of the repeat"),
    Column("content", "string", "what the judge answered"),
    Column("finish", "string", "why the answer ended, as the endpoint reports it"),
    Column("input_tokens", "int64", "tokens of the request, as counted by the endpoint; 0 if it does not", "tokens"),
    Column("output_tokens", "int64", "tokens of the answer, likewise", "tokens"),
)

JUDGEMENTS = Table(
    "judgements",
    ("kind", "item", "judgement"),
    *_JUDGED,
    *(
        Column(name, "int32", f"{name.replace('_', ' ')}, 1 to 5; 0 where not judged")
        for name in ("coherence", "fluency", "specificity", "non_repetition", "overall")
    ),
    Column("choice", "string", "text that fits the profile better: A, B or tie; empty for quality"),
    Column("judge", "string", "name of the judging model"),
    Column("reason", "string", "why the judgement is missing; empty otherwise"),
    Column("answers", "int32", "answers it took, malformed ones included", "answers"),
)
