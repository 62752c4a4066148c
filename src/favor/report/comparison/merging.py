"""Two groups' numbers in one table, and paired differences of the methods that both have."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from favor.analysis.schemas import GROUP_DIFFERENCES, GROUP_OUTPUTS, GROUP_ROWS
from favor.foundation.errors import UserError
from favor.report.comparison.reading import Group, protocol_digest
from favor.report.comparison.shared import PASS_RATE, REFERENCE
from favor.report.content import flat_settings
from favor.scores.metric import UNSEEN
from favor.scores.voice_kept import FAILURES_WRONG
from favor.statistics.bootstrap import RATE, interval, mean_draws, observed_and_resampled, seed_draws
from favor.statistics.differences import compare
from favor.statistics.paired import holm
from favor.statistics.sign_flips import author_sums, least_p

RUNS = ("A", "B")
KEYS = ["seed", "author", "prompt", "sample"]  # of an output, in both runs
MEASURE = ["method", "encoder", "metric"]
# Cosines of one text by one encoder: other machines and bfloat16 move them by less, other weights by more.
TOLERANCE = 0.005
_RATES = (PASS_RATE, FAILURES_WRONG, "author_accuracy")


@dataclass(frozen=True)
class Merged:
    """Two groups in one: ``rows`` and ``differences`` are the tables of these names.

    judge: the encoder of the tested measure, ``UNSEEN`` or, where every encoder is seen by a group, the first one.
    least: the smallest p that so many authors can show.
    apart: (setting, value in A, value in B) of what differs outside the protocol.
    """

    groups: tuple[Group, Group]
    digest: str
    judge: str
    rows: pd.DataFrame
    differences: pd.DataFrame
    least: float
    apart: Sequence[tuple[str, str, str]]


def merge(left: Group, right: Group) -> Merged:
    """Merge two groups. Raises ``UserError`` in one line where their protocols or their encoders differ."""
    if different := _different(left.protocol, right.protocol):
        shown = "; ".join(f"{key}: {first} in A, {second} in B" for key, first, second in different)
        remedy = (
            "; '--encoders' compares by those that both have" if "encoders" in {key for key, _, _ in different} else ""
        )
        raise UserError(
            f"A ({left.name}, protocol {protocol_digest(left)}) and B ({right.name}, {protocol_digest(right)}) cannot "
            f"be compared: {shown}{remedy}"
        )
    _same_encoders(left, right)
    bootstrap = left.protocol["evaluation"]["bootstrap"]
    judges = [name for name in left.protocol["encoders"] if name not in (*left.seen, *right.seen)]
    outputs = [_with_judges(group.outputs, judges) for group in (left, right)]
    judge = UNSEEN if judges else min(left.protocol["encoders"])
    both = ({*left.outputs["method"]} & {*right.outputs["method"]}) - {REFERENCE}
    seeds = left.protocol["seeds"]
    rows = pd.concat([_rows(own, bootstrap, seeds).assign(run=run) for run, own in zip(RUNS, outputs, strict=True)])
    differences = _differences(outputs[0], outputs[1], both, bootstrap)
    tested = (differences["encoder"] == judge) & (differences["metric"] == FAILURES_WRONG)
    differences["p"] = differences["p"].where(tested)
    differences["p_holm"] = holm(differences["p"].to_numpy(dtype=float))
    authors = left.outputs["author"].nunique()
    return Merged(
        (left, right),
        protocol_digest(left),
        judge,
        rows.assign(paired=rows["method"].isin(both))[GROUP_ROWS.names],
        differences[GROUP_DIFFERENCES.names],
        least_p(authors),
        _different(left.settings, right.settings),
    )


def _different(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (dotted key, value, other value) of settings that differ; methods that one side lacks are left out."""
    first, second = dict(flat_settings(left)), dict(flat_settings(right))
    alone = {*left.get("methods", {})} ^ {*right.get("methods", {})}
    found = [(key, first.get(key, "not set"), second.get(key, "not set")) for key in sorted({*first, *second})]
    of_one = tuple(f"methods.{method}." for method in alone)
    return [(key, one, other) for key, one, other in found if one != other and not key.startswith(of_one)]


