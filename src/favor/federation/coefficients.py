"""Coefficients of loss terms that several methods have, with the paper's values: parts of their hyper-parameters."""

from dataclasses import dataclass


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
