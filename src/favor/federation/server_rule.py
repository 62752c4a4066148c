"""How a server turns the mean of a round's uploads into the next shared adapter: plain values."""

from dataclasses import dataclass

from favor.federation.kinds import MOMENTS, ServerKind


@dataclass(frozen=True)
class ServerRule:
    """The server's update, with Delta the weighted mean of the uploads and eta = ``rate`` * the server learning rate.

    kind: the equation. Moments start at m = 0 and v = tau^2. With "adam" and "yogi", m <- beta1 m + (1 - beta1) Delta.
    With "members" the mean of the others than i follows from A as (n A - A_i) / (n - 1).
    rate: multiplies the experiment's ``federation.server_learning_rate``.
    beta1, beta2: decay of the moments. tau: what keeps the quotient small where v is (adaptivity).
    """

    kind: ServerKind = "mean"
    rate: float = 1.0
    beta1: float = 0.0
    beta2: float = 0.0
    tau: float = 0.0

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise ValueError("the server's rate must be above 0")
        if not (0 <= self.beta1 < 1 and 0 <= self.beta2 < 1):
            raise ValueError("the server's decay rates must be at least 0 and below 1")
        if self.moments == 2 and not self.tau > 0:
            raise ValueError("an adaptive server needs a 'tau' above 0")

    @property
    def moments(self) -> int:
        """Moments that the rule keeps from round to round, each as large as an adapter."""
        return MOMENTS.get(self.kind, 0)
