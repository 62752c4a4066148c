"""What a cell prints: deviations in the scale of their mean, and tables of comparisons from hand-made rows."""

import math
import re
from typing import Any

import pandas as pd
import pytest
from tests.tables.test_build import cell

from favor.paper.values import load_paper_values
from favor.report.paper_agreement import agreement, number_macros
from favor.scores.schemas import SCORES
from favor.tables.build import build_table
from favor.tables.cells import printed, printed_deviation, printed_paper, telling
from favor.tables.completion import printed_spec
from favor.tables.html import html_table
from favor.tables.latex import latex_table
from favor.tables.specs import Column, Context

SCORES = SCORES.empty()
LABEL = "phase1-paired-significance"


def comparison(right, metric, clusters="seed-author", **values) -> dict:
    row = {"left_method": "favor", "right_method": right, "encoder": "asce_a", "metric": metric, "clusters": clusters}
    numbers = {"left": 0.4, "right": 0.3, "delta": 0.1, "low": -0.0501, "high": 0.25, "p": 0.04, "p_exact": 0.0004}
    rest = {"test": "sign_flip", "p_holm": 0.08, "n": 578, "pairs": 0, "draws": 100, "cluster_count": 12, "note": ""}
    return {**row, **numbers, **rest, **values}


@pytest.fixture(scope="module")
def cells() -> pd.DataFrame:
    rows = [
        comparison("ditto", "author_accuracy", test="exact"),
        comparison("ditto", "author_accuracy", "author", low=-0.2, p=0.06, p_holm=0.12),
        comparison("ditto", "top1_cosine", delta=-0.0123, p=0.0371),
        comparison("ditto", "assistant_score", delta=0.0002, low=0.0, high=0.0006),
        comparison("fedprox", "top1_cosine", note="no output survives in both methods"),
    ]
    context = Context("trial", ["favor", "ditto", "fedprox"], "Blogs", "BlogText", {"style": "asce_a"})
    return build_table(printed_spec(LABEL), SCORES, context, load_paper_values(LABEL), pd.DataFrame(rows))


def test_every_row_of_the_paper_is_printed(cells) -> None:
    assert cells["row"].nunique() == 20
    assert len(cells) == 20 * 9
    assert ((cells["text"] != "–") | (cells["reason"] != "")).all()


def test_statistics_are_printed_as_in_the_paper(cells) -> None:
    row = "FAVoR vs. Ditto · Author acc."
    texts = {name: cell(cells, row, name)["text"] for name in ("FAVoR", "Baseline", "Directional Δ", "p", "n")}
    assert texts == {"FAVoR": "0.400", "Baseline": "0.300", "Directional Δ": "+0.100", "p": "<.001", "n": "578"}
    assert cell(cells, row, "Cluster 95% CI")["text"] == "[−0.050, 0.250]"
    assert cell(cells, row, "Author-cluster 95% CI")["text"] == "[−0.200, 0.250]"
    # Authors carry the correction: 0.12, and not the 0.08 of seed-author clusters.
    assert [cell(cells, row, name)["text"] for name in ("Author-cluster p", "Holm p")] == ["0.060", "0.120"]
    assert cell(cells, row, "Cluster 95% CI")["paper_text"] == "[0.078, 0.170]"
    assert cell(cells, row, "p")["paper_text"] == "<.001"
    assert cell(cells, "FAVoR vs. Ditto · Top-1 cosine", "p")["value"] == 0.0371
    assert cell(cells, "FAVoR vs. Ditto · Top-1 cosine", "Directional Δ")["text"] == "-0.012"


def test_small_differences_have_the_decimals_that_say_something(cells) -> None:
    # The larger end, 0.0006, with two digits; "+0.000 [0.000, 0.001]" says nothing.
    row = "FAVoR vs. Ditto · Asst. score"
    assert cell(cells, row, "Directional Δ")["text"] == "+0.00020"
    assert cell(cells, row, "Cluster 95% CI")["text"] == "[0.00000, 0.00060]"
    assert [telling(3, *ends) for ends in ((0.0,), (0.2, -0.3), (0.05,), (0.0049,), (1e-9,))] == [3, 3, 3, 4, 6]


def test_dashes_say_why(cells) -> None:
    assert cell(cells, "FAVoR vs. Pooled · SemSim", "p")["reason"] == "Pooled PEFT is not run in experiment trial"
    assert "survives in both" in cell(cells, "FAVoR vs. FedProx · Top-1 cosine", "FAVoR")["reason"]
    assert "not computed" in cell(cells, "FAVoR vs. Ditto · SemSim", "n")["reason"]


