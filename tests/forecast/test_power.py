"""What a plan says of differences that it can tell apart, and why where it can tell none."""

from __future__ import annotations

import math
from typing import Any

import pytest

from favor.forecast.power import power_lines, power_of, variances
from favor.foundation.errors import UserError
from favor.statistics.power import detectable


def pair(right, authors, prompts) -> dict[str, Any]:
    """FAVoR against a row: the variances between authors and between prompts."""
    parts = {"authors": (authors, []), "prompts": (prompts, ["seeds", "prompts"])}
    components = [{"kind": kind, "variance": part[0], "averaged_over": part[1]} for kind, part in parts.items()]
    return {"left": "favor", "right": right, "components": components}


PAIRS = [pair("ditto", 0.01, 0.12), pair("fedavg", 0.03, 0.0), pair("pooled", 0.0, 0.08)]
KNOWN: dict[str, Any] = {
    "run": {"called": "three numbers by hand", "authors": 12, "seeds": 1, "prompts": 4},
    "measures": [
        {"metric": "author_accuracy", "reader": "style", "pairs": PAIRS},
        {"metric": "likelihood_top1", "reader": "", "why_not": "no likelihoods were read"},
    ],
}


def planned(plan, authors, seeds=(1, 2)) -> Any:
    """The micro run with another number of authors and seeds, and a table of likelihoods."""

    def change(config) -> None:
        config["corpora"]["micro"]["roles"]["clients"] = authors
        config["corpora"]["micro"]["demo"]["authors"] = authors + 40
        experiment = config["experiments"]["micro"]
        experiment["seeds"] = list(seeds)
        experiment["tables"].append("likelihood-attribution")

    return plan(change=change)


def test_the_smallest_difference_by_hand(plan) -> None:
    planner = planned(plan, 20)
    found = power_of(planner, KNOWN)["micro"]
    # Nine rows: eight tests. Two seeds of two prompts: ditto .01 + .12 / 4 = .04, fedavg .03, pooled .02.
    assert (found["authors"], found["tests"], found["seeds"], found["prompts"]) == (20, 8, 2, 2)
    accuracy, top1 = found["measures"]
    # A rate of four outputs per author moves in steps of a quarter.
    smallest = [detectable(20, 8, 0.25 / math.sqrt(variance)) * math.sqrt(variance) for variance in (0.02, 0.03, 0.04)]
    assert [accuracy["low"], accuracy["smallest"], accuracy["high"]] == pytest.approx(smallest)
    assert smallest[1] > detectable(20, 8) * math.sqrt(0.03)
    # The median pair is fedavg, which differs between authors alone: no number of prompts halves that.
    assert accuracy["half"]["prompts"] is None
    assert detectable(accuracy["half"]["authors"], 8) <= detectable(20, 8) / 2
    assert top1["why_not"] == "not known: no likelihoods were read in the run behind the variances"
    text = "\n".join(power_lines(planner, {"micro": found}, KNOWN))
    assert f"half: {accuracy['half']['authors']} authors (no number of prompts per author)" in text
    assert "measured on three numbers by hand (12 authors, 1 seed, 4 prompts per author)" in text
    assert "That run has one of seeds: what more of them would do is not known." in text
    assert "between 0.7 and 1.7 times" in text
    assert "20 authors, 2 seeds, 2 prompts and 6 texts held out per author, 1 sample per prompt; 8 tests" in text


def test_six_authors_and_many_tests_tell_nothing_apart_and_are_told_what_to_do(plan) -> None:
    planner = planned(plan, 6)
    found = power_of(planner, KNOWN)
    assert found["micro"]["measures"][0]["why_not"] == "none, however large"
    text = "\n".join(power_lines(planner, found, KNOWN))
    # 2 / 2^6 = .031, .05 / 8 = .0063; nine authors show 2 / 512 = .0039; one test, so two methods, at most.
    assert "With 6 authors and 8 tests no difference can be told apart, however large" in text
    assert "no p below .031, and Holm asks for one below .0063" in text
    assert "Take 9 authors or more ('roles.clients' of the corpus), or compare 2 methods at most." in text


def test_of_several_experiments_one_has_to_be_named(tmp_path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "settings.json").touch()
    with pytest.raises(UserError, match=r"several experiments \(one, two\); name one, as in --like"):
        variances(str(tmp_path), ["three"])
    with pytest.raises(UserError, match="none: folder not found"):
        variances(str(tmp_path / "none"), [])
