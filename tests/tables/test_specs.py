"""Every shipped table specification loads, names scores that exist, and finds its values in the paper."""

import math
from dataclasses import replace

import pytest
from tests.exports.conftest import refusal

from favor.foundation.registry import METHODS as FILES
from favor.foundation.registry import METRIC_FAMILIES, TABLES
from favor.paper.names import CONTROLS, METHODS
from favor.paper.values import load_paper_values, paper_cell
from favor.scores.metric import SOURCE, metrics_of
from favor.tables.build import SEEDS
from favor.tables.completion import printed_spec, with_headers
from favor.tables.settings import Point
from favor.tables.specs import POINT, Column, Panel, load_spec
from favor.tables.sweeps import at_points

# The points of the paper's sweeps, as the tables name them.
PAPER_POINTS = {
    label: [Point(label=name, experiment="none") for name in names]
    for label, names in {
        "text-volume-sweep": ("25% (226,095)", "50% (452,189)", "100% (904,378)"),
        "imbalance-sweep": ("Balanced", "Moderate", "Strong"),
        "cold-start-full": ("8", "16"),
        "cold-start-nested-k": ("4", "8", "12", "16", "24"),
    }.items()
}


@pytest.mark.parametrize("label", TABLES.names())
def test_spec_is_whole(label) -> None:
    spec = printed_spec(label)
    assert all(
        row.method in {*METHODS, *FILES.names(), *CONTROLS, SOURCE}
        or (not row.method and (row.metric or row.setting or spec.scored_only or spec.over_points))
        for row in spec.rows
    )
    assert all((POINT in row.label) == spec.over_points for row in spec.rows)
    assert all(row.rival in METHODS for row in spec.rows if spec.comparisons)
    assert all(len(row.stub) == len(spec.stub_headers) for row in spec.rows)
    assert len({row.label for row in spec.rows}) == len(spec.rows)
    for panel in spec.panels:
        assert len({column.label for column in panel.columns}) == len(panel.columns)
        rows_name_it = bool(spec.rows) and all(row.metric or row.setting for row in spec.rows)
        for column in panel.columns:
            assert bool(column.statistic) == bool(spec.comparisons)
            if spec.over_points and spec.comparisons:
                continue  # its rows are points, its columns metrics
            sources = (column.metric, column.setting, column.derive, rows_name_it)
            assert sum(map(bool, sources)) == int(spec.publishable), column.label  # or filled with quoted texts


@pytest.mark.parametrize("label", TABLES.names())
def test_every_cell_of_a_spec_is_found_in_the_paper(label) -> None:
    spec, values = printed_spec(label), load_paper_values(label)
    if values.empty:
        assert not spec.paper or not spec.publishable  # not the paper's, or quotes texts
        return
    sections = ("BlogText", "Mythos-Reddit") if spec.sectioned else ("",)
    for section in sections:
        for row in at_points(spec, PAPER_POINTS[label]).rows if spec.over_points else spec.rows:
            if spec.scored_only and row.label not in set(values["row"]):
                continue  # a row for whoever scores that method too
            for panel in spec.panels:
                for column in panel.columns:
                    place = (values, panel.title, section, row.paper or row.label, column.paper or column.label)
                    ours = column.setting or column.statistic in ("p_holm", "author_interval", "author_p")
                    # K-shot values, and accuracy with failures as wrong beside the one of survivors.
                    ours = ours or column.label.startswith("K-shot") or column.variant == "failures_wrong"
                    if column.derive is not None:
                        names = values["row"].str.replace("†", "") == row.label.replace("†", "")
                        beside = values[names & (values["column"] == (column.paper or column.label))]
                        assert beside["text"].tolist() != [], (row.label, column.label)
                    elif not ours and not row.optional:
                        value, _, text = paper_cell(*place)
                        assert not math.isnan(value) or text, (section, row.label, column.label)


def test_scored_metrics_exist() -> None:
    for spec in map(load_spec, TABLES.names()):
        assert set(spec.sources) <= set(METRIC_FAMILIES.names()), spec.label
        known = {metric.name for family in spec.sources for metric in metrics_of(family)}
        columns = [column for panel in spec.panels for column in panel.columns if column.metric]
        for name in {row.metric for row in spec.rows if row.metric and not spec.comparisons}:
            assert name in known, (spec.label, name)
        for column in columns:
            assert column.metric in known or column.metric == SEEDS, (spec.label, column.label)


def test_columns_and_rows_say_what_their_metrics_say() -> None:
    columns = {column.label: column.direction for column in printed_spec("main_federated_results").panels[0].columns}
    assert (columns["Author Acc."], columns["EER"]) == ("up", "down")
    details = printed_spec("phase1-external-evaluator-details").panels[0].columns
    assert {column.direction for column in details if column.label == "Source AUC"} == {""}  # the same in every row
    assert printed_spec("phase1-paired-significance").rows[1].label == "FAVoR vs. Ditto · Top-1 cosine"
    with pytest.raises(KeyError, match="no_such_metric"):
        with_headers(replace(load_spec("main_federated_results"), panels=(Panel((Column("X", "no_such_metric"),)),)))


def test_unknown_label_is_named_with_the_nearest_one() -> None:
    assert "table 'main_results' is unknown; did you mean" in refusal(load_spec, "main_results")
