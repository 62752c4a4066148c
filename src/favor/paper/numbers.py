"""The numbers of the paper's running text: the same formula on our table cells and on the paper's, side by side.

Ours are read from the printed tables (``table_cells``), so a number and its table cannot disagree. What
stands in no table is measured from the workflow's own files (:mod:`favor.paper.measured_numbers`). Where the paper's
table prints text or a unit, the paper's number is the one that its text prints.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from favor.federation.method_names import PAPER
from favor.paper.names import METHODS, method_name, released_methods, unmarked
from favor.paper.settings import Entry
from favor.paper.values import SECTIONED, load_paper_values

if TYPE_CHECKING:
    import pandas as pd

Values = Mapping[tuple[str, str], float]  # (row, column) -> value, cells without one left out
FAVOR = method_name("favor")
NAMES = tuple(unmarked(method_name(key)) for key in METHODS)
BASELINES = tuple(unmarked(method_name(key)) for key in released_methods() if key != "favor" and PAPER[key].federates)


@dataclass(frozen=True)
class Number:
    """One number: its key, what it is, where the paper says it, and how it comes from a table's cells.

    ``formula`` returns (value, which row was chosen or ""); it raises ``KeyError`` for a cell that is not there.
    ``paper``: the number that the text prints, where it does not come from the paper's table by the same formula.
    """

    key: str
    what: str
    where: str
    table: str
    formula: Callable[[Values], tuple[float, str]]
    paper: float | None = None
    decimals: int = 3


def _cell(row: str, column: str, factor: float = 1.0) -> Callable[[Values], tuple[float, str]]:
    return lambda values: (factor * values[row, column], "")


def _rank(column: str, lower: bool = False) -> Callable[[Values], tuple[float, str]]:
    """FAVoR's place among the paper's methods that have a value, 1 for the best; equal values share the better one."""

    def formula(values: Values) -> tuple[float, str]:
        own = values[FAVOR, column]
        rivals = [values[row, column] for row in NAMES if (row, column) in values]
        return 1.0 + sum(rival < own if lower else rival > own for rival in rivals), ""

    return formula


def _favoured(*comparisons: str) -> Callable[[Values], tuple[float, str]]:
    """The share of a table's differences, over all rows of some comparisons, that favour the left method."""

    def formula(values: Values) -> tuple[float, str]:
        found = [
            value
            for (row, column), value in values.items()
            if column == "Directional Δ" and row.split(" · ")[0] in comparisons
        ]
        if not found:
            raise KeyError(comparisons[0], "Directional Δ")
        return sum(value > 0 for value in found) / len(found), ""

    return formula


def _extreme(column: str) -> Callable[[Values], tuple[float, str]]:
    """The smallest value of a column over the paper's methods."""

    def formula(values: Values) -> tuple[float, str]:
        found = {row: values[row, column] for row in NAMES if (row, column) in values}
        if not found:
            raise KeyError("any method", column)
        least = min(found, key=lambda row: found[row])
        return found[least], least

    return formula


def _gain(column: str, lower: bool = False, relative: bool = False) -> Callable[[Values], tuple[float, str]]:
    """FAVoR against the best collaborative baseline that has a value, positive where FAVoR is better."""

    def formula(values: Values) -> tuple[float, str]:
        rivals = {row: values[row, column] for row in BASELINES if (row, column) in values}
        if not rivals:
            raise KeyError("a collaborative baseline", column)
        best = (min if lower else max)(rivals, key=lambda row: rivals[row])
        gain = (rivals[best] - values[FAVOR, column]) if lower else (values[FAVOR, column] - rivals[best])
        if relative:
            gain = gain / rivals[best] if rivals[best] else math.nan
        return gain, best

    return formula


def _difference(row: str, other: str, column: str) -> Callable[[Values], tuple[float, str]]:
    return lambda values: (values[row, column] - values[other, column], "")


def _recovered(row: str, column: str, base: str, whole: str) -> Callable[[Values], tuple[float, str]]:
    """The share of the way from row ``base`` to row ``whole`` that ``row`` goes; none where ``whole`` is not above."""

    def formula(values: Values) -> tuple[float, str]:
        way = values[whole, column] - values[base, column]
        return (values[row, column] - values[base, column]) / way if way > 0 else math.nan, ""

    return formula


