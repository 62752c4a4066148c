"""Hyperparameters that several methods share: passes, and coefficients of loss terms with the paper's values."""

from dataclasses import dataclass

from favor.federation.method import Sampling


@dataclass(frozen=True)
class Nothing:
    """Nothing to set: what prompts hold are lengths and counts of the experiment (``prompting``)."""


@dataclass(frozen=True)
class Passes:
    """``epochs``: local passes a round."""

    epochs: int = 1


@dataclass(frozen=True)
class Sampled(Passes):
    """Local passes a round, and how clients are sampled."""

    sampling: Sampling = "coverage_first"


@dataclass(frozen=True)
class Adaptive(Passes):
    """Local passes a round; the server's rate (times the experiment's), its decay rates and its adaptivity tau."""

    server_rate: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.99
    tau: float = 0.001


@dataclass(frozen=True)
class LocalPasses:
    """``epochs``: passes over the client's text of a method without rounds."""

    epochs: int = 6


@dataclass(frozen=True)
class TwoStages:
    """Local passes of both stages."""

    shared_epochs: int = 1
    personal_epochs: int = 1


@dataclass(frozen=True)
class Proximal:
    """``lambda_prox``: of the shared stage's distance from the server's adapter (Eq. shared_objective)."""

    lambda_prox: float = 0.0005


@dataclass(frozen=True)
class Tied:
    """``lambda_ditto``: of a personal adapter's distance from the shared one (Ditto)."""

    lambda_ditto: float = 0.01


@dataclass(frozen=True)
class Aligned:
    """``lambda_align``: of the style alignment loss (Eq. private_objective)."""

    lambda_align: float = 0.3


@dataclass(frozen=True)
class AlignedLocalPasses(LocalPasses, Aligned):
    """Passes over the client's text and the weight of the alignment loss."""
