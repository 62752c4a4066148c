"""Voice-kept family: where outputs lie between somebody else's voice (0) and the author's own (1), with intervals.

A measure's share is (score - floor) / (ceiling - floor). The floor is the control ``shuffled``, human continuations
dealt to other authors; the ceiling is the control ``gold``, the authors' own ones. Score, floor and ceiling are means
over seeds, so every row has the seed ``ALL_SEEDS``. One bootstrap over authors serves all three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from favor.foundation.vectors import unit_rows
from favor.foundation.words import document_words
from favor.scores.inputs import Run, ScoreInputs, read_encoders, read_settings
from favor.scores.metric import ALL_SEEDS, CONTROLS, SOURCE, Metric, Score, scores_frame
from favor.scores.prototypes import correct, predict, prototypes
from favor.scores.verification import generated_pairs, source_pairs
from favor.statistics.bootstrap import auc_draws, interval, mean_draws, observed, pair_auc_draws, resample_counts
from favor.statistics.kept_share import KeptShare, kept_share
from favor.statistics.rank_agreement import correlate, drawn_authors

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
    Metric(
        "kept_common_accuracy", "Accuracy kept, common prompts", -_INFINITE, _INFINITE, "higher",
        f"{_SHARE} the author accuracy on common prompts, between the ends of own prompts",
    ),
    Metric(
        "kept_common_similarity", "Similarity kept, common prompts", -_INFINITE, _INFINITE, "higher",
        f"{_SHARE} the similarity to the intended author on common prompts, between the ends of own prompts",
    ),
    Metric(
        "similarity_lost", "Similarity lost", -2.0, 2.0, "lower",
        "similarity to the intended author of own continuations minus that of outputs; the variant is the client",
        per_client=True,
    ),
    Metric(
        "distance_from_mean", "Distance from the mean", 0.0, 2.0, "none",
        "1 - cosine of an author's prototype and the mean of all; the variant is the client",
        per_client=True,
    ),
    Metric(
        "loss_with_distance", "Loss with distance", -1.0, 1.0, "none",
        "Spearman over authors: similarity lost against own text, and distance from the authors' mean",
    ),
    Metric(
        "loss_with_volume", "Loss with volume", -1.0, 1.0, "none",
        "Spearman over authors: similarity lost against own text, and words trained on",
    ),
)  # fmt: skip
OWN_PROMPTS = ("author_accuracy", "generated_source_auc", "target_similarity", "generated_auc")
# The same two on common prompts. People wrote no continuations of these, so both ends are those of own prompts.
COMMON_PROMPTS = {"common_accuracy": "author_accuracy", "common_similarity": "target_similarity"}
USES = "prompts.common"  # key of an experiment with which there is more to score
BASE = "base_only"  # the second floor, where the experiment runs it: the model that has read no client
DEFAULTS: dict[str, Any] = {"encoders": None, "draws": 2000, "seed": 2026}


def score(inputs: ScoreInputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the shares of every method and control in every encoder, with what they are made of.

    The variant "" is the share; ``low`` and ``high`` are the ends of its 95 % interval. ``score`` (with ``score_low``
    and ``score_high``), ``floor`` and ``ceiling`` are the means behind it. ``over_base``, ``over_base_low`` and
    ``over_base_high`` are the share with the base model as floor. The two correlations with what an author loses have
    ``low`` and ``high`` too. ``similarity_lost`` and ``distance_from_mean`` have a variant per client alone. Settings:
    ``encoders`` (None: all), ``draws`` and ``seed`` of the bootstrap.
    """
    checked = read_settings("voice_kept", settings, DEFAULTS)
    counts = resample_counts(len(inputs.clients), checked["seed"], checked["draws"])
    counts = np.concatenate([observed(len(inputs.clients)), counts])
    scores: list[Score] = []
    for encoder in read_encoders(inputs, checked["encoders"]):
        values: dict[str, dict[str, list[np.ndarray]]] = {}  # method -> measure -> draws by seed
        outputs: Counter[str] = Counter()
        for run in inputs.runs:
            outputs[run.method] += len(run.survivors)
            for measure, draws in measure_draws(inputs, encoder, run, counts).items():
                values.setdefault(run.method, {}).setdefault(measure, []).append(draws)
        for run in inputs.common_runs:
            vectors, authors = inputs.common_vectors(encoder, run), run.survivors["client"].to_numpy(dtype=object)
            found = prototype_draws(inputs, encoder, vectors, authors, counts)
            for common, measure in COMMON_PROMPTS.items():
                values[run.method].setdefault(common, []).append(found[measure])
        means = {
            method: {measure: np.mean(seeds, axis=0) for measure, seeds in own.items()}
            for method, own in values.items()
        }
        without = _without_pairs(inputs) if np.isnan(means["gold"]["generated_source_auc"][0]) else ""
        for method, n in outputs.items():
            scores += _rows(method, encoder, means, len(inputs.clients), n, without)
        scores += _losses(inputs, encoder, drawn_authors(counts))
    return scores_frame(scores)