def _declared() -> tuple[Number, ...]:
    main = "main_federated_results"
    text = "abstract; Main results"
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
        what = f"{column} of survivors only: FAVoR minus the best collaborative baseline{sign}"
        numbers.append(Number(f"{key}_gain", what, text, main, _gain(column, lower)))
        relative = f"{column} of survivors only: that difference over the baseline's value"
        numbers.append(Number(f"{key}_relative_gain", relative, text, main, _gain(column, lower, relative=True)))
    for key, column, lower in (
        ("styledistance_auc", "StyleDist AUC", False),
        ("styledistance_eer", "StyleDist EER", True),
        ("minilm_auc", "MiniLM AUC", False),
        ("stylometry_auc", "Stylom. AUC", False),
    ):
        what = f"External verification, {column}: FAVoR over the best collaborative baseline of the table"
        where = "Main results"
        numbers.append(
            Number(f"external_{key}_gain", what, where, "phase1-main-external-verification", _gain(column, lower))
        )
    for key, row in (("author_accuracy", "Author acc."), ("bertscore", "BERTScore")):
        what = f"FAVoR minus pooled PEFT, {row}, on matched outputs"
        pair = f"FAVoR vs. Pooled · {row}"
        formula = _cell(pair, "Directional Δ")
        numbers.append(Number(f"pooled_{key}_gain", what, "Main results", "phase1-paired-significance", formula))
    for key in ("ditto_asce", "favor_without_asce"):
        what = f"Share of FAVoR's author-accuracy gain over Global ASCE that {method_name(key)} reaches"
        formula = _recovered(method_name(key), "Author Acc.", method_name("global_asce"), FAVOR)
        numbers.append(Number(f"ablation_{key}_share", what, "Ablations", "phase1-main-results", formula))
    for key in ("favor", "ditto"):
        for name, column in (("accuracy", "Source-prototype Acc."), ("auc", "Gen→Src AUC")):
            what = f"ASCE-B: {method_name(key)}, {column}"
            formula = _cell(method_name(key), column)
            numbers.append(Number(f"asce_b_{key}_{name}", what, "Ablations", "asce-b-audit", formula))
    return (*numbers, *_ranks(), *_pairs(), *_studies(), *_costs())


def _ranks() -> Iterator[Number]:
    for table, view, columns in (
        ("gensource", "generated to source", ("Proto. Acc.", "Proto. F1", "Gen→Src AUC", "Gen→Src EER")),
        ("pairwise", "generated texts", ("Author Acc.", "Macro-F1", "Silhouette", "Gen-Gen AUC", "Gen-Gen EER")),
    ):
        for column in columns:
            key = f"rank_{table}_{re.sub(r'[^a-z0-9]+', '_', column.lower()).strip('_')}"
            what = f"FAVoR's place by {column}, {view}, references included; no test"
            formula = _rank(column, lower=column.endswith("EER"))
            yield Number(key, what, "Author-disjoint ASCE", f"asce-leakage-free-{table}", formula, decimals=0)


def _pairs() -> Iterator[Number]:
    what = "Share of the external verifiers that place FAVoR above Ditto"
    formula = _cell("FAVoR > Ditto · Gen→Src primary AUC", "Fraction")
    yield Number("external_agreement", what, "External verifiers", "phase1-external-agreement", formula)
    where, table = "Component ablations", "phase1-ablation-external-paired"
    against = ("FAVoR vs. Global ASCE", "w/o ASCE vs. Global ASCE")
    what = "Share of external differences that favour a variant with private residual over Global ASCE"
    yield Number("ablation_external_residual_share", what, where, table, _favoured(*against))
    what = "Share of external differences that favour FAVoR over FAVoR w/o ASCE"
    yield Number("ablation_external_alignment_share", what, where, table, _favoured("FAVoR vs. w/o ASCE"))
    what = "FAVoR minus FAVoR w/o ASCE, author accuracy, on matched outputs"
    formula = _cell("FAVoR vs. w/o ASCE · Author acc.", "Directional Δ")
    where = "Ablations"
    yield Number("ablation_alignment_gain", what, where, "phase1-ablation-paired-tests", formula)


def _studies() -> Iterator[Number]:
    audit, where = "human_2afc_audit", "Main results; Human 2AFC audit"
    for row, key, vote, majority in (
        ("FAVoR", "favor", 91.7, 95.0),
        ("Ditto", "ditto", 68.3, 70.0),
        ("Human ref.", "human", 93.3, None),
        ("Overall", "overall", 82.7, 84.0),
    ):
        what = f"Human audit: vote accuracy in %, {row}"
        yield Number(f"audit_{key}_votes", what, where, audit, _cell(row, "Vote acc.", 100), vote, 1)
        if majority is not None:
            what = f"Human audit: majority accuracy in %, {row}"
            yield Number(f"audit_{key}_majority", what, where, audit, _cell(row, "Maj. acc.", 100), majority, 1)
    for key, column, paper, decimals in (
        ("pairwise", "Pairwise agreement", 0.787, 3),
        ("kappa", "Fleiss' κ", 0.558, 3),
        ("unanimous", "Unanimous", 34.0, 0),
        ("ties", "Ties", 0.0, 0),
    ):
        what = f"Human audit: {column}, overall"
        formula = _cell("Overall", column)
        yield Number(f"audit_{key}", what, "Human 2AFC audit", "human-2afc-agreement", formula, paper, decimals)
    for key, column in (
        ("accuracy", "Sep. Acc."),
        ("macro_f1", "Macro-F1"),
        ("auc", "Verif. AUC"),
        ("silhouette", "Silhouette"),
    ):
        what = f"K=100, {column}: share of the gap from FedAvg to local-only that FAVoR recovers"
        formula = _recovered(FAVOR, column, "FedAvg shared", "Local-only (ref.)")
        yield Number(f"k100_{key}_recovered", what, "100-author stress test", "k100-scale-stress", formula)
    for key, column in (("accuracy", "Author Acc."), ("auc", "Verif. AUC")):
        what = f"Another base model, {column}: FAVoR minus FedAvg"
        formula = _difference(FAVOR, method_name("fedavg"), column)
        where, table = "7B sensitivity", "phase1-7b-base-sensitivity"
        yield Number(f"base_model_{key}_gain", what, where, table, formula)
    what = "Quality judge: smallest Holm-adjusted p of FAVoR against a baseline"
    yield Number("judge_smallest_p", what, "Main results", "qwen-generic-quality", _extreme("Holm-adjusted p"))


