"""Every sentence of the first screen says what its numbers say, and no more."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from favor.report.findings import Facts, adapters, findings, level, rival, smallest, voices
from favor.statistics.power import detectable

METHODS = ("fedavg", "ditto", "favor", "favor_without_asce", "local_only")
VALUES = {"fedavg": 0.08, "ditto": 0.20, "favor": 0.30, "favor_without_asce": 0.29, "local_only": 0.34, "gold": 0.5}
AUTHORS = 20


def evidence(p=None, encoder="unseen", values=None) -> pd.DataFrame:
    """Every pair of ``values`` once, ± 0.05 around the difference with the error .024, p = .9 unless ``p`` has it."""
    values = VALUES if values is None else values
    names = list(values)
    rows = []
    for place, left in enumerate(names):
        for right in names[place + 1 :]:
            delta = values[left] - values[right]
            certain = (p or {}).get(frozenset((left, right)), 0.9)
            ends = (delta - 0.05, delta + 0.05)
            row = (encoder, "author_accuracy_failures_wrong", left, right, values[left], values[right], delta, *ends)
            rows.append((*row, certain, 100, 0.024))
    names = ["encoder", "metric", "left_method", "right_method", "left", "right", "delta", "low", "high", "p", "draws"]
    names.append("error")
    return pd.DataFrame(rows, columns=names)


def kept(distinct, right, passed=90, encoder="unseen") -> pd.DataFrame:
    """Scores of voice_kept: by method the lower ends of the AUC among outputs and of the accuracy; 90 of 100 passed."""
    rows = []
    for method in distinct:
        for metric, n in (("kept_author_accuracy", passed), ("kept_author_accuracy_failures_wrong", 100)):
            rows += [(method, metric, "score", 0.3, n), (method, metric, "score_low", right[method], n)]
        rows.append((method, "distinct_auc", "low", distinct[method], passed))
    made = pd.DataFrame(rows, columns=["method", "metric", "variant", "value", "n"])
    return made.assign(encoder=encoder, seed=0, note="")


def facts(table=None, scores=None, methods=METHODS, authors=AUTHORS, style="asce_a") -> Facts:
    return Facts(evidence() if table is None else table, scores, style, methods, authors, {})


def test_the_level_names_chance_the_authors_and_what_failed() -> None:
    scores = kept({"favor": 0.6}, {"favor": 0.1})
    assert level(facts(scores=scores)) == (
        "Style encoders that no method has seen attribute 30% of FAVoR's 100 texts to the right author; chance is 5%, "
        "the authors' own texts 50%. 10 of the texts failed the quality filter and count as wrong."
    )
    # All passed: nothing is said of failures. Without scores nobody counted the texts.
    assert "failed" not in level(facts(scores=kept({"favor": 0.6}, {"favor": 0.1}, passed=100)))
    assert "30% of FAVoR's texts" in level(facts())


def test_the_methods_own_encoder_is_called_so() -> None:
    said = level(facts(evidence(encoder="asce_a")))
    assert said.startswith("The style encoder that methods are aligned to attributes 30% of FAVoR's texts")


def test_no_difference_found_and_the_smallest_that_would_have_been() -> None:
    said = rival(facts())
    # The strongest rival federates or not; a variant of FAVoR is none.
    assert said.startswith(
        "FAVoR's strongest rival, Local-only, reaches 34%: no difference found (−4 points [−9, +1], p = 1.000)."
    )
    # The error is deviation / sqrt(20): deviation = 0.024 x 4.472 = 0.1073.
    deviation = 0.024 * math.sqrt(20)
    points = round(100 * detectable(20, 4) * deviation)
    assert (
        f"The smallest difference that 20 authors would have shown, in four runs of five, is {points} points." in said
    )
    assert said.endswith("None of the 4 other methods differs significantly from FAVoR.")


def test_few_authors_find_nothing() -> None:
    row = {"low": -0.1, "high": 0.1}
    # Six authors: 2 / 2^6 = .031 times 4 tests is above .05.
    assert smallest(row, 6, 4) == "With 6 authors and 4 tests no difference could have been found, however large."


def test_a_significant_rival_is_above_or_below() -> None:
    # Holm over four tests: 4 x .001, 3 x .01
    p = {frozenset(("favor", "local_only")): 0.001, frozenset(("favor", "fedavg")): 0.01}
    assert rival(facts(evidence(p))) == (
        "FAVoR's strongest rival, Local-only, reaches 34%: FAVoR is significantly below it (−4 points [−9, +1], "
        "p = .004). Of 4 other methods, 1 is significantly below FAVoR and 1 above."
    )
    values = {**VALUES, "local_only": 0.1}
    p = {frozenset(("favor", "ditto")): 0.001}
    assert "FAVoR is significantly above it (+10 points [+5, +15], p = .004). Of 4 other methods, 1 is" in rival(
        facts(evidence(p, values=values))
    )


def test_voices_that_differ_and_are_not_the_authors() -> None:
    # Chance is 1/20: Ditto and FAVoR can be told apart and are not right, Local-only is right, FedAvg is one voice.
    distinct = {"fedavg": 0.45, "ditto": 0.6, "favor": 0.7, "local_only": 0.7}
    right = {"fedavg": 0.01, "ditto": 0.02, "favor": 0.05, "local_only": 0.06}
    assert voices(facts(scores=kept(distinct, right))) == (
        "Voices differ, but they are not the authors': one can tell apart by author what Ditto and FAVoR write, but "
        "not attribute it to the right author more often than by chance. FedAvg writes in one voice for all authors, "
        "as far as encoders can tell. What Local-only writes goes to the right author more often than by chance."
    )
    assert "Voices differ" not in voices(facts(scores=kept({"favor": 0.7}, {"favor": 0.2})))
    assert voices(facts()) == ""


def test_long_lists_are_counted() -> None:
    names = ("fedavg", "fedprox", "global_asce", "pooled", "base_only", "favor")
    scores = kept(dict.fromkeys(names, 0.4), dict.fromkeys(names, 0.0))
    assert voices(facts(scores=scores, methods=names)).startswith(
        "FedAvg, FedProx, Global ASCE and 3 more methods write in one voice"
    )


def test_whose_adapters_know_their_authors() -> None:
    """The base has one model for all, so no interval; FedAvg's lies around chance."""
    ends = {"base_only": (0.05,), "fedavg": (0.06, 0.02, 0.1), "favor": (0.28, 0.16, 0.44)}
    rows = [
        (method, variant, value)
        for method, values in ends.items()
        for variant, value in zip(("", "low", "high"), values, strict=False)
    ]
    rows += [(method, "chance", 0.05) for method in ends]
    scores = pd.DataFrame(rows, columns=["method", "variant", "value"]).assign(metric="likelihood_top1", n=64)
    read = replace(facts(methods=list(ends)), likelihood=scores)
    said = (
        "By how likely adapters find 64 unseen texts, FAVoR's point to the right author for 28% [16%, 44%]; chance is "
        "5%. Above chance: FAVoR."
    )
    assert adapters(read) == said
    assert findings(read)[-1].endswith(said)
    assert adapters(replace(read, likelihood=scores.assign(value=0.05))).endswith("No method is above chance.")
    assert adapters(replace(read, methods=["base_only"])) == ""
    assert adapters(facts()) == ""


def test_nothing_to_compare() -> None:
    assert findings(facts(evidence().iloc[:0])) == ["No method has an output, so nothing can be compared."]
    alone = evidence(values={"favor": 0.3, "gold": 0.5})
    assert rival(facts(alone, methods=("favor",))) == ""


@pytest.mark.parametrize("measured", [True, False])
def test_at_most_three_findings(measured) -> None:
    scores = kept(dict.fromkeys(METHODS, 0.6), dict.fromkeys(METHODS, 0.01)) if measured else None
    assert len(findings(facts(scores=scores))) == (3 if measured else 2)
