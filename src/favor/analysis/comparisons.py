"""Paired comparisons of two methods on the outputs that survive in both, matched by seed, author and prompt.

One resample matrix serves every metric of a comparison. Clusters are authors, who hold their outputs of all seeds
together, and beside them seed-author pairs, as the paper prints them. Those treat an author's seeds as independent,
and where they are not they find differences where there is none, so that Holm's correction rests on authors.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from favor.analysis.schemas import COMPARISONS
from favor.foundation.errors import UserError
from favor.scores import assistant, cold_start, prototypes, utility, verification
from favor.scores.inputs import OUTPUT_KEYS, Run, ScoreInputs
from favor.scores.verification import Pairs, least_p_of_differences, rivals, source_pairs
from favor.statistics.bootstrap import (
    DRAWS,
    around,
    auc_draws,
    eer_draws,
    mean_draws,
    mean_over_seeds,
    observed_and_resampled,
)
from favor.statistics.differences import Comparison, compare
from favor.statistics.paired import holm, mcnemar_exact, wilcoxon_signed_rank
from favor.statistics.sign_flips import author_sums, linear_shares

Clusters = Literal["seed-author", "author"]
# Each by its name, so that the code behind these tests holds what the families declare and not how they score.
_FAMILIES = (prototypes.METRICS, utility.METRICS, assistant.METRICS, cold_start.METRICS, verification.METRICS)
_DECLARED = {metric.name: metric for metrics in _FAMILIES for metric in metrics}
OUTPUT_METRICS = tuple(name for name, metric in _DECLARED.items() if metric.per_output)
_NOTHING = Comparison(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
VERIFICATION_DRAWS = {"generated_source_auc": auc_draws, "generated_source_eer": eer_draws}


@dataclass(frozen=True)
class _Matched:
    """The outputs of one method and seed that survive in the other method too; ``keep`` masks the run's survivors."""

    run: Run
    keep: np.ndarray

    @property
    def kept(self) -> Run:
        """The run with these outputs alone."""
        return Run(self.run.seed, self.run.method, self.run.survivors[self.keep].reset_index(drop=True))


def output_figures(inputs: ScoreInputs, run: Run, encoder: str) -> pd.DataFrame:
    """One row per surviving output: client, prompt_id, sample, and a column per metric of ``OUTPUT_METRICS``.

    Those that the experiment has: some need an assistant classifier, or texts set aside for prototypes.
    """
    found = prototypes.run_figures(inputs, encoder, run)
    figures = run.survivors[OUTPUT_KEYS].reset_index(drop=True)
    figures = figures.assign(
        author_accuracy=found["correct"].astype(float),
        top1_cosine=found["top1"],
        target_similarity=found["target"],
        author_margin=found["margin"],
    )
    if cold_start.has_references(inputs, encoder):
        found = prototypes.run_figures(inputs, encoder, run, "reference")
        figures = figures.assign(fixed_accuracy=found["correct"].astype(float), fixed_margin=found["margin"])
    if inputs.utility is None:
        raise UserError("paired comparisons need the utility table; make it first")
    for table in (inputs.utility, inputs.assistant):
        if table is not None:
            rows = table[(table["seed"] == run.seed) & (table["method"] == run.method)].drop(columns=["seed", "method"])
            figures = figures.merge(rows, on=OUTPUT_KEYS, validate="one_to_one")
    return figures


