"""Tables of the privacy audit. None holds a text."""

from favor.foundation.tables import CLIENT, FLOAT, INT32, INT64, METHOD, ROUND, SEED, STRING, Column, Table

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
