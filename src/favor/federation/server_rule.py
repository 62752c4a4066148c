"""How a server turns the mean of a round's uploads into the next shared adapter: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ServerRule:
    """The server's update, with Delta the weighted mean of the uploads and eta = ``rate`` * the server learning rate.

    kind: the equation. Moments start at m = 0 and v = tau^2.

    - "mean": A <- A + eta Delta (FedAvg, McMahan et al. 2017).
    - "momentum": m <- beta1 m + Delta; A <- A + eta m (FedAvgM, Hsu et al. 2019).
    - "adam", "yogi": m <- beta1 m + (1 - beta1) Delta; A <- A + eta m / (sqrt(v) + tau), with
      v <- beta2 v + (1 - beta2) Delta^2, or v <- v - (1 - beta2) Delta^2 sign(v - Delta^2) (Reddi et al. 2021,
      Algorithm 2).
    - "members": A is the mean of the last adapters of all clients that took part so far, which are uploaded whole; the
      mean of the others than i follows from it as (n A - A_i) / (n - 1) (FedALT, Bian et al. 2026). It has no rate.
    - "svd": (B, A) <- the best rank-r factors of (1 - eta) B A + eta * mean_i B_i A_i (FlexLoRA, Bai et al. 2024).

    rate: multiplies the experiment's ``federation.server_learning_rate``.
    beta1, beta2: decay of the moments. tau: what keeps the quotient small where v is (adaptivity).
    """

    kind: Literal["mean", "momentum", "adam", "yogi", "svd", "members"] = "mean"
    rate: float = 1.0
    beta1: float = 0.0
    beta2: float = 0.0
    tau: float = 0.0

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise ValueError("the server's rate must be above 0")
        if not (0 <= self.beta1 < 1 and 0 <= self.beta2 < 1):
            raise ValueError("the server's decay rates must be at least 0 and below 1")
        if self.kind in ("adam", "yogi") and not self.tau > 0:
            raise ValueError("an adaptive server needs a 'tau' above 0")

    @property
    def remembers(self) -> bool:
        """Whether the rule keeps moments from round to round."""
        return self.kind in ("momentum", "adam", "yogi")
