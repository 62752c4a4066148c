"""The kinds of parts that methods are made of: every value once, with what it means. A new mechanism begins here."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

# Where a personal stage starts (favor.federation.method.PersonalStage).
Start = Literal[
    "endpoint",  # the client's shared endpoint of its last participation (FAVoR)
    "final",  # the final shared adapter, for every client, sampled or not, once the federation is over
    "own",  # the client's own personal adapter, carried over; at first A_t of its first participation (Ditto)
    "initial",  # the initial adapter, for every client, outside any federation (local-only)
    "pooled",  # the initial adapter, for one adapter trained on all clients' texts together: the centralised reference
    "frozen",  # the final shared adapter of another experiment, for every client (cold start)
    "random",  # a random adapter of the norm of that one
]

# What a client generates with (favor.federation.method.Plan).
Generator = Literal[
    "server",  # the final shared adapter
    "endpoint",  # its own shared endpoint of its last participation
    "personal",  # the result of its personal stage
    "base",  # no adapter
    "prompted",  # no adapter, and a longer prompt
    "given",  # the shared adapter of another experiment (cold start)
    "outputs",  # nothing: its continuations were made elsewhere
    "adapters",  # a PEFT adapter that was made elsewhere
]

# What mixes a client's own adapter with a shared one: g * global + (1 - g) * own (favor.federation.method.Mixture).
Gate = Literal[
    "similarity",  # g = clip(coefficient * mean cosine of the input's last-token state to own texts', 0, 1) (FedDPA)
    "learned",  # 1 - g begins at ``weight``; every step moves it by -``rate`` times its gradient, within 0..1 (APFL)
    "sum",  # both outputs are added, without weights (FedRoD)
    "token",  # 1 - g = sigmoid(u x) in every layer, at each token x; u begins at 0 and is trained too (FedALT)
]

# What a server does with a round's uploads, Delta their weighted mean (favor.federation.server_rule.ServerRule).
ServerKind = Literal[
    "mean",  # A <- A + eta Delta (FedAvg, McMahan et al. 2017)
    "momentum",  # m <- beta1 m + Delta; A <- A + eta m (FedAvgM, Hsu et al. 2019)
    "adam",  # A <- A + eta m / (sqrt(v) + tau), v <- beta2 v + (1 - beta2) Delta^2 (Reddi et al. 2021, Algorithm 2)
    "yogi",  # the same with v <- v - (1 - beta2) Delta^2 sign(v - Delta^2)
    "svd",  # (B, A) <- the best rank-r factors of (1 - eta) B A + eta * mean_i B_i A_i (FlexLoRA, Bai et al. 2024)
    "exact",  # A <- A + Delta; every base gains mean_i B_i A_i - B A (FedEx-LoRA, Singhal et al. 2025)
    "members",  # A <- the mean of the last whole adapters of all who took part; no rate (FedALT, Bian et al. 2026)
]
# Moments that a server keeps from round to round; tracks of these kinds are named by them.
MOMENTS: Mapping[str, int] = {"momentum": 1, "adam": 2, "yogi": 2}


class Serving(NamedTuple):
    """What a server needs of the stage that it serves; a server without an entry below takes the mean of any updates.

    ``each``: every upload, and of whole adapters. ``start``: where its clients start, "server" if what it hands out is
    more than an adapter, "own" if clients carry theirs over; both need one rank. ``steps``: whether it moves by a rate.
    ``sent``: what an upload is called in the record of the boundary.
    """

    each: bool = True
    start: Literal["server", "own"] | None = None
    steps: bool = True
    sent: str = "delta"


SERVING: Mapping[str, Serving] = {
    "svd": Serving(),
    "exact": Serving(start="server", steps=False),
    "members": Serving(start="own", steps=False, sent="personal adapter"),
    "state": Serving(
        start="server", sent="delta and change of state"
    ),  # favor.federation.state_rule, whatever the kind
}
