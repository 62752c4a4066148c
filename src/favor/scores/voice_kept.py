"""Voice-kept family: where outputs lie between a voice that is nobody's (0) and the author's own (1), with intervals.

A measure's share is (score - nothing) / (ceiling - nothing). The ceiling is the control ``gold``, the authors' own
continuations. Nothing is what texts without any author's voice have: accuracy 1 / authors, AUC 0.5, margin 0. Score and
ceiling are means over seeds, so every row has the seed ``ALL_SEEDS``. One bootstrap over authors serves both.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from favor.foundation.vectors import unit_rows
from favor.foundation.words import document_words
from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import ALL_SEEDS, CONTROLS, SOURCE, UNSEEN, Metric, Score, scores_frame
from favor.scores.prototypes import prototypes, run_figures
from favor.scores.settings import Resampled
from favor.scores.verification import generated_pairs, rivals, source_pairs
from favor.statistics.between_authors import author_means
from favor.statistics.bootstrap import (
    CORRELATION,
    RATE,
    Bounds,
    auc_draws,
    compared,
    interval,
    mean_draws,
    observed_and_resampled,
    pair_auc_draws,
)
from favor.statistics.kept_share import kept_share
from favor.statistics.rank_agreement import correlate, drawn_authors, ranks

_SHARE = "(score − nothing) / (own continuations − nothing) of"
METRICS = (
    Metric("kept_author_accuracy", "Accuracy kept", -math.inf, math.inf, "higher",
        f"{_SHARE} the author accuracy; nothing: 1 / authors"),
    Metric("kept_author_accuracy_failures_wrong", "Accuracy kept, failures wrong", -math.inf, math.inf, "higher",
        f"{_SHARE} the author accuracy over all outputs, where those that failed the filter are wrong"),
    Metric("kept_generated_source_auc", "Gen→Src AUC kept", -math.inf, math.inf, "higher",
        f"{_SHARE} the generated-source AUC; nothing: 0.5"),
    Metric("kept_author_margin", "Margin kept", -math.inf, math.inf, "higher",
        f"{_SHARE} the similarity to the intended author minus the mean similarity to the others; nothing: 0"),
    Metric("kept_common_accuracy", "Accuracy kept, common prompts", -math.inf, math.inf, "higher",
        f"{_SHARE} the author accuracy on common prompts; own continuations are those of own prompts"),
    Metric("kept_common_margin", "Margin kept, common prompts", -math.inf, math.inf, "higher",
        f"{_SHARE} the margin on common prompts; own continuations are those of own prompts"),
    Metric("distinct_auc", "Distinct", 0.0, 1.0, "higher",
        "the generated-generated AUC, which asks for distinct authors and not for the right ones. Half of a voice has "
        "far less than half of its distance from 0.5, so no share of it is taken"),
    Metric("margin_lost", "Margin lost", -4.0, 4.0, "lower",
        "margin of own continuations minus that of outputs; the variant is the client", per_client=True),
    Metric("distance_from_mean", "Distance from the mean", 0.0, 2.0, "none",
        "1 - cosine of an author's prototype and the mean of all; the variant is the client", per_client=True),
    Metric("loss_with_distance", "Loss with distance", -1.0, 1.0, "none",
        "Spearman over authors: voice lost beyond the share that all lose, and distance from the authors' mean. 0 "
        "where every author keeps the same share of the voice"),
    Metric("loss_with_volume", "Loss with volume", -1.0, 1.0, "none",
        "Spearman over authors: voice lost beyond the share that all lose, and words trained on"),
)  # fmt: skip
FAILURES_WRONG = "author_accuracy_failures_wrong"
OWN_PROMPTS = ("author_accuracy", FAILURES_WRONG, "generated_source_auc", "author_margin")
# The same two on common prompts. People wrote no continuations of these, so the ceiling is that of own prompts.
COMMON_PROMPTS = {"common_accuracy": "author_accuracy", "common_margin": "author_margin"}
BOUNDS: dict[str, Bounds | None] = {**dict.fromkeys(OWN_PROMPTS, RATE), "author_margin": None}
USES = "prompts.common"  # key of an experiment with which there is more to score
_EVEN = 1e-9  # of a voice: rounding
BASE = "base_only"  # the second floor, where the experiment runs it: the model that has read no client


def score(inputs: ScoreInputs, settings: Resampled) -> pd.DataFrame:
    """Return the shares of every method and control in every encoder, with what they are made of.

    The variant "" is the share; ``low`` and ``high`` are the ends of its 95 % interval. ``score`` (with ``score_low``
    and ``score_high``), ``floor`` and ``ceiling`` are what is behind it. ``over_base``, ``over_base_low`` and
    ``over_base_high`` are the share with the base model as floor. ``authors``, on common prompts: how many have an
    output that passed. ``distinct_auc`` and the two correlations with what
    an author loses have ``low`` and ``high`` too. ``margin_lost`` and ``distance_from_mean`` have a variant per client
    alone. Settings: ``encoders`` (None: all), ``draws`` and ``seed`` of the bootstrap. The mean over ``inputs.unseen``
    is scored too, as an encoder of the name ``UNSEEN``.
    """
    counts = observed_and_resampled(len(inputs.clients), settings.seed, settings.draws)
    scores: list[Score] = []
    spaces: dict[str, dict[str, dict[str, np.ndarray]]] = {}  # encoder -> method -> measure -> draws by seed
    for encoder in read_encoders(inputs, settings.encoders):
        values: dict[str, dict[str, list[np.ndarray]]] = {}  # method -> measure -> draws by seed
        for run in inputs.runs:
            for measure, draws in measure_draws(inputs, encoder, run, counts).items():
                values.setdefault(run.method, {}).setdefault(measure, []).append(draws)
        for run in inputs.common_runs:
            found = prototype_draws(inputs, encoder, run, counts)
            for common, measure in COMMON_PROMPTS.items():
                values[run.method].setdefault(common, []).append(found[measure])
        spaces[encoder] = {
            method: {measure: np.stack(seeds) for measure, seeds in own.items()} for method, own in values.items()
        }
        scores += _losses(inputs, encoder, counts)
    unseen = [spaces[encoder] for encoder in inputs.unseen if encoder in spaces]
    if unseen:
        spaces[UNSEEN] = {
            method: {measure: np.mean([space[method][measure] for space in unseen], axis=0) for measure in own}
            for method, own in unseen[0].items()
        }
    behind = {method: _behind(inputs, method) for method in dict.fromkeys(run.method for run in inputs.runs)}
    for encoder, means in spaces.items():
        without = _without_pairs(inputs) if np.isnan(means["gold"]["generated_source_auc"][:, 0]).any() else ""
        for method, own in behind.items():
            scores += _rows(method, encoder, means, len(inputs.clients), behind, without)
            scores += _distinct(method, encoder, means[method]["generated_auc"], *own["author_accuracy"], counts)
    return scores_frame(scores)


def _behind(inputs: ScoreInputs, method: str) -> dict[str, tuple[int, int]]:
    """Return by measure how many outputs of a row are behind it, and of how many authors: an interval's clusters."""
    own, common = ([run for run in runs if run.method == method] for runs in (inputs.runs, inputs.common_runs))

    def counted(outputs: list[pd.DataFrame]) -> tuple[int, int]:
        return sum(map(len, outputs)), len({client for each in outputs for client in each["client"]})

    kept = counted([run.survivors for run in own])
    return {
        **dict.fromkeys(OWN_PROMPTS, kept),
        FAILURES_WRONG: counted([run.items for run in own]),
        "generated_source_auc": (kept[0], compared(np.any([rivals(inputs, run) for run in own], axis=0))),
        **dict.fromkeys(COMMON_PROMPTS, counted([run.survivors for run in common])),
    }


