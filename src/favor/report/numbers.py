"""The numbers of the paper's running text: the same formula on our table cells and on the paper's, side by side.

Ours are read from the printed tables (``table_cells``), so a number and its table cannot disagree. What
stands in no table (allocation, slopes, gates) is measured from the workflow's own files; there the paper's number is
the one it prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from favor.report.names import METHODS
from favor.report.paper import load_paper_values
from favor.report.paper_source import SECTIONED
from favor.report.preparation import gini

Values = Mapping[tuple[str, str], float]  # (row, column) -> value, cells without one left out
FAVOR = METHODS["favor"]
K100 = "k100-scale-stress"
BASELINES = tuple(METHODS[key].removesuffix("†") for key in ("fedavg", "fedprox", "pfedme", "ditto", "feddpa"))


@dataclass(frozen=True)
class Number:
    """One number: its key, what it is, where the paper says it, and how it comes from a table's cells.

    ``formula`` returns (value, which row was chosen or ""); it raises ``KeyError`` for a cell that is not there.
    """

    key: str
    what: str
    where: str
    table: str
    formula: Callable[[Values], tuple[float, str]]


def _cell(row: str, column: str) -> Callable[[Values], tuple[float, str]]:
    return lambda values: (values[row, column], "")


def _gain(column: str, lower: bool = False, relative: bool = False) -> Callable[[Values], tuple[float, str]]:
    """FAVoR against the best collaborative baseline that has a value, positive where FAVoR is better."""

    def formula(values: Values) -> tuple[float, str]:
        rivals = {row: values[row, column] for row in BASELINES if (row, column) in values}
        if not rivals:
            raise KeyError("a collaborative baseline", column)
        best = (min if lower else max)(rivals, key=lambda row: rivals[row])
        gain = (rivals[best] - values[FAVOR, column]) if lower else (values[FAVOR, column] - rivals[best])
        return (gain / rivals[best] if relative else gain), best

    return formula


def _recovered(row: str, column: str, base: str, whole: str) -> Callable[[Values], tuple[float, str]]:
    """The share of the way from row ``base`` to row ``whole`` that ``row`` goes."""

    def formula(values: Values) -> tuple[float, str]:
        way = values[whole, column] - values[base, column]
        return (values[row, column] - values[base, column]) / way if way else math.nan, ""

    return formula


def _declared() -> tuple[Number, ...]:
    main = "main_federated_results"
    text = "abstract; Main results, L538"
    numbers = []
    for key, column, lower in (
        ("author_accuracy", "Author Acc.", False),
        ("macro_f1", "Macro-F1", False),
        ("verification_auc", "Verif. AUC", False),
        ("verification_eer", "EER", True),
        ("bertscore", "BERTScore", False),
        ("semantic_similarity", "SemSim", False),
    ):
        sign = " (positive: lower error)" if lower else ""
        what = f"{column}: FAVoR minus the best collaborative baseline{sign}"
        numbers.append(Number(f"{key}_gain", what, text, main, _gain(column, lower)))
        relative = f"{column}: that difference over the baseline's value"
        numbers.append(Number(f"{key}_relative_gain", relative, text, main, _gain(column, lower, relative=True)))
    for key, column, lower in (
        ("styledistance_auc", "StyleDist AUC", False),
        ("styledistance_eer", "StyleDist EER", True),
        ("minilm_auc", "MiniLM AUC", False),
        ("stylometry_auc", "Stylom. AUC", False),
    ):
        what = f"External verification, {column}: FAVoR over the best collaborative baseline of the table"
        where = "Main results, L538"
        numbers.append(
            Number(f"external_{key}_gain", what, where, "phase1-main-external-verification", _gain(column, lower))
        )
    for key, row in (("author_accuracy", "Author acc."), ("bertscore", "BERTScore")):
        what = f"FAVoR minus pooled PEFT, {row}, on matched outputs"
        pair = f"FAVoR vs. Pooled · {row}"
        formula = _cell(pair, "Directional Δ")
        numbers.append(Number(f"pooled_{key}_gain", what, "Main results, L538", "phase1-paired-significance", formula))
    for key in ("ditto_asce", "favor_without_asce"):
        what = f"Share of FAVoR's author-accuracy gain over Global ASCE that {METHODS[key]} reaches"
        formula = _recovered(METHODS[key], "Author Acc.", METHODS["global_asce"], FAVOR)
        numbers.append(Number(f"ablation_{key}_share", what, "Ablations, L570", "phase1-main-results", formula))
    for key in ("favor", "ditto"):
        for name, column in (("accuracy", "Source-prototype Acc."), ("auc", "Gen→Src AUC")):
            what = f"ASCE-B: {METHODS[key]}, {column}"
            formula = _cell(METHODS[key], column)
            numbers.append(Number(f"asce_b_{key}_{name}", what, "Ablations, L573", "asce-b-audit", formula))
    for key, column in (
        ("accuracy", "Sep. Acc."),
        ("macro_f1", "Macro-F1"),
        ("auc", "Verif. AUC"),
        ("silhouette", "Silhouette"),
    ):
        what = f"K=100, {column}: share of the gap from FedAvg to local-only that FAVoR recovers"
        formula = _recovered(FAVOR, column, "FedAvg shared", "Local-only (ref.)")
        numbers.append(Number(f"k100_{key}_recovered", what, "100-author stress test, L986", K100, formula))
    return tuple(numbers)


NUMBERS = _declared()


def numbers_of(tables: Mapping[str, pd.DataFrame], paper_dataset: str) -> list[dict[str, Any]]:
    """Return the entries of ``NUMBERS`` from ``table_cells`` by label: ours, the paper's, or the reason for none.

    ``paper_dataset``: corpus of the paper whose numbers stand beside ours, "" for none. They come from all rows that
    the paper prints, whichever methods this experiment runs.
    """
    entries = []
    for number in NUMBERS:
        cells = tables.get(number.table)
        ours = _apply(number, cells)
        printed = load_paper_values(number.table)
        sections = (paper_dataset,) if number.table in SECTIONED else ("",) if paper_dataset == "BlogText" else ()
        paper = _apply(number, printed[printed["section"].isin(sections)])
        reason = ours[2] if cells is not None else f"table {number.table} is not among the experiment's tables"
        entries.append(_entry(number.key, number.what, number.where, ours[0], paper[0], reason, (ours[1], paper[1])))
    return entries


def measured_numbers(
    allocation: pd.DataFrame, participation: float, effects: pd.DataFrame, gates: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the numbers that stand in no table.

    ``participation``: expected participations of a client. ``effects``: table ``coordinate_effects``, empty without
    figures. ``gates``: table ``gates`` of the rows feddpa and feddpa_dynamic.
    """
    setup, probe = "Experimental setup, L434", "FedDPA gate sensitivity, L1775"
    target, allocated = (allocation[name].to_numpy() for name in ("target_words", "allocated_words"))
    entries = [
        _entry("target_gini", "Gini coefficient of the target allocation", setup, gini(target), 0.25),
        _entry("realised_gini", "Gini coefficient of the allocated words", setup, gini(allocated), 0.196),
        _entry("allocated_words", "Allocated word units", setup, float(allocated.sum()), 904378.0),
        _entry("participations", "Expected participations of a client", setup, participation, 1.44),
    ]
    for key, space, paper in (("features", "stylometric", 0.72), ("style_encoder", "style", 0.47)):
        rows = effects[effects["space"] == space]
        squares = float((rows["author_effect"] ** 2).sum())
        slope = float((rows["author_effect"] * rows["topic_effect"]).sum()) / squares if squares else math.nan
        what = f"Slope through the origin of topic on author effects, {space} coordinates"
        reason = "needs figures: true, and at least two topics with three authors each"
        entries.append(
            _entry(f"slope_{key}", what, "Introduction, L84", slope if len(rows) else math.nan, paper, reason)
        )
    keys = ["seed", "client", "prompt_id"]
    wide = gates.pivot(index=keys, columns="method", values="gate").reindex(columns=["feddpa", "feddpa_dynamic"])
    both = wide.dropna()
    difference = (both["feddpa_dynamic"] - both["feddpa"]).abs()
    for key, what, value, paper in (
        ("dynamic_mean", "Mean global-gate weight, dynamic", both["feddpa_dynamic"].mean(), 0.350),
        ("summary_mean", "Mean global-gate weight, exported mean gate", both["feddpa"].mean(), 0.429),
        ("mean_difference", "Mean absolute difference of the gates", difference.mean(), 0.083),
        ("median_difference", "Median absolute difference of the gates", difference.median(), 0.056),
        ("maximum_difference", "Largest absolute difference of the gates", difference.max(), 0.437),
    ):
        reason = "needs the rows feddpa and feddpa_dynamic"
        entries.append(_entry(f"gate_{key}", what, probe, float(value), paper, reason))
    return entries


def _apply(number: Number, cells: pd.DataFrame | None) -> tuple[float, str, str]:
    if cells is None:
        return math.nan, "", ""
    known = cells[cells["value"].notna()]
    rows = known["row"].str.replace("†", "")
    values = dict(zip(zip(rows, known["column"], strict=True), known["value"], strict=True))
    try:
        value, chosen = number.formula(values)
    except KeyError as error:
        missing = " and ".join(map(str, error.args[0] if isinstance(error.args[0], tuple) else error.args))
        return math.nan, "", f"table {number.table} has no value of {missing}"
    return value, chosen, "" if math.isfinite(value) else "undefined"


def _entry(
    key: str, what: str, where: str, value: float, paper: float, reason: str = "", chosen: Sequence[str] = ("", "")
) -> dict[str, Any]:
    known = math.isfinite(value)
    entry: dict[str, Any] = {"key": key, "what": what, "where": where}
    entry |= {"value": value if known else None, "paper": round(paper, 6) if math.isfinite(paper) else None}
    entry |= {} if known else {"reason": reason or "undefined"}
    return entry | ({"baseline": chosen[0], "paper_baseline": chosen[1]} if any(chosen) else {})
