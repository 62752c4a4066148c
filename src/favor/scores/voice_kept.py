"""Voice-kept family: where outputs lie between somebody else's voice (0) and the author's own (1), with intervals.

A measure's share is (score - floor) / (ceiling - floor). The floor is the control ``shuffled``, human continuations
dealt to other authors; the ceiling is the control ``gold``, the authors' own ones. Score, floor and ceiling are means
over seeds, so every row has the seed ``ALL_SEEDS``. One bootstrap over authors serves all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from favor.scores.inputs import Run, ScoreInputs, read_encoders, read_settings
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.scores.prototypes import correct, predict, prototypes
from favor.scores.verification import generated_pairs, source_pairs
from favor.statistics.bootstrap import auc_draws, mean_draws, observed, pair_auc_draws, resample_counts
from favor.statistics.kept_share import KeptShare, kept_share

_INFINITE = float("inf")
_SHARE = "(score − floor) / (ceiling − floor) of"
METRICS = (
    Metric(
        "kept_author_accuracy", "Accuracy kept", -_INFINITE, _INFINITE, "higher", f"{_SHARE} the author accuracy",
    ),
    Metric(
        "kept_generated_source_auc", "Gen→Src AUC kept", -_INFINITE, _INFINITE, "higher",
        f"{_SHARE} the generated-source AUC",
    ),
    Metric(
        "kept_target_similarity", "Similarity kept", -_INFINITE, _INFINITE, "higher",
        f"{_SHARE} the similarity to the intended author",
    ),
    Metric(
        "kept_generated_auc", "Verif. AUC kept", -_INFINITE, _INFINITE, "higher",
        f"{_SHARE} the generated-generated AUC, which asks for distinct authors and not for the right ones",
    ),
)  # fmt: skip
MEASURES = tuple(metric.name.removeprefix("kept_") for metric in METRICS)
BASE = "base_only"  # the second floor, where the experiment runs it: the model that has read no client
DEFAULTS: dict[str, Any] = {"encoders": None, "draws": 2000, "seed": 2026}


def score(inputs: ScoreInputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the shares of every method and control in every encoder, with what they are made of.

    The variant "" is the share; ``low`` and ``high`` are the ends of its 95 % interval. ``score`` (with ``score_low``
    and ``score_high``), ``floor`` and ``ceiling`` are the means behind it. ``over_base``, ``over_base_low`` and
    ``over_base_high`` are the share with the base model as floor. Settings: ``encoders`` (None: all), ``draws`` and
    ``seed`` of the bootstrap.
    """
    checked = read_settings("voice_kept", settings, DEFAULTS)
    counts = resample_counts(len(inputs.clients), checked["seed"], checked["draws"])
    counts = np.concatenate([observed(len(inputs.clients)), counts])
    scores: list[Score] = []
    for encoder in read_encoders(inputs, checked["encoders"]):
        values: dict[str, list[dict[str, np.ndarray]]] = {}
        outputs: dict[str, int] = {}
        for run in inputs.runs:
            values.setdefault(run.method, []).append(measure_draws(inputs, encoder, run, counts))
            outputs[run.method] = outputs.get(run.method, 0) + len(run.survivors)
        means = {
            method: {measure: np.mean([seed[measure] for seed in seeds], axis=0) for measure in MEASURES}
            for method, seeds in values.items()
        }
        for method, n in outputs.items():
            scores += _rows(method, encoder, means, n)
    return scores_frame(scores)


def measure_draws(inputs: ScoreInputs, encoder: str, run: Run, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return every measure of ``run`` in every draw of authors: arrays [draws]; NaN where it does not exist.

    ``counts`` [draws, clients] says how often each client was drawn. A draw of ones gives the value that the families
    ``prototypes`` and ``verification`` print.
    """
    vectors, authors = inputs.vectors(encoder, run), run.survivors["client"].to_numpy(dtype=object)
    if not len(authors):
        return {measure: np.full(len(counts), np.nan) for measure in MEASURES}
    index = _places(authors, inputs.clients)
    prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
    right = correct(authors, predict(vectors, prototype, inputs.clients))
    generated = generated_pairs(vectors, run)
    source = source_pairs(vectors, run, inputs.sources(encoder, "gold", run.seed))
    left, other = _places(generated.left, inputs.clients), _places(generated.right, inputs.clients)
    return {
        "author_accuracy": mean_draws(right.astype(np.float64), index, counts),
        "generated_source_auc": auc_draws(source.scores, source.positive, _places(source.left, inputs.clients), counts),
        "target_similarity": mean_draws((vectors * prototype[index]).sum(axis=1), index, counts),
        "generated_auc": pair_auc_draws(generated.scores, left, other, counts),
    }


def _places(authors: np.ndarray, clients: Sequence[str]) -> np.ndarray:
    return np.searchsorted(clients, authors.astype(str))


def _rows(method: str, encoder: str, means: Mapping[str, Mapping[str, np.ndarray]], n: int) -> Iterator[Score]:
    for metric, measure in zip(METRICS, MEASURES, strict=True):
        ceiling = means["gold"][measure]
        shares = {"": kept_share(means[method][measure], means["shuffled"][measure], ceiling)}
        if BASE in means:
            shares["over_base"] = kept_share(means[method][measure], means[BASE][measure], ceiling)
        for variant, share in shares.items():
            for name, value in _values(variant, share).items():
                yield Score(ALL_SEEDS, method, encoder, metric.name, name, value, n, _note(share, value))


def _values(variant: str, share: KeptShare) -> dict[str, float]:
    values = {variant: share.share, f"{variant}_low".strip("_"): share.low, f"{variant}_high".strip("_"): share.high}
    if variant:
        return values
    ends = {"score_low": share.score_low, "score_high": share.score_high}
    return {**values, "score": share.score, **ends, "floor": share.floor, "ceiling": share.ceiling}


def _note(share: KeptShare, value: float) -> str:
    return "" if value == value else share.reason or "no draw of authors has a value"