def measure_draws(inputs: ScoreInputs, encoder: str, run: Run, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return every measure of ``run`` in every draw of authors: arrays [draws]; NaN where it does not exist.

    ``counts`` [draws, clients] says how often each client was drawn. A draw of ones gives the value that the families
    ``prototypes`` and ``verification`` print.
    """
    vectors = inputs.vectors(encoder, run)
    generated = generated_pairs(vectors, run)
    source = source_pairs(vectors, run, inputs.sources(encoder, "gold", run.seed))
    left, other = inputs.places(generated.left), inputs.places(generated.right)
    return {
        **prototype_draws(inputs, encoder, run, counts),
        "generated_source_auc": auc_draws(source.scores, source.positive, inputs.places(source.left), counts),
        "generated_auc": pair_auc_draws(generated.scores, left, other, counts),
    }


def prototype_draws(inputs: ScoreInputs, encoder: str, run: Run, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return what prototypes say of ``run`` in every draw: arrays [draws], NaN where there are no outputs.

    That is author accuracy, target similarity and margin of the surviving outputs, and the accuracy over all outputs,
    where those that failed the filter are wrong.
    """
    found = run_figures(inputs, encoder, run)
    columns = {"author_accuracy": "correct", "target_similarity": "target", "author_margin": "margin"}
    values = {measure: found[column].to_numpy(dtype=np.float64) for measure, column in columns.items()}
    right = np.zeros(len(run.items))
    right[run.items["passed"].to_numpy()] = values["author_accuracy"]
    authors = inputs.places(run.survivors["client"])
    drawn = {measure: mean_draws(own, authors, counts) for measure, own in values.items()}
    return {**drawn, FAILURES_WRONG: mean_draws(right, inputs.places(run.items["client"]), counts)}


def author_losses(inputs: ScoreInputs, encoder: str) -> pd.DataFrame:
    """Return what every author loses of the margin to the others: own continuations minus outputs.

    Columns client, distance (1 - cosine between the author's prototype and the authors' mean), words (trained on; NaN
    without the clients' texts), and one per method: means over outputs of all seeds, NaN for an author without any.
    """
    prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
    centre = unit_rows(prototype.mean(axis=0, keepdims=True))[0]
    margin: dict[str, pd.Series] = {}
    for method in dict.fromkeys(run.method for run in inputs.runs):
        own = [run for run in inputs.runs if run.method == method and len(run.survivors)]
        parts = [run_figures(inputs, encoder, run)["margin"].set_axis(run.survivors["client"]) for run in own]
        if parts:
            margin[method] = pd.concat(parts).groupby(level=0).mean().reindex(inputs.clients)
    words = pd.Series(np.nan, index=inputs.clients)
    if inputs.client_texts is not None:
        count = document_words(inputs.words).count
        trained = inputs.client_texts.set_index("client")["training_text"].map(count)
        words = trained.groupby(level=0).sum().reindex(inputs.clients).astype(float)
    gold = margin.get("gold", pd.Series(np.nan, index=inputs.clients))
    losses = {method: (gold - own).to_numpy() for method, own in margin.items() if method not in CONTROLS}
    known = {"client": inputs.clients, "distance": 1.0 - prototype @ centre, "words": words.to_numpy()}
    return pd.DataFrame({**known, **losses})


def unequal_losses(inputs: ScoreInputs, encoder: str) -> pd.DataFrame:
    """Return by method how much more of its voice every author loses than the same share of it for all would be.

    An author's voice is the margin of its outputs less the mean margin, towards this author, of the other authors'
    outputs of the method: 0 in expectation where one voice writes for all, however far the author is from it. With v
    the voice in a method's outputs and h that in the author's own continuations, the loss is k h - v, k = sum of v /
    sum of h: 0 for everyone where a method keeps half of every voice. Authors without an output of both are NaN.
    """
    prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
    number = len(inputs.clients)
    voices = {}
    for method in dict.fromkeys(run.method for run in inputs.runs):
        own = [run for run in inputs.runs if run.method == method and len(run.survivors)]
        if not own:
            continue
        index = np.concatenate([inputs.places(run.survivors["client"]) for run in own])
        similarity = np.concatenate([inputs.vectors(encoder, run) for run in own]) @ prototype.T
        means, _ = author_means(similarity, index, number)  # of an author's outputs (rows) to each prototype
        others_sum = means.sum(axis=1, keepdims=True) - means
        towards = means - (others_sum / (number - 1) if number > 1 else np.nan)
        written = np.isfinite(towards).all(axis=1)
        rest = np.nansum(towards, axis=0) - np.nan_to_num(np.diag(towards))
        others = rest / np.maximum(written.sum() - written, 1)
        voices[method] = np.diag(towards) - others
    found: dict[str, object] = {"client": inputs.clients}
    human = voices.get("gold", np.full(number, np.nan))
    for method, voice in voices.items():
        if method not in CONTROLS:
            both = np.isfinite(voice) & np.isfinite(human)
            whole = human[both].sum()
            kept = voice[both].sum() / whole if whole else np.nan
            found[method] = kept * human - voice
    return pd.DataFrame(found)


def _losses(inputs: ScoreInputs, encoder: str, counts: np.ndarray) -> Iterator[Score]:
    places = drawn_authors(counts)
    losses, unequal = author_losses(inputs, encoder), unequal_losses(inputs, encoder)
    outputs = Counter((run.method, client) for run in inputs.runs for client in run.survivors["client"])
    texts = Counter(inputs.sources(encoder, "train").frame["client"])
    for client, distance in zip(losses["client"], losses["distance"], strict=True):
        yield Score(ALL_SEEDS, SOURCE, encoder, "distance_from_mean", client, float(distance), texts[client])
    for method in losses.columns.drop(["client", "distance", "words"]):
        for client, lost in zip(losses["client"], losses[method].astype(float), strict=True):
            note = "no output of this author passed the filter, or no human continuation"
            yield Score(ALL_SEEDS, method, encoder, "margin_lost", client, lost, outputs[method, client], note)
        for metric, cause in (("loss_with_distance", "distance"), ("loss_with_volume", "words")):
            found = np.column_stack([unequal[method], losses[cause]])
            known = np.isfinite(found).all(axis=1)
            drawn = (ranks(found[places, side]) for side in (0, 1))
            draws = correlate(*drawn) if known.all() else np.full(len(places), np.nan)
            if known.all() and np.abs(found[:, 0]).max() <= _EVEN and np.ptp(found[:, 1]) > 0:
                draws = np.zeros(len(places))  # no author loses more than another
            note = f"an author has no output or no {cause}, or all are alike"
            score = Score(ALL_SEEDS, method, encoder, metric, "", float(draws[0]), int(known.sum()), note)
            yield from (score, *score.ends(interval(draws, len(inputs.clients), CORRELATION, counts)))


def _without_pairs(inputs: ScoreInputs) -> str:
    """Return why human text has no generated-source AUC: one of its two kinds of pairs is missing in some seed."""
    for run in inputs.runs:
        found = run.survivors
        if run.method == "gold" and not (found.groupby("client").size() > 1).any():
            return ": no author has two human continuations of one seed"
    return ": in some seed no two authors share a topic"


def _rows(
    method: str,
    encoder: str,
    means: Mapping[str, Mapping[str, np.ndarray]],
    authors: int,
    behind: Mapping[str, Mapping[str, tuple[int, int]]],
    without: str,
) -> Iterator[Score]:
    shared = COMMON_PROMPTS if any("common_accuracy" in own for own in means.values()) else ()
    nothing = {"author_accuracy": 1.0 / authors, FAILURES_WRONG: 1.0 / authors}
    nothing |= {"generated_source_auc": 0.5, "author_margin": 0.0}
    for measure in (*OWN_PROMPTS, *shared):
        n, present = behind[method][measure]
        if measure == "common_accuracy":
            yield Score(ALL_SEEDS, method, encoder, f"kept_{measure}", "authors", float(present), n)
        end = COMMON_PROMPTS.get(measure, measure)
        ceiling, missing = means["gold"][end], np.full_like(means["gold"][end], np.nan)
        own, bounds = means[method].get(measure, missing), BOUNDS[end]
        of_ceiling = behind["gold"][end][1] if end == "generated_source_auc" else authors
        floors: dict[str, tuple[str, np.ndarray | float]] = {"": ("nothing", nothing[end])}
        if BASE in means:
            floors["over_base"] = "the base model", means[BASE].get(measure, missing)
        for variant, (named, floor) in floors.items():
            apart = f"own continuations and {named}"
            share = kept_share(own, floor, ceiling, present, bounds, apart, of_ceiling)
            note = share.reason or "no draw of authors has a value"
            if measure in COMMON_PROMPTS and method in CONTROLS:
                note = "people wrote no continuations of the common prompts"
            if measure == "generated_source_auc" and not np.isfinite(share.ceiling):
                note += without
            score = Score(ALL_SEEDS, method, encoder, f"kept_{measure}", variant, share.share, n, note)
            yield from (score, *score.ends((share.low, share.high)))
            if not variant:
                seen = replace(score, variant="score", value=share.score)
                yield from (seen, *seen.ends((share.score_low, share.score_high)))
                yield replace(score, variant="floor", value=share.floor)
                yield replace(score, variant="ceiling", value=share.ceiling)


def _distinct(
    method: str, encoder: str, draws: np.ndarray, n: int, authors: int, counts: np.ndarray
) -> Iterator[Score]:
    note = "needs two authors and an author with outputs of two prompts"
    score = Score(ALL_SEEDS, method, encoder, "distinct_auc", "", float(draws[:, 0].mean()), n, note)
    without = "no draw of authors has a value" if np.isfinite(score.value) else note
    yield from (score, *score.ends(interval(draws, authors, RATE, counts), without))
