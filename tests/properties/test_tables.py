"""Any scores under any names, in every table: each cell has a number or a reason, and no name is printed twice.

A name is whatever the configuration lets a user call a row; scores may be missing, repeated over seeds, NaN with or
without a note, infinite or of methods that nobody asked for. What a run once found is kept as an example.
"""

import math

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.reports import ENCODERS, make_score

from favor.foundation.html import html_text
from favor.foundation.registry import TABLES
from favor.paper.names import CONTROLS, METHODS, SEPARATOR, method_name, unmarked
from favor.paper.values import load_paper_values, paper_file
from favor.tables.build import build_table
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.cells import DASH
from favor.tables.completion import printed_spec
from favor.tables.html import html_table
from favor.tables.latex import latex_table
from favor.tables.specs import Context, TableSpec

pytestmark = pytest.mark.slow(13)

SETTINGS = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
KEYS = [*METHODS, "mine", "also_mine"]
SEEDS = (1, 2)
LABELS = [
    spec.label
    for spec in map(TABLES.declared, TABLES.names())
    if spec.comparisons is None and not spec.over_points and spec.publishable
]
ROLES = {"style": "asce_a", "independent": "asce_b", "semantic": "minilm"}
TITLES = st.text(min_size=1, max_size=8) | st.sampled_from(["$a_b$", "[x]", "*", "FAVoR ", "†", "\\", "a\nb", "%", "—"])


@st.composite
def names(draw) -> dict[str, str]:
    """Titles of some methods, as far as the configuration accepts them together (favor.config.row_checks)."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True))
    taken, found = set(CONTROLS.values()), {}
    for key in keys:
        title = draw(st.none() | TITLES) or method_name(key)
        printed = unmarked(" ".join(title.split()))
        if not printed or SEPARATOR.strip() in title or printed in taken:
            title, printed = key, key
        taken.add(printed)
        found[key] = title
    return found


@st.composite
def tables(draw) -> tuple[str, dict[str, str], list[dict]]:
    """(label, titles by row, rows of the table ``scores``)."""
    label, titles = draw(st.sampled_from(LABELS)), draw(names())
    metrics = sorted(
        {column.metric for panel in printed_spec(label).panels for column in panel.columns if column.metric}
    )
    number = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 0.5, 1.0, math.inf, math.nan])
    rows = {}
    for method in (*titles, *draw(st.lists(st.sampled_from(["gold", "stranger"]), unique=True, max_size=2))):
        for metric in draw(st.lists(st.sampled_from([*metrics, "other"]), max_size=4, unique=True)):
            for seed in draw(st.lists(st.sampled_from(SEEDS), max_size=2, unique=True)):
                encoder = draw(st.sampled_from(["", *ENCODERS]))
                value = draw(number)
                note = draw(st.sampled_from(["", "no output passed the filter"])) if math.isnan(value) else ""
                row = make_score(method, metric, value, encoder, seed, note) | {"n": draw(st.integers(0, 40))}
                # A family that has intervals writes both ends beside every value.
                for variant in ("", "low", "high"):
                    rows[method, metric, encoder, seed, variant] = row | {"variant": variant}
    return label, titles, list(rows.values())


def built(label, titles, rows) -> tuple[TableSpec, pd.DataFrame]:
    scores = pd.DataFrame(rows, columns=list(make_score("", "", 0.0)))
    context = Context("trial", list(titles), "Blogs", "BlogText", ROLES, seeds=SEEDS, display=titles)
    spec = printed_spec(label, context, values=scores)
    paper = load_paper_values(spec.label) if paper_file(spec.label).is_file() else None
    return spec, build_table(spec, scores, context, paper)


@pytest.mark.filterwarnings("ignore:invalid value encountered")  # deviations of infinite scores
@SETTINGS
@example(("main_federated_results", {"favor": "FAVoR", "mine": "$a_b$"}, []))
@example(("phase1-external-agreement", {"base_only": "Base only"}, []))  # no row: LaTeX ended in a KeyError
@given(tables())
def test_every_cell_is_explained_and_every_name_is_one_row(case) -> None:
    label, titles, rows = case
    spec, cells = built(label, titles, rows)
    assert list(cells.columns) == TABLE_CELLS.names
    assert not cells.duplicated(["panel", "section", "row", "column"]).any()
    assert (cells["text"] != "").all()
    assert (cells.loc[cells["text"] == DASH, "reason"] != "").all()
    assert (cells["text"].str.lower().isin(["nan", "none"])).sum() == 0
    page = html_table(spec, cells)
    latex_table(spec, cells)
    for row in cells["row"].unique():
        for part in row.split(SEPARATOR):
            assert html_text(part) in page


@SETTINGS
@given(titles=names(), values=st.lists(st.floats(0, 1), min_size=len(KEYS), max_size=len(KEYS)))
def test_a_row_prints_its_own_methods_number(titles, values) -> None:
    level = dict(zip(KEYS, values, strict=True))
    rows = [make_score(key, "author_accuracy", level[key], "asce_a", seed) for key in titles for seed in SEEDS]
    _, cells = built("main_federated_results", titles, rows)
    found = cells[cells["column"].eq("Author Acc.") & ~cells["row"].isin(list(CONTROLS.values()))]
    of_title = {unmarked(title): key for key, title in titles.items()}
    assert found["row"].is_unique
    assert {"fedavg", "mine"} & set(titles) <= {of_title[unmarked(row)] for row in found["row"]}
    for row, value in zip(found["row"], found["value"], strict=True):
        assert value == pytest.approx(level[of_title[unmarked(row)]])
