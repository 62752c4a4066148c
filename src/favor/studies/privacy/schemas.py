"""Tables of the privacy audit. None holds a text."""

from favor.foundation.schemas import CLIENT, METHOD, ROUND, SEED, Column, Table

_ADAPTER = Column(
    "adapter",
    "string",
    "server, upload (the server's adapter plus one client's delta), personal, or remade (without those who left)",
)
_HOLDER = Column("holder", "string", "client whose upload or personal adapter it is; empty for the server's")

PRIVACY_LOSSES = Table(
    "privacy_losses",
    ("seed", "method", "adapter", "round", "holder", "client", "kind", "text"),
    SEED,
    METHOD,
    _ADAPTER,
    ROUND,
    _HOLDER,
    CLIENT,
    Column("kind", "string", "trained (a text of the client's training) or fresh (held out)"),
    Column("text", "int32", "number of the text among those of its client and kind, from 0"),
    Column("tokens", "int32", "tokens that the loss is of", "tokens"),
    Column("loss", "float64", "mean negative log-likelihood of the text under the adapter", "nats per token"),
    Column("least", "float64", "Min-K%++ of the text under the adapter"),
)

PRIVACY_LINKS = Table(
    "privacy_links",
    ("seed", "method", "round", "client", "earlier", "candidate"),
    SEED,
    METHOD,
    ROUND,
    Column("client", "string", "client whose earlier upload is looked for"),
    Column("earlier", "int32", "earlier round"),
    Column("candidate", "string", "client of the earlier round"),
    Column("cosine", "float64", "cosine of both deltas, each without the mean of its round"),
)

PRIVACY_NORMS = Table(
    "privacy_norms",
    ("seed", "method", "round", "client"),
    SEED,
    METHOD,
    ROUND,
    Column("client", "string", "client whose upload it is"),
    Column("norm", "float64", "L2 norm of the upload, over all its tensors together"),
)

PRIVACY_CANARIES = Table(
    "privacy_canaries",
    ("seed", "method", "adapter", "round", "holder", "client"),
    SEED,
    METHOD,
    _ADAPTER,
    ROUND,
    _HOLDER,
    Column("client", "string", "client in whose texts the secret was planted"),
    Column("repeats", "int32", "documents that carry it", "documents"),
    Column("rank", "int32", "place of the secret among the candidates, the likeliest first, from 1"),
    Column("candidates", "int32", "secrets that nobody has"),
)

PRIVACY_CANARY_CLIENTS = Table(
    "privacy_canary_clients",
    ("seed", "method", "canary"),
    SEED,
    METHOD,
    Column("canary", "int32", "number of the canary client"),
    Column("participations", "int32", "rounds that it takes part in", "rounds"),
    Column("dimensions", "int64", "length of an upload", "numbers"),
    Column("present", "float64", "cosine of its direction with the server's movement, with its upload in it"),
    Column("absent", "float64", "the same without its upload"),
)
