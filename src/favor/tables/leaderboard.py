"""All rows of an experiment in one order, and how sure that order is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from favor.paper.names import CONTROLS, method_name
from favor.statistics.paired import holm
from favor.tables.cells import DASH, printed, without_value
from favor.tables.escape import minus
from favor.tables.marks import LEVEL

HEADLINE = "author_accuracy"
BESIDE = {"generated_auc": "Verif. AUC"}
LEADERBOARD = (
    "All rows, by author accuracy in the style space. Voice kept: 0 is a voice that is nobody's (accuracy "
    "1 / authors), 1 the author's own, with a 95 % interval over authors. The last column compares with the row marked "
    "best: lower, or open where the Holm-adjusted p over the rows does not tell the two apart."
)


def subject(methods: Sequence[str]) -> str:
    """Return the row that is compared with all others: FAVoR, or else the first."""
    return "favor" if "favor" in methods else methods[0]


def differences(evidence: pd.DataFrame, encoder: str, metric: str, left: str) -> pd.DataFrame:
    """Return columns rival, delta, low, high, p, p_holm: ``left`` minus each other method, Holm over them.

    ``evidence``: the table of that name. Controls are not rivals.
    """
    own = evidence[(evidence["encoder"] == encoder) & (evidence["metric"] == metric)]
    records = []
    for row in own.to_dict("records"):
        if row["left_method"] == left and row["right_method"] not in CONTROLS:
            records.append((row["right_method"], row["delta"], row["low"], row["high"], row["p"]))
        if row["right_method"] == left and row["left_method"] not in CONTROLS:
            records.append((row["left_method"], -row["delta"], -row["high"], -row["low"], row["p"]))
    found = pd.DataFrame(records, columns=["rival", "delta", "low", "high", "p"])
    return found.assign(p_holm=holm(found["p"].to_numpy(dtype=float)))


def means(evidence: pd.DataFrame, encoder: str, metric: str) -> dict[str, float]:
    """Return the mean over seeds of every method and control that has one."""
    own = evidence[(evidence["encoder"] == encoder) & (evidence["metric"] == metric)]
    return dict(zip(own["left_method"], own["left"], strict=True)) | dict(
        zip(own["right_method"], own["right"], strict=True)
    )


def leaderboard(
    evidence: pd.DataFrame,
    kept: pd.DataFrame | None,
    encoder: str,
    methods: Sequence[str],
    clients: int,
    display: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return every row, printable: best first, the references and chance in their places.

    ``kept``: scores of the family voice_kept, or None where the experiment has none; they bring intervals.
    """
    values = {
        name: value for name, value in means(evidence, encoder, HEADLINE).items() if name in (*methods, *CONTROLS)
    }
    best = max((name for name in values if name not in CONTROLS), key=lambda name: values[name], default="")
    tested = differences(evidence, encoder, HEADLINE, best).set_index("rival")["p_holm"]
    others = {metric: means(evidence, encoder, metric) for metric in BESIDE}
    rows = []
    for name in sorted(values, key=lambda each: -values[each]):
        against = "best" if name == best else DASH
        if name not in CONTROLS and name != best:
            p = float(tested.get(name, np.nan))
            against = f"{'lower' if p < LEVEL else 'open'}, p {_p(p)}"
        rows.append(
            {
                "Row": method_name(name, display),
                "Voice kept": _share(kept, name, encoder),
                "Author accuracy": minus(printed(values[name], 3)),
                **{title: _printed(others[metric].get(name)) for metric, title in BESIDE.items()},
                "Against the best": against,
                "value": values[name],
            }
        )
    if clients:
        chance = {"Row": "Reference: chance", "Voice kept": DASH, "Author accuracy": printed(1 / clients, 3)}
        halves = dict.fromkeys(BESIDE.values(), "0.500")
        rows.append({**chance, **halves, "Against the best": DASH, "value": 1 / clients})
    made = pd.DataFrame(rows).sort_values("value", ascending=False, kind="stable").drop(columns="value")
    return made.reset_index(drop=True) if kept is not None else made.drop(columns="Voice kept").reset_index(drop=True)


def finding(
    evidence: pd.DataFrame,
    encoder: str,
    methods: Sequence[str],
    references: Sequence[str],
    display: Mapping[str, str] | None = None,
) -> str:
    """Return the headline with its uncertainty, in two sentences."""
    values = {name: value for name, value in means(evidence, encoder, HEADLINE).items() if name in methods}
    first = subject(methods)
    if first not in values or len(values) < 2:
        silent = [method_name(each, display) for each in methods if each not in values]
        if not silent:
            return f"{method_name(first, display)} is the only row, so nothing can be compared."
        which = "any row" if len(silent) == len(methods) else ", ".join(silent)
        return f"No output of {which} passed the filter, so nothing can be compared{' with it' * (len(values) > 1)}."
    tested = differences(evidence, encoder, HEADLINE, first).set_index("rival")
    sentences = []
    own, name = values[first], method_name(first, display)
    # An ablation of the row is not a rival, a reference does not federate.
    rivals = [each for each in values if not f"{each}_".startswith(f"{first}_") and each not in references]
    if rivals:
        rival = max(rivals, key=lambda each: values[each])
        row: Any = tested.loc[rival]
        low, high = (minus(printed(row[end], 3)) for end in ("low", "high"))
        verdict = "a difference" if row["p_holm"] < LEVEL else "not distinguishable"
        sentences.append(
            f"{name} reaches an author accuracy of {own:.3f}; the best other federated row, "
            f"{method_name(rival, display)}, {values[rival]:.3f}: {minus(printed(row['delta'], 3, signed=True))} "
            f"[{low}, {high}], Holm p {_p(row['p_holm'])}, {verdict}."
        )
    better = [each for each in values if each != first and tested["p_holm"].get(each, 1.0) < LEVEL]
    won = sum(values[each] < own for each in better)
    even = len(values) - 1 - len(better)
    sentences.append(
        f"Against {name}, of {len(values) - 1} other rows {won} are lower, {len(better) - won} higher and {even} not "
        "distinguishable (sign-flip test over authors, Holm)."
    )
    return " ".join(sentences)


def _share(kept: pd.DataFrame | None, name: str, encoder: str) -> str:
    if kept is None:
        return DASH
    own = kept[(kept["method"] == name) & (kept["encoder"] == encoder) & (kept["metric"] == f"kept_{HEADLINE}")]
    values = own.set_index("variant")["value"]
    if not {"", "low", "high"} <= set(values.index):
        return DASH
    if values[["", "low", "high"]].isna().any():
        return without_value(str(own.loc[own["variant"] == "", "note"].iloc[0]))
    share, low, high = (minus(printed(float(values[variant]), 2)) for variant in ("", "low", "high"))
    return f"{share} [{low}, {high}]"


def _printed(value: float | None) -> str:
    return DASH if value is None else minus(printed(value, 3))


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"= {value:.3f}".replace("0.", ".", 1)