def compare_methods(
    inputs: ScoreInputs,
    pairs: Sequence[tuple[str, str]],
    metrics: Mapping[str, Sequence[str]],
    exact: Sequence[str],
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Return the table ``comparisons``: every pair of methods, metric and encoder, under both kinds of clusters.

    ``metrics`` names the encoders that each metric is taken in (per-output metrics without a space of their own take
    the one their outputs are matched in). ``exact``: metrics whose printed p is McNemar's or Wilcoxon's, over outputs,
    instead of the sign-flip test's, over clusters. Holm's correction runs over the p of all rows whose clusters are
    authors: the family of tests that one table prints. A pair without a common surviving output is kept, with a note.
    """
    known = (*OUTPUT_METRICS, *VERIFICATION_DRAWS)
    unknown = sorted(set(metrics) - set(known))
    if unknown:
        raise UserError(f"comparisons: metric '{unknown[0]}' cannot be paired; choose from {', '.join(known)}")
    metrics = {metric: encoders for metric, encoders in metrics.items() if encoders}
    tables = [
        _compare_pair(inputs, left, right, metrics, clusters, seed, draws)
        for left, right in (pairs if metrics else ())
        for clusters in get_args(Clusters)
    ]
    table = pd.concat(tables, ignore_index=True) if tables else COMPARISONS.empty()
    table["test"] = np.where(table["metric"].isin(list(exact)), "exact", "sign_flip")
    # An exact test over outputs (McNemar, Wilcoxon) takes an author's outputs as independent, too.
    tested = table["p"].where(table["clusters"] == "author")
    table["p_holm"] = holm(tested.to_numpy(dtype=float))
    return table[COMPARISONS.names]


def _compare_pair(
    inputs: ScoreInputs,
    left: str,
    right: str,
    metrics: Mapping[str, Sequence[str]],
    clusters: Clusters,
    seed: int,
    draws: int,
) -> pd.DataFrame:
    if not any(first.keep.any() for first, _ in _common(inputs, left, right)):
        none = {"p_exact": math.nan, "n": 0, "pairs": 0, "cluster_count": 0}
        note = "no output survives in both methods"
        return pd.DataFrame(
            _row((left, right), encoder, metric, clusters, _NOTHING, **none, note=note)
            for metric, encoders in metrics.items()
            for encoder in encoders
        )
    outputs = sorted({encoder for metric in metrics if metric in OUTPUT_METRICS for encoder in metrics[metric]})
    found = [compare_outputs(inputs, left, right, encoder, seed, clusters, draws) for encoder in outputs]
    spaces = sorted({encoder for metric in metrics if metric in VERIFICATION_DRAWS for encoder in metrics[metric]})
    found.append(compare_verification(inputs, left, right, spaces, seed, clusters, draws))
    table = pd.concat([part for part in found if len(part)], ignore_index=True)
    wanted = [
        encoder in metrics.get(metric, ()) for encoder, metric in zip(table["encoder"], table["metric"], strict=True)
    ]
    return table[wanted]


def compare_outputs(
    inputs: ScoreInputs,
    left: str,
    right: str,
    encoder: str,
    seed: int,
    clusters: Clusters = "seed-author",
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Compare per-output metrics; accuracy and cosines in the space of ``encoder``. ``seed`` names the resamples."""
    frames = []
    for pair in _common(inputs, left, right):
        sides = [output_figures(inputs, side.run, encoder)[side.keep] for side in pair]
        frames.append(sides[0].merge(sides[1], on=OUTPUT_KEYS).assign(seed=pair[0].run.seed))
    table = pd.concat(frames, ignore_index=True)
    labels, index = np.unique(_cluster(table["seed"], table["client"], clusters), return_inverse=True)
    number, seeds = len(labels), table["seed"].to_numpy()
    counts = observed_and_resampled(number, seed, draws)
    rows = []
    for metric in (name for name in OUTPUT_METRICS if f"{name}_x" in table.columns):
        first, second = (table[f"{metric}_{side}"].to_numpy(dtype=np.float64) for side in ("x", "y"))
        drawn = [_drawn(mean_draws, (side, index), counts, seeds, clusters) for side in (first, second)]
        shares, weights = author_sums(first - second, index, number), np.bincount(index, minlength=number)
        result = compare(drawn[0], drawn[1], weights, counts, shares, seed, *_scale(metric))
        if _DECLARED[metric].per_output == "binary":
            exact = mcnemar_exact(first == 1.0, second == 1.0)
        else:
            exact = wilcoxon_signed_rank(first, second)
        counted = {"p_exact": exact, "n": len(table), "pairs": 0, "cluster_count": number}
        rows.append(_row((left, right), encoder, metric, clusters, result, **counted))
    return pd.DataFrame(rows)


def compare_verification(
    inputs: ScoreInputs,
    left: str,
    right: str,
    encoders: Sequence[str],
    seed: int,
    clusters: Clusters = "seed-author",
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Compare generated-source AUC and EER (same-topic negatives) over all seeds' pairs, in every encoder.

    A pair belongs to the cluster of its generated text, and a cluster weighs by its outputs.
    """
    matched = _common(inputs, left, right)
    kept = [first.kept for first, _ in matched]
    clients = pd.concat([run.survivors["client"] for run in kept])
    n, seeds = len(clients), np.repeat([run.seed for run in kept], [len(run.survivors) for run in kept])
    outputs = pd.Series(_cluster(seeds, clients, clusters)).value_counts()
    least = least_p_of_differences(np.any([rivals(inputs, run) for run in kept], axis=0))
    rows = []
    for encoder in encoders:
        sides = []
        for side in (0, 1):
            parts = [(pair[side].run.seed, _pairs(inputs, pair[side], encoder)) for pair in matched]
            columns = ((own.scores, own.positive, np.full(len(own), run_seed), own.left) for run_seed, own in parts)
            sides.append(tuple(map(np.concatenate, zip(*columns, strict=True))))
        labels, index = np.unique(_cluster(sides[0][2], sides[0][3], clusters), return_inverse=True)
        number = len(labels)
        if not number:
            none = {"p_exact": math.nan, "n": n, "pairs": 0, "cluster_count": 0}
            rows += [_row((left, right), encoder, metric, clusters, _NOTHING, **none) for metric in VERIFICATION_DRAWS]
            continue
        other = np.unique(_cluster(sides[1][2], sides[1][3], clusters), return_inverse=True)[1]
        counts, weights = observed_and_resampled(number, seed, draws), outputs[labels].to_numpy()
        for metric, statistic in VERIFICATION_DRAWS.items():
            first, second = (
                _drawn(statistic, (*side[:2], own), counts, side[2], clusters)
                for side, own in zip(sides, (index, other), strict=True)
            )
            shares = linear_shares(mean_over_seeds(first) - mean_over_seeds(second), counts, weights)
            result = compare(first, second, weights, counts, shares, seed, *_scale(metric), least)
            counted = {"p_exact": math.nan, "n": n, "pairs": len(sides[0][0]), "cluster_count": number}
            rows.append(_row((left, right), encoder, metric, clusters, result, **counted))
    return pd.DataFrame(rows)


def _drawn(
    statistic: Callable[..., np.ndarray],
    columns: Sequence[np.ndarray],
    counts: np.ndarray,
    seeds: np.ndarray,
    clusters: Clusters,
) -> np.ndarray:
    """Return a statistic of ``columns`` in every draw; by seed where an author's seeds are drawn together."""
    pooled = statistic(*columns, counts)
    if clusters == "seed-author":
        return pooled
    each = (seeds == one for one in np.unique(seeds))
    return around(pooled, (statistic(*(column[rows] for column in columns), counts) for rows in each))


def _scale(metric: str) -> tuple[bool, float]:
    """Return whether higher values of a metric are better, and how far apart its ends are."""
    declared = _DECLARED[metric]
    return declared.direction != "lower", declared.maximum - declared.minimum


def _common(inputs: ScoreInputs, left: str, right: str) -> list[tuple[_Matched, _Matched]]:
    runs = {(run.seed, run.method): run for run in inputs.runs}
    seeds = sorted(seed for seed, method in runs if method == left and (seed, right) in runs)
    if not seeds:
        raise UserError(f"no seed has runs of both '{left}' and '{right}'; run both under one seed")
    matched = []
    for seed in seeds:
        pair = runs[seed, left], runs[seed, right]
        found = [pd.MultiIndex.from_frame(run.survivors[OUTPUT_KEYS]) for run in pair]
        common = found[0].intersection(found[1])
        first, second = (_Matched(run, keys.isin(common)) for run, keys in zip(pair, found, strict=True))
        matched.append((first, second))
    return matched


def _pairs(inputs: ScoreInputs, side: _Matched, encoder: str) -> Pairs:
    gold = inputs.sources(encoder, "gold", side.run.seed)
    return source_pairs(inputs.vectors(encoder, side.run)[side.keep], side.kept, gold)


def _cluster(seeds: Iterable[int], clients: Iterable[str], clusters: Clusters) -> list[str]:
    """Return the name of each output's or pair's cluster."""
    return [
        str(client) if clusters == "author" else f"{seed}\t{client}"
        for seed, client in zip(seeds, clients, strict=True)
    ]


def _row(
    pair: tuple[str, str], encoder: str, metric: str, clusters: str, result: Comparison, **counted: float | str
) -> dict[str, object]:
    """Return a row of the table ``comparisons``, but for what its tests share.

    ``counted``: p_exact, n (matched outputs), pairs (verification pairs of the left method) and cluster_count.
    """
    known = not math.isnan(result.left) and not math.isnan(result.right)
    names = {"left_method": pair[0], "right_method": pair[1], "encoder": encoder, "metric": metric}
    note = "" if known else "no pairs of both classes among the matched outputs"
    return {**names, "clusters": clusters, **asdict(result), "note": note, **counted}