def measure_draws(inputs: ScoreInputs, encoder: str, run: Run, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return every measure of ``run`` in every draw of authors: arrays [draws]; NaN where it does not exist.

    ``counts`` [draws, clients] says how often each client was drawn. A draw of ones gives the value that the families
    ``prototypes`` and ``verification`` print.
    """
    vectors, authors = inputs.vectors(encoder, run), run.survivors["client"].to_numpy(dtype=object)
    found = prototype_draws(inputs, encoder, vectors, authors, counts)
    if not len(authors):
        return dict.fromkeys(OWN_PROMPTS, np.full(len(counts), np.nan))
    generated = generated_pairs(vectors, run)
    source = source_pairs(vectors, run, inputs.sources(encoder, "gold", run.seed))
    left, other = _places(generated.left, inputs.clients), _places(generated.right, inputs.clients)
    return {
        **found,
        "generated_source_auc": auc_draws(source.scores, source.positive, _places(source.left, inputs.clients), counts),
        "generated_auc": pair_auc_draws(generated.scores, left, other, counts),
    }


def prototype_draws(
    inputs: ScoreInputs, encoder: str, vectors: np.ndarray, authors: np.ndarray, counts: np.ndarray
) -> dict[str, np.ndarray]:
    """Return author accuracy and target similarity of unit rows [n, d] in every draw: arrays [draws].

    NaN where there are no rows.
    """
    if not len(authors):
        return dict.fromkeys(("author_accuracy", "target_similarity"), np.full(len(counts), np.nan))
    index, prototype = _places(authors, inputs.clients), prototypes(inputs.sources(encoder, "train"), inputs.clients)
    right = correct(authors, predict(vectors, prototype, inputs.clients))
    return {
        "author_accuracy": mean_draws(right.astype(np.float64), index, counts),
        "target_similarity": mean_draws((vectors * prototype[index]).sum(axis=1), index, counts),
    }


def author_losses(inputs: ScoreInputs, encoder: str) -> pd.DataFrame:
    """Return what every author loses of the similarity to the own prototype: own continuations minus outputs.

    Columns client, distance (1 - cosine between the author's prototype and the authors' mean), words (trained on; NaN
    without the clients' texts), and one per method: means over outputs of all seeds, NaN for an author without any.
    """
    prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
    centre = unit_rows(prototype.mean(axis=0, keepdims=True))[0]
    similarity: dict[str, pd.Series] = {}
    for method in dict.fromkeys(run.method for run in inputs.runs):
        parts = []
        for run in (run for run in inputs.runs if run.method == method and len(run.survivors)):
            index = _places(run.survivors["client"].to_numpy(dtype=object), inputs.clients)
            cosines = (inputs.vectors(encoder, run) * prototype[index]).sum(axis=1)
            parts.append(pd.Series(cosines, index=run.survivors["client"].to_numpy(dtype=object)))
        if parts:
            similarity[method] = pd.concat(parts).groupby(level=0).mean().reindex(inputs.clients)
    words = pd.Series(np.nan, index=inputs.clients)
    if inputs.client_texts is not None:
        count = document_words(inputs.words).count
        trained = inputs.client_texts.set_index("client")["training_text"].map(count)
        words = trained.groupby(level=0).sum().reindex(inputs.clients).astype(float)
    gold = similarity.get("gold", pd.Series(np.nan, index=inputs.clients))
    losses = {method: (gold - own).to_numpy() for method, own in similarity.items() if method not in CONTROLS}
    known = {"client": inputs.clients, "distance": 1.0 - prototype @ centre, "words": words.to_numpy()}
    return pd.DataFrame({**known, **losses})


def _losses(inputs: ScoreInputs, encoder: str, places: np.ndarray) -> Iterator[Score]:
    losses = author_losses(inputs, encoder)
    outputs = Counter((run.method, client) for run in inputs.runs for client in run.survivors["client"])
    texts = Counter(inputs.sources(encoder, "train").frame["client"])
    for client, distance in zip(losses["client"], losses["distance"], strict=True):
        yield Score(ALL_SEEDS, SOURCE, encoder, "distance_from_mean", client, float(distance), texts[client])
    for method in losses.columns.drop(["client", "distance", "words"]):
        for client, lost in zip(losses["client"], losses[method].astype(float), strict=True):
            note = "" if lost == lost else "no output of this author passed the filter, or no human continuation"
            yield Score(ALL_SEEDS, method, encoder, "similarity_lost", client, lost, outputs[method, client], note)
        for metric, cause in (("loss_with_distance", "distance"), ("loss_with_volume", "words")):
            found = losses[[method, cause]].to_numpy()
            known = np.isfinite(found).all(axis=1)
            drawn = (rankdata(found[places, side], axis=-1) for side in (0, 1))
            draws = correlate(*drawn) if known.all() else np.full(len(places), np.nan)
            value = float(draws[0])
            shown = np.isfinite(draws[1:]).any() and np.isfinite(value)
            ends = interval(draws[1:], len(inputs.clients)) if shown else (np.nan, np.nan)
            note = "" if np.isfinite(value) else f"an author has no output or no {cause}, or all are alike"
            for variant, number in zip(("", "low", "high"), (value, *ends), strict=True):
                yield Score(ALL_SEEDS, method, encoder, metric, variant, number, int(known.sum()), note)


def _places(authors: np.ndarray, clients: Sequence[str]) -> np.ndarray:
    return np.searchsorted(clients, authors.astype(str))


def _without_pairs(inputs: ScoreInputs) -> str:
    """Return why human text has no generated-source AUC: one of its two kinds of pairs is missing in some seed."""
    for run in inputs.runs:
        found = run.survivors
        if run.method == "gold" and not (found.groupby("client").size() > 1).any():
            return ": no author has two human continuations of one seed"
    return ": in some seed no two authors share a topic"


def _rows(
    method: str, encoder: str, means: Mapping[str, Mapping[str, np.ndarray]], authors: int, n: int, without: str
) -> Iterator[Score]:
    measures = (
        (*OWN_PROMPTS, *COMMON_PROMPTS) if any("common_accuracy" in own for own in means.values()) else OWN_PROMPTS
    )
    for measure in measures:
        end = COMMON_PROMPTS.get(measure, measure)
        ceiling, nothing = means["gold"][end], np.full_like(means["gold"][end], np.nan)
        own = means[method].get(measure, nothing)
        shares = {"": kept_share(own, means["shuffled"][end], ceiling, authors)}
        if BASE in means:
            shares["over_base"] = kept_share(own, means[BASE].get(measure, nothing), ceiling, authors)
        for variant, share in shares.items():
            for name, value in _values(variant, share).items():
                note = _note(share, value, measure in COMMON_PROMPTS and method in CONTROLS)
                if note and measure == "generated_source_auc" and not np.isfinite(share.ceiling):
                    note += without
                yield Score(ALL_SEEDS, method, encoder, f"kept_{measure}", name, value, n, note)


def _values(variant: str, share: KeptShare) -> dict[str, float]:
    values = {variant: share.share, f"{variant}_low".strip("_"): share.low, f"{variant}_high".strip("_"): share.high}
    if variant:
        return values
    ends = {"score_low": share.score_low, "score_high": share.score_high}
    return {**values, "score": share.score, **ends, "floor": share.floor, "ceiling": share.ceiling}


def _note(share: KeptShare, value: float, unwritten: bool) -> str:
    if value == value:
        return ""
    if unwritten:
        return "people wrote no continuations of the common prompts"
    return share.reason or "no draw of authors has a value"
