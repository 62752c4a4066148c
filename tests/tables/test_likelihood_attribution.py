"""The table of what adapters know: chance is said to be chance, forgetting is marked, tests are corrected."""

import pandas as pd
import pytest
from tests.scores.test_likelihood import CLIENTS, own_voice, rows

from favor.scores.likelihood import likelihood_scores
from favor.statistics.paired import holm
from favor.tables.declarations.style_measures import LIKELIHOOD_ATTRIBUTION
from favor.tables.specs import Row

METHODS = ["favor", "ditto", "fedavg"]


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    readings = [
        rows(lambda *key: own_voice(*key) if key[1] else -0.2 - 0.1 * (key[0] == CLIENTS[0]), "favor"),
        rows(lambda *key: own_voice(*key) * (0.5 + 0.1 * CLIENTS.index(key[0])), "ditto"),
        rows(lambda *key: 0.2, "fedavg"),
    ]
    return likelihood_scores(pd.concat(readings), CLIENTS, METHODS, {}, 7, 500)


def cell(scores, method, panel, header) -> str:
    columns = {each.title: {column.label: column for column in each.columns} for each in LIKELIHOOD_ATTRIBUTION.panels}
    return columns[panel][header].derive(Row((method,), method), scores, {}).text


def test_cells(scores) -> None:
    assert cell(scores, "favor", "Gain over the base", "Own gain") == "0.500"  # of every author
    assert cell(scores, "favor", "Gain over the base", "Neutral sentences").endswith("] ▼")
    assert cell(scores, "fedavg", "Attribution", "Top-1") == "0.250 (chance)"
    assert cell(scores, "fedavg", "Gain over the base", "Voice gain") == "0.000 (chance)"
    assert cell(scores, "favor", "Minus FAVoR", "Voice gain") == "–"


def test_a_difference_has_the_sign_of_its_row_and_holms_p_over_the_column(scores) -> None:
    own = scores[(scores["metric"] == "likelihood_voice_gain") & (scores["method"] == "favor")]
    p = [float(own.loc[own["variant"] == f"minus:{rival}_p", "value"].iloc[0]) for rival in ("ditto", "fedavg")]
    text = cell(scores, "fedavg", "Minus FAVoR", "Voice gain")
    assert text.startswith("−0.400, p ")  # the same for every author, of which there is no interval
    assert text.endswith(f"= {holm(p)[1]:.3f}".replace("0.", ".", 1))