def _costs() -> Iterator[Number]:
    upload, once = ("Aggregate upload per seed", "Value"), ("Upload per client round", "Value")

    def updates(values: Values) -> tuple[float, str]:
        return (values[upload] / values[once] if values[once] else math.nan), ""

    def value(row: str, factor: float = 1.0) -> Callable[[Values], tuple[float, str]]:
        return _cell(row, "Value", factor)

    gib = 2.0**-30
    for key, what, formula, paper, decimals in (
        ("parameters", "Trainable LoRA parameters, millions", value("Trainable PEFT params", 1e-6), 29.93, 2),
        ("adapter_bytes", "Serialised shared adapter, bytes", value("Serialized shared adapter"), 119801528.0, 0),
        ("updates", "Client updates of a seed", updates, 72.0, 0),
        ("upload", "Upload of a seed, GiB", value(upload[0], gib), 8.03, 2),
        ("traffic", "Upload and broadcast of a seed, GiB", value("Upload + broadcast per seed", gib), 16.07, 2),
        ("residuals", "Private residuals kept, GiB", value("Final private residual storage", gib), 5.58, 2),
    ):
        yield Number(f"cost_{key}", what, "Efficiency", "efficiency_communication", formula, paper, decimals)


NUMBERS = _declared()
NUMBER_TABLES = frozenset(number.table for number in NUMBERS)


def numbers_of(tables: Mapping[str, pd.DataFrame], paper_dataset: str, whole: bool = True) -> list[Entry]:
    """Return the entries of ``NUMBERS`` from ``table_cells`` by label: ours, the paper's, or the reason for none.

    ``paper_dataset``: corpus of the paper whose numbers stand beside ours, "" for none. They come from all rows that
    the paper prints, whichever methods this experiment runs. ``whole`` False, for a study: only the numbers of its own
    tables.
    """
    entries = []
    for number in NUMBERS:
        cells = tables.get(number.table)
        if cells is None and not whole:
            continue
        ours = _apply(number, cells)
        values = load_paper_values(number.table)
        sections = (paper_dataset,) if number.table in SECTIONED else ("",) if paper_dataset == "BlogText" else ()
        paper = _apply(number, values[values["section"].isin(sections)])
        if number.paper is not None:
            paper = (number.paper if paper_dataset == "BlogText" else math.nan), "", ""
        reason = ours[2] if cells is not None else f"table {number.table} is not among the experiment's tables"
        chosen = (ours[1], paper[1])
        entries.append(entry(number.key, number.what, number.where, ours[0], paper[0], reason, chosen, number.decimals))
    return entries


def _apply(number: Number, cells: pd.DataFrame | None) -> tuple[float, str, str]:
    if cells is None:
        return math.nan, "", ""
    known = cells[cells["value"].notna()]
    rows = known["row"].map(unmarked)
    values = dict(zip(zip(rows, known["column"], strict=True), known["value"], strict=True))
    try:
        value, chosen = number.formula(values)
    except KeyError as error:
        missing = " and ".join(map(str, error.args[0] if isinstance(error.args[0], tuple) else error.args))
        return math.nan, "", f"table {number.table} has no value of {missing}"
    return value, chosen, "" if math.isfinite(value) else "undefined"


def entry(
    key: str,
    what: str,
    where: str,
    value: float,
    paper: float,
    reason: str = "",
    chosen: Sequence[str] = ("", ""),
    decimals: int = 3,
) -> Entry:
    """Return one entry of numbers.json: ours and the paper's (NaN for none), or the reason for no value of ours.

    ``chosen``: the row that our formula took, and the paper's. ``decimals``: places that the paper prints.
    """
    known = math.isfinite(value)
    beside = round(paper, 6) if math.isfinite(paper) else None
    made = Entry(key=key, what=what, where=where, decimals=decimals, value=value if known else None, paper=beside)
    if not known:
        made["reason"] = reason or "undefined"
    if any(chosen):
        made["baseline"], made["paper_baseline"] = chosen
    return made
