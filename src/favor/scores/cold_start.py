"""Cold-start family: authors told apart by prototypes of fixed texts, and by how far the target exceeds the others.

The prototype family's own scores rest on the texts that a few-shot client adapts to, so they change with their number
in two ways: through the adapter, and through the prototypes. Prototypes of texts that are set aside (split "reference",
the same for every number of shots) leave the first alone.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError
from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import Metric, Score, scores_frame
from favor.scores.prototypes import figures, macro_f1, prototypes
from favor.scores.settings import InSpaces

_FIXED = "paper, Cold-Start New-Author Details; prototypes of fixed texts"
_MARGIN = "target-author similarity minus the mean similarity to the other authors' prototypes"
NEEDS = "allocation.reference_texts"  # key of an experiment without which nothing is scored
METRICS = (
    Metric("fixed_accuracy", "Fixed-prototype Acc.", 0.0, 1.0, "higher", _FIXED, per_output="binary"),
    Metric("fixed_macro_f1", "Fixed-prototype F1", 0.0, 1.0, "higher", _FIXED),
    Metric("fixed_target_similarity", "Fixed target sim.", -1.0, 1.0, "higher", _FIXED),
    Metric("fixed_margin", "Fixed margin m", -2.0, 2.0, "higher", f"{_FIXED}; {_MARGIN}", per_output="real"),
    Metric("shot_margin", "K-shot margin m", -2.0, 2.0, "higher", f"prototypes of the adaptation texts; {_MARGIN}"),
)


def has_references(inputs: ScoreInputs, encoder: str) -> bool:
    """Whether texts were set aside for fixed prototypes."""
    return len(inputs.sources(encoder, "reference").frame) > 0


def score(inputs: ScoreInputs, settings: InSpaces) -> pd.DataFrame:
    """Score every run and control in every encoder. Setting ``encoders`` (None: all).

    Raises ``UserError`` where no texts were set aside.
    """
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        if not has_references(inputs, encoder):
            raise UserError(
                "scores: family 'cold_start' needs texts set aside; set allocation.shots and allocation.reference_texts"
            )
        fixed = prototypes(inputs.sources(encoder, "reference"), inputs.clients)
        shots = prototypes(inputs.sources(encoder, "train"), inputs.clients)
        for run in inputs.runs:
            scores += _score_run(inputs, encoder, run, fixed, shots)
    return scores_frame(scores)


def _score_run(inputs: ScoreInputs, encoder: str, run: Run, fixed: np.ndarray, shots: np.ndarray) -> Iterator[Score]:
    true, vectors = run.survivors["client"].to_numpy(dtype=object), inputs.vectors(encoder, run)
    found, near = (figures(vectors, true, prototype, inputs.clients) for prototype in (fixed, shots))
    values = {
        "fixed_accuracy": float(found["correct"].mean()),
        "fixed_macro_f1": macro_f1(true, found["predicted"].to_numpy(), sorted(set(true))),
        "fixed_target_similarity": float(found["target"].mean()),
        "fixed_margin": float(found["margin"].mean()),
        "shot_margin": float(near["margin"].mean()),
    }
    note = "a margin needs two authors" if len(true) else "no output passed the filter"
    for name, value in values.items():
        yield Score(run.seed, run.method, encoder, name, "", value, len(true), note)