def _same_encoders(left: Group, right: Group) -> None:
    """Refuse encoders that do not see the same in the authors' own continuations: other weights, or other settings."""
    own = [group.outputs[group.outputs["method"] == REFERENCE] for group in (left, right)]
    found = own[0].merge(own[1], on=[*KEYS, "encoder", "metric"], suffixes=("_a", "_b"))
    found = found[found["metric"] == "target_similarity"]
    apart = (found["value_a"] - found["value_b"]).abs() > TOLERANCE
    differing = found[apart.to_numpy()]["encoder"].unique()
    if len(differing):
        means = found.groupby("encoder")[["value_a", "value_b"]].mean()
        shown = "; ".join(
            f"encoders.{name}: mean similarity of the authors' own continuations {means['value_a'][name]:.4f} in A, "
            f"{means['value_b'][name]:.4f} in B"
            for name in differing
        )
        raise UserError(
            f"A ({left.name}) and B ({right.name}) were measured by encoders of other weights or settings: {shown}; "
            "take the other group's encoders, or name those that are equal with '--encoders'"
        )


def _with_judges(outputs: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    own = outputs[outputs["encoder"].isin(judges) & (outputs["metric"] == FAILURES_WRONG)]
    mean = own.groupby(["method", *KEYS], as_index=False)["value"].mean()
    return pd.concat([outputs, mean.assign(encoder=UNSEEN, metric=FAILURES_WRONG)[GROUP_OUTPUTS.names]])


def _rows(outputs: pd.DataFrame, bootstrap: Mapping[str, int], expected: Sequence[int]) -> pd.DataFrame:
    """Return the table ``group_rows``, less run and paired; no row of a measure without a value in a seed."""
    authors, place = np.unique(outputs["author"].to_numpy(dtype=str), return_inverse=True)
    counts = observed_and_resampled(len(authors), bootstrap["seed"], bootstrap["draws"])
    records = []
    for key, own in outputs.assign(place=place).groupby(MEASURE):
        seeds = [rows for _, rows in own.groupby("seed")]
        if len(seeds) < len(expected):
            continue
        drawn = np.stack([mean_draws(rows["value"].to_numpy(), rows["place"].to_numpy(), counts) for rows in seeds])
        present = own["place"].nunique()
        low, high = interval(drawn, present, RATE if key[2] in _RATES else None)
        records.append((*key, float(drawn[:, 0].mean()), low, high, len(own), present))
    return pd.DataFrame(records, columns=[*MEASURE, "value", "low", "high", "n", "authors"])


def _differences(
    left: pd.DataFrame, right: pd.DataFrame, methods: set[str], bootstrap: Mapping[str, int]
) -> pd.DataFrame:
    """Return A minus B for every method of both and every measure, over the outputs that both have a value of."""
    shared = left[left["method"].isin(methods)].merge(right, on=[*MEASURE, *KEYS], suffixes=("_a", "_b"))
    records = list(_compared(shared.sort_values([*MEASURE, *KEYS]), bootstrap))
    return pd.DataFrame(records, columns=[name for name in GROUP_DIFFERENCES.names if name != "p_holm"])


def _compared(shared: pd.DataFrame, bootstrap: Mapping[str, int]) -> Iterator[tuple[Any, ...]]:
    seed, draws = bootstrap["seed"], bootstrap["draws"]
    for key, own in shared.groupby(MEASURE):
        authors, index = np.unique(own["author"].to_numpy(dtype=str), return_inverse=True)
        number = len(authors)
        counts = observed_and_resampled(number, seed, draws)
        first, second = (own[f"value_{side}"].to_numpy(dtype=np.float64) for side in ("a", "b"))
        left, right = (seed_draws(side, index, counts, own["seed"].to_numpy()) for side in (first, second))
        shares, weights = author_sums(first - second, index, number), np.bincount(index)
        result = compare(left, right, weights, counts, shares, seed, span=1.0 if key[2] in _RATES else math.inf)
        values = (result.left, result.right, result.delta, result.low, result.high, result.p)
        yield (*key, *values, len(own), number)
