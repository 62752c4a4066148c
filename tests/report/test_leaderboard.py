"""All methods in one order, and one verdict each against FAVoR."""

import pandas as pd
import pytest
from tests.report.test_findings import evidence as every_pair

from favor.report.facts import HEADLINE, Facts, differences
from favor.report.leaderboard import leaderboard

METHODS = ("ditto", "favor", "favor_without_asce", "local_only", "fedavg")
VALUES = {"favor": 0.40, "favor_without_asce": 0.39, "ditto": 0.30, "fedavg": 0.10, "local_only": 0.50}
VALUES |= {"gold": 0.45, "shuffled": 0.05}


def evidence(p) -> pd.DataFrame:
    return every_pair(p, "asce_a", VALUES)


def test_differences_favour_the_left_row_and_are_corrected() -> None:
    table = evidence({frozenset(("favor", "fedavg")): 0.01, frozenset(("local_only", "favor")): 0.004})
    found = differences(table, "asce_a", "author_accuracy_failures_wrong", "favor").set_index("rival")
    assert set(found.index) == {"ditto", "fedavg", "local_only", "favor_without_asce"}
    assert found["delta"]["fedavg"] == pytest.approx(0.3)
    assert (found["low"]["local_only"], found["high"]["local_only"]) == pytest.approx((-0.15, -0.05))
    # Holm over four rivals: 4 x 0.004, 3 x 0.01
    p_holm = {"local_only": 0.016, "fedavg": 0.03, "ditto": 1.0, "favor_without_asce": 1.0}
    assert found["p_holm"].to_dict() == pytest.approx(p_holm)


def board(table, kept=None, authors=12, traffic=None) -> pd.DataFrame:
    return leaderboard(Facts(table, kept, "asce_a", METHODS, authors, {}, margin=0.5), traffic)


def kept_of(ends) -> pd.DataFrame:
    """Scores of voice_kept: by variant the values of FAVoR and of the authors' own texts; 80 of 96 passed."""
    rows = []
    for place, method in enumerate(("favor", "gold")):
        rows += [(method, f"kept_{HEADLINE}", variant, values[place], 96) for variant, values in ends.items()]
        rows.append((method, "kept_author_accuracy", "score", 0.4, 80))
    made = pd.DataFrame(rows, columns=["method", "metric", "variant", "value", "n"])
    return made.assign(encoder="asce_a", note="")


def test_names_have_no_mark_whose_note_is_not_there() -> None:
    facts = Facts(evidence({}), None, "asce_a", METHODS, 12, {"favor": "FedDPA†"}, margin=0.5)
    assert {"FedDPA", "Against FedDPA"} <= {*leaderboard(facts)["Method"], *leaderboard(facts).columns}


def test_methods_stand_in_one_order_with_the_references_and_chance() -> None:
    found = board(evidence({frozenset(("favor", "fedavg")): 0.001}))
    assert list(found["Method"]) == [
        *("Local-only", "Reference: own continuations", "FAVoR", "FAVoR w/o ASCE", "Ditto", "FedAvg"),
        *("Reference: chance", "Reference: shuffled authors"),
    ]
    against = dict(zip(found["Method"], found["Against FAVoR"], strict=True))
    assert against["FAVoR"] == "–"
    # Holm over four tests: 4 x .001. Where p is 1 the interval says more.
    assert against["FedAvg"] == "−0.30 [−0.35, −0.25], p = .004: below"
    assert against["Local-only"] == "+0.10 [+0.05, +0.15]: open"
    assert found.loc[found["Method"] == "Reference: chance", "Attributed to the author"].item() == "0.083"
    assert not {"By the methods' own encoder", "BERTScore", "Uploaded, MiB", "Voice kept"} & set(found)


def test_what_is_within_the_margin_is_so_called() -> None:
    """Half of the way from 1 / 12 to .41 is .163."""
    kept = kept_of({"": (0.9, 1), "low": (0.8, 1), "high": (1, 1), "score": (0.4, 0.45), "score_low": (0.3, 0.41)})
    against = board(evidence({}), kept).set_index("Method")["Against FAVoR"]
    assert against["FAVoR w/o ASCE"] == "−0.01 [−0.06, +0.04]: within"
    assert against["FedAvg"] == "−0.30 [−0.35, −0.25]: open"
    # .063 from the margin, with limits of .05: not within by Holm where there are 6 authors, and t is larger.
    assert board(evidence({}), kept, authors=6).set_index("Method")["Against FAVoR"]["Ditto"].endswith("open")


def test_four_authors_have_no_intervals() -> None:
    against = board(evidence({}), authors=4).set_index("Method")["Against FAVoR"]
    assert against["Local-only"] == "+0.10"


def test_quality_and_cost_stand_beside_the_voice() -> None:
    own = evidence({})
    quality = own.assign(encoder="", metric="bertscore_f1", left=0.85, right=0.8)
    kept = kept_of({"score": (0.4, 0.45)})
    sent = pd.DataFrame({"method": "favor", "metric": "upload_bytes", "variant": "", "value": [2**20, 2**21]})
    found = board(pd.concat([own, quality]), kept, traffic=sent).set_index("Method")
    beside = found.loc["FAVoR", ["BERTScore", "Passed the filter", "Uploaded, MiB"]]
    assert beside.tolist() == ["0.850", "80 of 96", "1.5"]
    assert found.loc["Reference: own continuations", "BERTScore"] == "–"


def test_unseen_encoders_judge_and_the_own_one_stands_beside_them() -> None:
    own = evidence({})
    both = pd.concat([own, own.assign(encoder="unseen", left=own["left"] / 2, right=own["right"] / 2)])
    found = board(both).set_index("Method")
    assert found["Attributed to the author"]["FAVoR"] == "0.200"
    assert found["By the methods' own encoder"]["FAVoR"] == "0.400"


def test_no_rows_are_a_board_with_chance_alone() -> None:
    assert list(board(evidence({}).iloc[:0])["Method"]) == ["Reference: chance"]


def test_what_is_so_by_definition_has_no_interval() -> None:
    kept = kept_of({"": (0.11, 1.0), "low": (-0.05, 1.0), "high": (0.39, 1.0), "score": (0.1, 0.5)})
    shares = board(evidence({}), kept).set_index("Method")["Voice kept"]
    assert shares["FAVoR"] == "0.11 [−0.05, 0.39]"
    assert shares["Reference: own continuations"] == "1.00"
