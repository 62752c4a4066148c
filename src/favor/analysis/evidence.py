"""Paired differences between all rows of an experiment, over authors: intervals by one bootstrap, p by signs.

Where the tables of paired tests compare the pairs that the paper chose, this compares every pair, so that a mark in a
table and an interval in a figure rest on a test of the printed means.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from favor.analysis.schemas import EVIDENCE
from favor.scores import assistant, prototypes, utility, verification
from favor.scores.inputs import OUTPUT_KEYS, Run, ScoreInputs
from favor.scores.metric import UNSEEN
from favor.scores.voice_kept import FAILURES_WRONG, measure_draws
from favor.statistics.bootstrap import (
    eer_draws,
    macro_f1_draws,
    mean_draws,
    mean_over_seeds,
    observed_and_resampled,
    standard_error,
)
from favor.statistics.differences import compare, effective_number
from favor.statistics.sign_flips import linear_shares

_DECLARED = {
    metric.name: metric
    for metrics in (prototypes.METRICS, verification.METRICS, utility.METRICS, assistant.METRICS)
    for metric in metrics
}
_DECLARED[FAILURES_WRONG] = _DECLARED["author_accuracy"]
Measure = tuple[str, str]  # encoder ("" for none), metric


def all_pairs(inputs: ScoreInputs, seed: int, draws: int) -> pd.DataFrame:
    """Return the table ``evidence``: every pair of rows and controls, in every metric that both have a value of.

    A value is the mean over a row's seeds, as tables print it; a difference is over the seeds in which both have one.
    A draw takes authors with replacement, who bring their outputs of all seeds, and is the same for every row: that
    pairs them. ``seed`` and ``draws``: of the bootstrap, and ``seed`` of the patterns of signs, too. The mean accuracy
    over ``inputs.unseen`` is compared too, as the encoder ``UNSEEN``.
    """
    counts = observed_and_resampled(len(inputs.clients), seed, draws)
    values: dict[Measure, dict[str, dict[int, np.ndarray]]] = {}  # measure -> method -> seed -> draws
    survivors: dict[tuple[str, int], np.ndarray] = {}  # of a run: outputs of every author
    written: dict[tuple[str, int], np.ndarray] = {}
    near = {(run.method, run.seed): verification.rivals(inputs, run) for run in inputs.runs}
    for run in inputs.runs:
        for counted, items in ((survivors, run.survivors), (written, run.items)):
            counted[run.method, run.seed] = np.bincount(inputs.places(items["client"]), minlength=len(inputs.clients))
        for measure, drawn in _run_draws(inputs, run, counts):
            if np.isfinite(drawn[0]):
                values.setdefault(measure, {}).setdefault(run.method, {})[run.seed] = drawn
    for method, seeds in values.get((next(iter(inputs.unseen), ""), FAILURES_WRONG), {}).items():
        spaces = [values[encoder, FAILURES_WRONG][method] for encoder in inputs.unseen]
        mean = {one: np.mean([space[one] for space in spaces], axis=0) for one in seeds}
        values.setdefault((UNSEEN, FAILURES_WRONG), {})[method] = mean
    records = []
    for (encoder, metric), by_method in sorted(values.items()):
        declared = _DECLARED[metric]
        outputs = written if metric == FAILURES_WRONG else survivors
        for left, right in combinations(by_method, 2):
            common = [one for one in by_method[left] if one in by_method[right]]
            if not common:
                continue
            first, second = (np.stack([by_method[method][one] for one in common]) for method in (left, right))
            numbers = [np.sum([outputs[method, one] for one in common], axis=0) for method in (left, right)]
            both = numbers[0] + numbers[1]
            differences = first - second
            shares = linear_shares(mean_over_seeds(differences), counts, both)
            both = np.where((numbers[0] > 0) & (numbers[1] > 0), both, 0)
            higher, span = declared.direction != "lower", declared.maximum - declared.minimum
            least = 0.0
            if metric.startswith("generated_source"):
                met = np.any([near[method, one] for method in (left, right) for one in common], axis=0)
                least = verification.least_p_of_differences(met)
            result = compare(first, second, both, counts, shares, seed, higher, span, least)
            error = standard_error(differences, effective_number(both), counts)
            apart = differences[:, 0] * (1.0 if higher else -1.0)
            means = [float(np.mean([drawn[0] for drawn in by_method[each].values()])) for each in (left, right)]
            printed = replace(result, left=means[0], right=means[1])  # over all of their seeds, as tables have it
            records.append((encoder, metric, left, right, *vars(printed).values(), error, apart))
    return pd.DataFrame(records, columns=EVIDENCE.names)


def _run_draws(inputs: ScoreInputs, run: Run, counts: np.ndarray) -> Iterator[tuple[Measure, np.ndarray]]:
    """Yield every measure of one run with its value in every draw of authors, the data itself first."""
    survivors = run.survivors
    if survivors.empty:  # every output is a wrong one
        yield from (((encoder, FAILURES_WRONG), np.zeros(len(counts))) for encoder in inputs.encoders)
        return
    places = inputs.places(survivors["client"])
    for encoder in inputs.encoders:
        for metric, drawn in measure_draws(inputs, encoder, run, counts).items():
            yield (encoder, metric), drawn
        guesses = inputs.places(prototypes.run_figures(inputs, encoder, run)["predicted"])
        yield (encoder, "author_macro_f1"), macro_f1_draws(places, guesses, counts)
        source = verification.source_pairs(inputs.vectors(encoder, run), run, inputs.sources(encoder, "gold", run.seed))
        left = inputs.places(source.left)
        yield (encoder, "generated_source_eer"), eer_draws(source.scores, source.positive, left, counts)
    for metric, numbers in _output_numbers(inputs, run):
        yield ("", metric), mean_draws(numbers, places, counts)


def _output_numbers(inputs: ScoreInputs, run: Run) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (metric, value of every surviving output) of what needs no space."""
    survivors = run.survivors
    if inputs.utility is not None:
        table = inputs.utility[(inputs.utility["seed"] == run.seed) & (inputs.utility["method"] == run.method)]
        rows = survivors[OUTPUT_KEYS].merge(table, on=OUTPUT_KEYS, how="left")
        for metric in utility.METRICS:
            # A human continuation is compared with itself.
            own = np.ones(len(survivors)) if run.method == "gold" else rows[metric.name].to_numpy(dtype=float)
            yield metric.name, own
    if inputs.assistant is not None:
        yield "assistant_score", assistant.output_scores(inputs.assistant, run, survivors).to_numpy(dtype=float)
