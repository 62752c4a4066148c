"""The assistant score: how probable it is that an assistant, not a person, wrote a text.

A second ArcFace encoder separates the two classes; the difference of a text's cosines to their prototypes is turned
into a probability by Platt's sigmoid, fitted on texts that did not train the encoder.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from favor.encoders.asce_training import train_asce
from favor.encoders.base import TextEncoder
from favor.encoders.kinds.asce import load_asce
from favor.encoders.settings import AsceTraining, EncoderTraining
from favor.foundation.files import read_json, write_json
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.running.jobs.progress import Progress

FORMAT = "favor-assistant-1"


@dataclass(frozen=True)
class AssistantClassifier:
    """A trained encoder, the unit prototypes of assistant and human text [2, d], and the sigmoid's two numbers."""

    encoder: TextEncoder
    prototypes: np.ndarray
    slope: float
    intercept: float

    def probabilities(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """P(assistant) of every text, float64 [n]."""
        return expit(self.slope * margins(self.encoder.encode(texts, progress), self.prototypes) + self.intercept)


def margins(vectors: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
    """cos(z, assistant) - cos(z, human) of unit rows [n, d]."""
    difference: np.ndarray = vectors.astype(np.float64) @ (prototypes[0] - prototypes[1])
    return difference


def fit_sigmoid(values: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """Return (slope, intercept) of Platt's sigmoid P(positive) = 1 / (1 + exp(-(slope value + intercept))).

    Targets are Platt's (N+ + 1) / (N+ + 2) and 1 / (N- + 2), so the fit stays finite on separable classes, and both
    classes weigh the same, as neither is more common beforehand.
    """
    above, below = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    weight = np.where(positive, 0.5 / above, 0.5 / below)

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        logit = parameters[0] * values + parameters[1]
        error = weight * (expit(logit) - target)
        value = (weight * (np.logaddexp(0, logit) - target * logit)).sum()
        return float(value), np.array([(error * values).sum(), error.sum()])

    found = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    return float(found[0]), float(found[1])


def train_assistant(
    texts: pd.DataFrame,
    settings: EncoderTraining,
    source: str | None,
    seed: int,
    folder: Path,
    excluded_authors: Collection[str] = (),
) -> dict[str, object]:
    """Train, calibrate and save a classifier into ``folder``; return its manifest.

    ``texts``: author ("assistant" or "human"), document_id, split, text. ``source``: as in :func:`train_asce`. Texts of
    the split test only measure: their accuracy at 0.5 and Brier score are in the manifest. ``excluded_authors`` counts
    the people kept out.
    """
    size = max(1, int(texts.groupby(["author", "split"]).size().max()))
    limits = {"training_texts_per_author": size, "validation_texts_per_author": size}
    training = settings.extended(AsceTraining, **limits)
    trained = train_asce(texts, training, source, seed, folder)
    encoder = load_asce(folder)
    vectors = encoder.encode(texts["text"].tolist()).astype(np.float64)
    assistant, split = (texts["author"] == "assistant").to_numpy(), texts["split"].to_numpy()
    means = np.stack([vectors[(split == "train") & side].mean(axis=0) for side in (assistant, ~assistant)])
    prototypes = means / np.linalg.norm(means, axis=1, keepdims=True)
    values = margins(vectors, prototypes)
    held_out = split == "validation"
    slope, intercept = fit_sigmoid(values[held_out], assistant[held_out])
    tested = split == "test"
    probability = expit(slope * values[tested] + intercept)
    manifest = {
        "texts": {name: int((split == name).sum()) for name in ("train", "validation", "test")},
        "people_kept_out": len(set(excluded_authors)),
        "validation_accuracy": trained["validation_accuracy"],
        "test_accuracy": float(((probability > 0.5) == assistant[tested]).mean()),
        "test_brier": float(((probability - assistant[tested]) ** 2).mean()),
    }
    write_safetensors({"prototypes": prototypes}, folder / "assistant.safetensors", {"format": FORMAT})
    write_json(
        {"format": FORMAT, "slope": slope, "intercept": intercept, "manifest": manifest}, folder / "assistant.json"
    )
    return manifest


def load_assistant(folder: Path) -> AssistantClassifier:
    """Load a classifier written by :func:`train_assistant`."""
    arrays, _ = read_safetensors(folder / "assistant.safetensors")
    state = read_json(folder / "assistant.json")
    return AssistantClassifier(load_asce(folder), arrays["prototypes"], state["slope"], state["intercept"])