def test_an_encoder_that_is_not_there_is_named() -> None:
    rows = [comparison("ditto", "generated_source_auc", encoder="minilm")]
    spec = printed_spec("phase1-external-paired-auc")
    absences = {"styledistance": "no weights"}
    context = Context("trial", ["favor", "ditto"], encoders={"style": "asce_a"}, absences=absences)
    found = build_table(spec, SCORES, context, None, pd.DataFrame(rows))
    assert cell(found, "FAVoR vs. Ditto · MiniLM · AUC", "FAVoR")["text"] == "0.400"
    assert cell(found, "FAVoR vs. Ditto · StyleDistance · AUC", "p")["reason"] == "no weights"
    reason = cell(found, "FAVoR vs. Ditto · Stylometry · EER", "p")["reason"]
    assert reason == "encoder Stylometry is not part of experiment trial"


def test_pages_show_the_paper_beside_ours(cells) -> None:
    spec = printed_spec(LABEL)
    page = html_table(spec, cells)
    assert "paper [0.078, 0.170]" in page
    assert "paper −0.013 (+0.001)" in page  # Top-1 cosine: -0.0123 against -0.013
    tex = latex_table(spec, cells)
    assert r"[$-$0.050, 0.250]" in tex
    assert "[0.078, 0.170]" not in tex
    # What the paper computes of a difference is shown with its values: the page has one verdict on two methods.
    aside = re.findall(r'<th scope="col" class="beside" data-column="(.*?)"', page)
    assert aside == ["Cluster 95% CI", "p", "Author-cluster p", "Holm p"]
    assert page.count('<td class="beside"') == 4 * 20


def test_agreement_is_of_the_differences() -> None:
    deltas = {"ditto": 0.12, "fedprox": 0.2, "pooled": 0.15}  # the paper's: 0.125, 0.228, 0.153
    rows = [comparison(right, "author_accuracy", delta=delta) for right, delta in deltas.items()]
    context = Context("trial", ["favor", *deltas], "Blogs", "BlogText", {"style": "asce_a"})
    spec = printed_spec(LABEL)
    found = agreement(spec, build_table(spec, SCORES, context, load_paper_values(LABEL), pd.DataFrame(rows)))
    assert set(found["column"]) == {"Directional Δ"}
    accuracy = found[found["group"] == "Author acc."].iloc[0]
    assert (accuracy["n"], accuracy["spearman"], accuracy["kendall"]) == (3, 1.0, 1.0)


def test_numbers_never_print_minus_zero() -> None:
    assert printed(-0.0001, 3) == "0.000"
    assert printed(-0.0001, 3, signed=True) == "+0.000"
    assert printed(-0.1, 1, signed=True) == "-0.1"


def given(value, deviation=math.nan, paper=math.nan, text="") -> dict[str, Any]:
    return {"value": value, "deviation": deviation, "paper_value": paper, "paper_text": text}


@pytest.mark.parametrize(
    ("value", "deviation", "unit", "text"),
    [
        (204.0, 90.6, "seconds", "1.5"),  # 3.4 minutes, and 90.6 s are 1.51 minutes
        (7200.0, 360.0, "seconds", "0.10"),  # 2.00 hours
        (3 * 2.0**20, 2.0**19, "bytes", "0.5"),  # 3.0 MiB
        (33680.0, 1460.0, "count", "1.46k"),  # 33.68k
        (204.0, 3.0, "count", "3"),
        (29.93e6, 0.0, "count", ""),  # the same for every seed
        (0.4, 0.01, "", "0.010"),
        (0.4, 0.0, "", "0.000"),
        (0.4, math.nan, "", ""),
        (math.nan, 0.01, "", ""),
    ],
)
def test_deviation_has_the_scale_of_its_mean(value, deviation, unit, text) -> None:
    assert printed_deviation(value, deviation, 3, unit) == text


def test_only_differences_with_a_meaning() -> None:
    assert printed_paper(given(0.4, paper=0.403), Column("Acc.")) == ("0.403", "-0.003")
    assert printed_paper(given(0.4, paper=0.037), Column("p", compared=False)) == ("0.037", "")
    assert printed_paper(given(12.0, paper=20.0), Column("Items", decimals=0)) == ("20", "")
    assert printed_paper(given(240.0, paper=15840.0), Column("Runtime", unit="seconds")) == ("4.40 hours", "")
    assert printed_paper(given(0.4, text="[0.1, 0.2]"), Column("CI")) == ("[0.1, 0.2]", "")


def test_numbers_are_macros() -> None:
    entries = [
        {"key": "k100_auc_gain", "value": -0.0123, "decimals": 3},
        {"key": "updates", "value": 72.0, "decimals": 0},
        {"key": "absent", "value": None, "decimals": 3},
    ]
    assert number_macros({"main-run": entries}).splitlines()[1:] == [
        r"\newcommand{\FavorMainRunKOneZeroZeroAucGain}{$-$0.012}",
        r"\newcommand{\FavorMainRunUpdates}{72}",
    ]
