"""The signed JSON files that cross between a coordinator and its sites, typed."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from favor.foundation.received import Received

FORMAT = 1
MOST_WORDS = 10**8  # more than a person writes in a life
Hexadecimal = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]  # 32 bytes: a digest or a public key
Signature = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]
Client = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Natural = Annotated[int, Field(ge=0, lt=2**31)]
Time = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]  # UTC


class Signed(Received):
    """What a signature is over: ``key`` is the public key of who signed."""

    format: Literal[1]
    key: Hexadecimal


class Agreed(Received):
    """An agreement: which run it is of, and whatever else a party compares with its own."""

    model_config = ConfigDict(extra="allow")

    experiment: str
    row: str
    seed: int


class Invitation(Signed):
    """What everybody agrees on, and the digests of the files that all parties have."""

    agreement: Agreed
    digests: dict[str, Hexadecimal]


class SiteStatement(Signed):
    """Who a site is.

    words: on how many words it trains, where the server weights by them; said once.
    replaces: the key that it had before, and ``statement``, by which that key signs the new one.
    """

    client: Client
    words: Annotated[int, Field(ge=1, le=MOST_WORDS)] | None = None
    replaces: Hexadecimal | None = None
    statement: Signature | None = None


class Manifest(Signed):
    """What the coordinator hands out, beside an adapter file. What the agreement says too is compared with it.

    members: of how many clients the adapter is the mean, where the server keeps members.
    taken: by client the last round whose upload was taken.
    declares: the shape of every tensor of an upload.
    ends: until when a site answers it.
    """

    kind: Literal["round", "final"]
    round: Natural
    cohort: tuple[Client, ...]
    members: Natural
    taken: dict[Client, Natural]
    agreement: dict[str, Any]
    digests: dict[str, Hexadecimal]
    declares: dict[str, tuple[Natural, ...]]
    ends: Time
