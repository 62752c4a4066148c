"""Tables of the studies: judges, people, and the privacy audit, whose tables hold no text."""

from __future__ import annotations

from favor.foundation.columns import CLIENT, METHOD, PROMPT_ID, ROUND, SEED
from favor.foundation.tables import BOOLEAN, FLOAT, INT32, INT64, STRING, TEXTS, Column, Table

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
        Column("choice", STRING, "", "chosen profile, A or B"),
        Column("correct", BOOLEAN, "", "whether that is the candidate's own author"),
        Column("confidence", INT32, "", "from 1 (a guess) to 5 (certain)"),
        Column("comment", STRING, "", "annotator's own words, may be empty; not for publication"),
        Column("seconds", FLOAT, "s", "how long the item was in sight; NaN where pages record no times"),
    ),
    ("annotator", "item"),
)

_ADAPTER = Column(
    "adapter",
    STRING,
    "",
    "server, upload (the server's adapter plus one client's delta), personal, or remade (without those who left)",
)
_HOLDER = Column("holder", STRING, "", "client whose upload or personal adapter it is; empty for the server's")

PRIVACY_LOSSES = Table(
    "privacy_losses",
    (
        SEED,
        METHOD,
        _ADAPTER,
        ROUND,
        _HOLDER,
        CLIENT,
        Column("kind", STRING, "", "trained (a text of the client's training) or fresh (held out)"),
        Column("text", INT32, "", "number of the text among those of its client and kind, from 0"),
        Column("tokens", INT32, "tokens", "tokens that the loss is of"),
        Column("loss", FLOAT, "nats per token", "mean negative log-likelihood of the text under the adapter"),
        Column("least", FLOAT, "", "Min-K%++ of the text under the adapter"),
    ),
    ("seed", "method", "adapter", "round", "holder", "client", "kind", "text"),
)

PRIVACY_LINKS = Table(
    "privacy_links",
    (
        SEED,
        METHOD,
        ROUND,
        Column("client", STRING, "", "client whose earlier upload is looked for"),
        Column("earlier", INT32, "", "earlier round"),
        Column("candidate", STRING, "", "client of the earlier round"),
        Column("cosine", FLOAT, "", "cosine of both deltas, each without the mean of its round"),
    ),
    ("seed", "method", "round", "client", "earlier", "candidate"),
)

PRIVACY_NORMS = Table(
    "privacy_norms",
    (
        SEED,
        METHOD,
        ROUND,
        Column("client", STRING, "", "client whose upload it is"),
        Column("norm", FLOAT, "", "L2 norm of the upload, over all its tensors together"),
    ),
    ("seed", "method", "round", "client"),
)

PRIVACY_CANARIES = Table(
    "privacy_canaries",
    (
        SEED,
        METHOD,
        _ADAPTER,
        ROUND,
        _HOLDER,
        Column("client", STRING, "", "client in whose texts the secret was planted"),
        Column("repeats", INT32, "documents", "documents that carry it"),
        Column("rank", INT32, "", "place of the secret among the candidates, the likeliest first, from 1"),
        Column("candidates", INT32, "", "secrets that nobody has"),
    ),
    ("seed", "method", "adapter", "round", "holder", "client"),
)

PRIVACY_CANARY_CLIENTS = Table(
    "privacy_canary_clients",
    (
        SEED,
        METHOD,
        Column("canary", INT32, "", "number of the canary client"),
        Column("participations", INT32, "rounds", "rounds that it takes part in"),
        Column("dimensions", INT64, "numbers", "length of an upload"),
        Column("present", FLOAT, "", "cosine of its direction with the server's movement, with its upload in it"),
        Column("absent", FLOAT, "", "the same without its upload"),
    ),
    ("seed", "method", "canary"),
)
