"""Marks on columns whose truth is known: all rows equal, one winner, ties with it, references that do not separate."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from favor.analysis.schemas import EVIDENCE
from favor.statistics.bootstrap import mean_draws, observed, resample_counts
from favor.statistics.differences import compare
from favor.statistics.sign_flips import linear_shares
from favor.tables.build import build_table
from favor.tables.cells import Cell
from favor.tables.completion import printed_spec
from favor.tables.marks import BY_EVIDENCE, BY_MEANS, EVEN, TOGETHER, UNTESTED, Evidence, mark, mark_notes
from favor.tables.specs import Column, Context, Row

AUTHORS = 20
COLUMN = Column("Acc.", "author_accuracy", "style", direction="up")


def evidence(levels, noise=0.02, metric="author_accuracy") -> pd.DataFrame:
    """The table of values per author that scatter around ``levels`` (with the controls), every author with an offset.

    The offset is common to all rows, so differences are known far better than the values themselves.
    """
    generator = np.random.default_rng(7)
    offset = generator.normal(0, 0.3, AUTHORS)
    counts = np.concatenate([observed(AUTHORS), resample_counts(AUTHORS, 1, 2000)])
    drawn = {}
    for name, level in levels.items():
        scatter = 0.0 if name in ("gold", "shuffled") else noise
        values = level + offset + generator.normal(0, scatter, AUTHORS)
        drawn[name] = mean_draws(values, np.arange(AUTHORS), counts)
    rows = []
    for left, right in combinations(drawn, 2):
        shares = linear_shares(drawn[left] - drawn[right], counts, np.ones(AUTHORS))
        result = compare(drawn[left], drawn[right], np.ones(AUTHORS), counts, shares, 1, span=1.0)
        rows.append(("asce_a", metric, left, right, *vars(result).values(), 0.01, [result.delta]))
    return pd.DataFrame(rows, columns=EVIDENCE.names)


def marked(levels, marks="evidence", gold=0.9, **noise) -> tuple[set, str]:
    table = evidence({**levels, "gold": gold, "shuffled": 0.1}, **noise)
    contest = [(Row((name,), name), Cell(value)) for name, value in levels.items()]
    reason = mark(COLUMN, contest, marks, Evidence(table, {"style": "asce_a"}))
    return {row.method for row, cell in contest if cell.mark == "below"}, reason


@pytest.mark.parametrize(
    ("levels", "more", "below", "reason"),
    [
        ({"a": 0.2, "b": 0.5, "c": 0.3}, {}, {"a", "c"}, BY_EVIDENCE),
        # A noise of 0.02 over 20 authors leaves a standard error of about 0.006: 0.001 is nothing, 0.2 is certain.
        ({"a": 0.3, "b": 0.5, "c": 0.501}, {}, {"a"}, BY_EVIDENCE),
        ({"a": 0.3, "b": 0.3, "c": 0.3}, {"noise": 0.0}, set(), EVEN),
        ({"a": 0.7, "b": 0.3, "c": 0.3}, {"noise": 1.0}, set(), EVEN),
        ({"a": 0.2, "b": 0.5}, {"gold": 0.1}, set(), TOGETHER),
    ],
)
def test_what_is_below_the_best(levels, more, below, reason) -> None:
    assert marked(levels, **more) == (below, reason)


def test_nothing_where_a_row_was_not_compared() -> None:
    contest = [(Row((name,), name), Cell(value)) for name, value in (("a", 0.2), ("b", 0.5), ("new", 0.4))]
    table = evidence({"a": 0.2, "b": 0.5, "gold": 0.9, "shuffled": 0.1})
    assert mark(COLUMN, contest, "evidence", Evidence(table, {"style": "asce_a"})) == UNTESTED
    assert mark(COLUMN, contest, "evidence", None) == UNTESTED
    assert {cell.mark for _, cell in contest} == {""}


def test_holm_counts_the_rows_of_the_column() -> None:
    keys = {"encoder": "asce_a", "metric": "author_accuracy", "left": 0.0, "right": 0.0, "delta": 0.0, "high": 1.0}
    tests = [("best", name, p, 0.1) for name, p in (("a", 0.02), ("b", 0.03), ("c", 0.9))]
    tests.append(("gold", "shuffled", 0.0, 0.5))
    frame = pd.DataFrame(tests, columns=["left_method", "right_method", "p", "low"]).assign(**keys, draws=100)
    known = Evidence(frame, {"style": "asce_a"})
    contest = [(Row((name,), name), Cell(value)) for name, value in (("best", 0.5), ("a", 0.3), ("b", 0.4), ("c", 0.2))]
    assert mark(COLUMN, contest, "evidence", known) == EVEN  # 3 x 0.02
    two = contest[:2]
    assert mark(COLUMN, two, "evidence", known) == BY_EVIDENCE
    assert [cell.mark for _, cell in two] == ["", "below"]


def test_printed_means_for_tables_beside_the_paper() -> None:
    contest = [(Row((name,), name), Cell(value)) for name, value in (("a", 0.2), ("b", 0.5), ("c", 0.4999))]
    assert mark(COLUMN, contest, "paper", None) == BY_MEANS
    assert [cell.mark for _, cell in contest] == ["second", "best", "best"]


@pytest.mark.parametrize(("unranked", "ties"), [((), {"FAVoR", "Local-only + ASCE"}), (("favor",), set())])
def test_table(scores, unranked, ties) -> None:
    """FAVoR and the local reference are alike, the others far below; one column is tested, its neighbours are not."""
    levels = {"favor": 0.5, "local_only_asce": 0.5, "fedavg": 0.2, "ditto": 0.2}
    table = evidence({**levels, "gold": 0.9, "shuffled": 0.1}, noise=0.0)
    scores = scores.assign(value=scores["method"].map(levels).fillna(scores["value"]))
    context = Context("demo", tuple(levels), encoders={"style": "asce_a"}, seeds=(2026, 2027, 2028), unranked=unranked)
    cells = build_table(printed_spec("phase1-legacy-comparison"), scores, context, evidence=table)
    accuracy = cells[cells["column"] == "Author Acc."].set_index("row")["mark"]
    assert set(accuracy.index[accuracy == "below"]) == {"Ditto"}
    # Of two that are equal one is the best and the other not significantly below it.
    assert set(accuracy.index[accuracy == "ns"]) <= ties
    assert (accuracy == "ns").sum() == len(ties) // 2
    notes = mark_notes(cells)
    assert any(note.startswith("Grey: significantly worse than the column's best") for note in notes)
    assert any("no paired test" in note and "Macro-F1" in note for note in notes)
