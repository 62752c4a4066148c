"""What an adapter knows of its writer, read without generating: how much likelier texts are than under the base."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from favor.foundation.seeds import derive_seed
from favor.statistics.bootstrap import mean_draws, observed_and_resampled
from favor.voice.folder import BASE
from favor.voice.memorised import HELD_OUT
from favor.voice.position import DRAWS, Measured, measured, told_apart

CONTRAST, NEUTRAL = "contrast", "neutral"


@dataclass(frozen=True)
class Gains:
    """Gains of one adapter, in nats per token: the fall of the mean loss of texts from the base to the adapter.

    ``own``: of the writer's held-out texts. ``others``: of the contrast authors' texts, the mean over authors.
    ``voice``: own minus others. ``neutral``: of neutral sentences; below 0 they are forgotten. ``attribution``: how
    often a held-out text gains more than one of another author (AUC; chance .50).
    """

    own: Measured
    others: Measured
    voice: Measured
    neutral: Measured
    attribution: Measured


def gains(losses: pd.DataFrame, model: str, seed: int) -> Gains:
    """Return the gains of ``model``; ``losses``: the table ``voice_losses`` with texts of all kinds.

    Texts weigh by their tokens within a writer. Held-out texts and contrast authors are drawn independently.
    """
    wide = losses.pivot(index=["kind", "writer", "text", "tokens"], columns="model", values="loss").reset_index()
    wide["gain"] = wide[BASE] - wide[model]
    held, contrast, neutral = (wide[wide["kind"] == kind] for kind in (HELD_OUT, CONTRAST, NEUTRAL))
    by_author = [own for _, own in contrast.groupby("writer")]
    own = _weighted(held, seed, HELD_OUT)
    means = np.array([np.average(texts["gain"], weights=texts["tokens"]) for texts in by_author])
    counts = observed_and_resampled(len(means), derive_seed(seed, "voice gains", CONTRAST), DRAWS)
    others = mean_draws(means, np.arange(len(means)), counts)
    return Gains(
        measured(own, len(held)),
        measured(others, len(means)),
        measured(own - others, min(len(held), len(means))),
        measured(_weighted(neutral, seed, NEUTRAL), len(neutral)),
        told_apart(held["gain"].to_numpy(), [texts["gain"].to_numpy() for texts in by_author], seed),
    )


def gain_lines(found: Gains) -> list[str]:
    """Return the gains of the writer's adapter in sentences. What forgetting gives too is no sign of a voice alone."""
    forgets = ", which forgetting other texts gives too: it is no sign of your voice here."
    return [
        f"Your held-out texts are likelier under your adapter than under the base model by {found.own.text(3)} nats "
        f"per token; those of other authors by {found.others.text(3)}; neutral sentences by {found.neutral.text(3)}.",
        f"The gain tells a text of yours from one of another author with AUC {found.attribution.text()} (chance .50)"
        + ("." if found.own.low > 0 else forgets),
    ]


def _weighted(texts: pd.DataFrame, seed: int, name: str) -> np.ndarray:
    """Return the gain of all tokens together in every draw of texts; NaN without a text."""
    if not len(texts):
        return np.full(1 + DRAWS, np.nan)
    counts = observed_and_resampled(len(texts), derive_seed(seed, "voice gains", name), DRAWS)
    tokens = texts["tokens"].to_numpy(dtype=np.float64)
    found: np.ndarray = (counts @ (texts["gain"].to_numpy() * tokens)) / (counts @ tokens)
    return found
