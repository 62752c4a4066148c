"""Every sentence of the first screen says what its numbers say, and no more: shown, ruled out, or open."""

import math
from dataclasses import replace
from itertools import combinations

import pandas as pd
import pytest

from favor.analysis.schemas import EVIDENCE
from favor.report.facts import Facts, readings
from favor.report.findings import adapters, findings, level, rival, smallest, voices
from favor.statistics.power import detectable

METHODS = ("fedavg", "ditto", "favor", "favor_without_asce", "local_only")
VALUES = {"fedavg": 0.08, "ditto": 0.20, "favor": 0.30, "favor_without_asce": 0.29, "local_only": 0.34, "gold": 0.5}
AUTHORS = 20


def evidence(p=None, encoder="unseen", values=None, half=0.05) -> pd.DataFrame:
    """Every pair of ``values`` once, ± ``half`` with the error .024, p = .9 unless ``p`` has it."""
    rows = []
    for (left, one), (right, other) in combinations((VALUES if values is None else values).items(), 2):
        delta, certain = one - other, (p or {}).get(frozenset((left, right)), 0.9)
        row = (encoder, "author_accuracy_failures_wrong", left, right, one, other, delta, delta - half, delta + half)
        rows.append((*row, certain, 100, 0.024, [delta]))
    return pd.DataFrame(rows, columns=EVIDENCE.names)


def kept(scores, shares=None, common=None, passed=90, encoder="unseen") -> pd.DataFrame:
    """Scores of voice_kept: by method (value, low, high) of the attribution, of the share, and on common prompts.

    A fourth number on common prompts: the authors who have a text there.
    """
    rows, limits, places = [], ("score", "score_low", "score_high", "authors"), ("", "low", "high")
    for method, ends in scores.items():
        rows.append((method, "kept_author_accuracy", "score", ends[0], passed))
        share = (shares or {}).get(method, (0.5, 0.1, 0.9))
        for metric, names, values in (
            ("kept_author_accuracy_failures_wrong", limits, ends),
            ("kept_common_accuracy", limits, common[method] if common else ()),
            ("kept_author_accuracy_failures_wrong", places, share),
        ):
            rows += [(method, metric, name, value, 100) for name, value in zip(names, values, strict=False)]
    made = pd.DataFrame(rows, columns=["method", "metric", "variant", "value", "n"])
    return made.assign(encoder=encoder, seed=0, note="")


def facts(table=None, scores=None, methods=METHODS, authors=AUTHORS, style="asce_a", margin=0.5, **more) -> Facts:
    return Facts(evidence() if table is None else table, scores, style, methods, authors, {}, margin=margin, **more)


AT_CHANCE, ABOVE, FAR = (0.05, 0.01, 0.2), (0.3, 0.15, 0.5), (0.45, 0.3, 0.6)


def test_the_level_names_chance_the_authors_and_what_failed() -> None:
    scores = kept({"favor": AT_CHANCE})
    assert level(facts(scores=scores, seeds=2)) == (
        "Style encoders that no method has seen attribute 30% of FAVoR's 100 texts (20 authors, 2 seeds) to the right "
        "author; chance is 5%, the authors' own texts 50%. 10 texts failed the quality filter and count as wrong."
    )
    # All passed: nothing is said of failures. Without scores nobody counted the texts.
    assert "failed" not in level(facts(scores=kept({"favor": AT_CHANCE}, passed=100)))
    assert "30% of FAVoR's texts" in level(facts())


def test_encoders_that_disagree_are_said_one_by_one() -> None:
    single = [evidence(encoder=name, values={**VALUES, "favor": of}) for name, of in (("asce_b", 0.08), ("luar", 0.52))]
    table = pd.concat([evidence(), *single])
    said = level(facts(table, unseen=["asce_b", "luar"]))
    assert "to the right author (8% and 52% by ASCE-B and LUAR-MUD); chance" in said
    assert level(facts(table, unseen=["asce_b"])).startswith("A style encoder that no method has seen attributes 30%")


def lost(passed) -> pd.DataFrame:
    rows = [("favor", "margin_lost", f"client_{number}", 0.1, n, "asce_a", 0, "") for number, n in enumerate(passed)]
    return pd.DataFrame(rows, columns=["method", "metric", "variant", "value", "n", "encoder", "seed", "note"])


def test_who_failed_the_filter_is_said() -> None:
    scores = kept({"favor": AT_CHANCE})  # 100 texts of 20 authors: 5 each
    two = facts(scores=pd.concat([scores, lost([0, 0, *[5] * 18])]), prompts=5)
    assert level(two).endswith("10 texts by 2 of the 20 authors failed the quality filter and count as wrong.")
    # Authors do not have 6 texts each: nobody can be named.
    assert level(facts(scores=pd.concat([scores, lost([4] * 10 + [6] * 5 + [4] * 5)]), prompts=6)).endswith("as wrong.")


def test_a_rival_without_an_interval_is_not_compared() -> None:
    table = evidence()
    table.loc[(table[["left_method", "right_method"]] == "local_only").any(axis=1), ["low", "high", "p"]] = math.nan
    said = rival(facts(table))
    assert said == (
        "FAVoR's strongest rival, Local-only, reaches 34%. The two have outputs of too few authors in "
        "common to compare them."
    )


def test_an_open_difference_comes_with_the_smallest_that_would_have_been_found() -> None:
    said = rival(facts())
    # The strongest rival federates or not; a variant of FAVoR is none.
    assert said.startswith(
        "FAVoR's strongest rival, Local-only, reaches 34%: which of them is better is open (−4 points [−9, +1], "
        "p = 1.000)."
    )
    # The error is deviation / sqrt(20): deviation = 0.024 x 4.472 = 0.1073.
    points = round(100 * detectable(20, 4) * 0.024 * math.sqrt(20))
    assert f"With 20 authors only differences of {points} points or more would be found reliably (80 % power)." in said
    assert said.endswith("For none of the 4 other methods is a difference from FAVoR shown.")


def test_no_difference_of_more_than_100_points_is_called_findable() -> None:
    """Nine authors and twelve tests: all signs must agree, which takes about three deviations, here of 1.2 each."""
    assert detectable(9, 12) * 0.4 * 3 > 1 > detectable(9, 12) * 0.04 * 3
    said = "With 9 authors and 12 tests no difference would be found reliably (80 % power)."
    assert smallest({"error": 0.4}, 9, 12) == said
    assert "points or more" in smallest({"error": 0.04}, 9, 12)
    assert "only differences of 1 point or more" in smallest({"error": 0.0001}, 9, 12)
    assert smallest({"error": 0.0}, 9, 12).startswith("All authors have the same difference")


def test_few_authors_show_nothing() -> None:
    # Six authors: 2 / 2^6 = .031 times 4 tests is above .05.
    assert smallest({}, 6, 4) == "With 6 authors and 4 tests no difference can be shown, however large."
    four = facts(evidence(half=0.0), kept({"favor": FAR}), authors=4)
    said = " ".join(findings(four))
    assert "[" not in said
    assert "With 4 authors and 4 tests no difference can be shown, however large." in said
    assert "Whose voices methods write in cannot be shown with 4 authors." in said


def test_a_significant_rival_is_above_or_below() -> None:
    # Holm over four tests: 4 x .001, 3 x .01
    p = {frozenset(("favor", "local_only")): 0.001, frozenset(("favor", "fedavg")): 0.01}
    assert rival(facts(evidence(p))) == (
        "FAVoR's strongest rival, Local-only, reaches 34%: FAVoR is significantly below it (−4 points [−9, +1], "
        "p = .004). Of 4 other methods, 1 is significantly below FAVoR and 1 above."
    )
    above = facts(evidence({frozenset(("favor", "ditto")): 0.001}, values={**VALUES, "local_only": 0.1}))
    said = "FAVoR is significantly above it (+10 points [+5, +15], p = .004). Of 4 other methods, 1 is"
    assert said in rival(above)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [(1, "All this is about this training: "), (2, "All this is about these two trainings: "), (3, "")],
)
def test_one_or_two_trainings_say_what_they_cannot(seeds, said) -> None:
    alone = facts(evidence(values={"favor": 0.4, "gold": 0.5}), kept({"favor": FAR}), ("favor",), seeds=seeds)
    for found in (findings(facts(seeds=seeds))[1], findings(alone)[1]):  # also where no rival is
        assert ("no interval and no p holds" in found) is bool(said)
        assert said in found


def test_three_seeds_give_the_difference_of_each() -> None:
    """FAVoR minus Local-only is -.04 on average: .02, -.06 and -.08. Two seeds are no more than the mean."""
    for by_seed, said in (([0.02, -0.06, -0.08], "= 1.000; by seed +2, −6 and −8). "), ([0.0, -0.08], "= 1.000). ")):
        table = evidence()
        pair = (table["left_method"] == "favor") & (table["right_method"] == "local_only")
        table["by_seed"] = [by_seed if own else each for own, each in zip(pair, table["by_seed"], strict=True)]
        assert said in rival(facts(table, seeds=len(by_seed)))
        swapped = table.rename(columns={"left": "right", "right": "left"}).assign(delta=-table["delta"])
        swapped = swapped.rename(columns={"left_method": "right_method", "right_method": "left_method"})
        swapped = swapped.assign(low=-table["high"], high=-table["low"])
        swapped["by_seed"] = [[-each for each in one] for one in table["by_seed"]]
        assert rival(facts(swapped, seeds=len(by_seed))) == rival(facts(table, seeds=len(by_seed)))


@pytest.mark.parametrize(("half", "ruled_out"), [(0.05, True), (0.15, False)])
def test_a_rival_within_the_margin(half, ruled_out) -> None:
    """Half of the way from 1 / 20 to the lower limit of the authors' texts, .45, is .2."""
    scores = kept({"favor": ABOVE, "gold": (0.5, 0.45, 0.55)})
    said = rival(facts(evidence(half=half), scores))
    assert ("they are within half of the way from chance to the authors' own texts (−4 points" in said) is ruled_out
    assert ("which of them is better is open" in said) is not ruled_out
    # A margin below that of the interval rules nothing out.
    assert "is open" in rival(facts(evidence(half=half), scores, margin=0.15))


def test_a_voice_is_shown_where_the_prompts_do_not_carry_it() -> None:
    scores = {"fedavg": AT_CHANCE, "ditto": FAR, "favor": FAR}
    names = ("fedavg", "ditto", "favor")
    own = facts(scores=kept(scores, common={"fedavg": AT_CHANCE, "ditto": AT_CHANCE, "favor": ABOVE}), methods=names)
    said = voices(own)
    assert "In the authors' voices, above chance on common prompts too (Holm over 3 methods): FAVoR." in said
    assert "as they are the authors' own words and common prompts do not show more: Ditto." in said
    assert "Whether texts go to the right author more often than by chance is open for FedAvg" in said
    few = kept(scores, common={"fedavg": AT_CHANCE, "ditto": AT_CHANCE, "favor": (*ABOVE, 5)})
    assert "In the authors' voices" not in voices(facts(scores=few, methods=names))


def test_without_common_prompts_a_voice_is_shown_above_the_base() -> None:
    names = ("base_only", "ditto", "favor")
    values = {"base_only": 0.1, "ditto": 0.3, "favor": 0.4, "gold": 0.5}
    p = {frozenset(("base_only", "favor")): 0.001}
    scores = kept(dict.fromkeys(names, FAR))
    said = voices(facts(evidence(p, values=values), scores, names))
    assert "above chance and above the base model on the same prompts (Holm over 3 methods): FAVoR." in said
    assert "nothing is shown above the base model: base_only and Ditto." in said.replace("Base only", "base_only")
    alone = voices(facts(evidence(values={"favor": 0.4, "gold": 0.5}), kept({"favor": FAR}), ("favor",)))
    assert "there is neither a row of common prompts nor the base model to compare with: FAVoR." in alone
    assert "In the authors' voices" not in alone


def test_a_voice_is_ruled_out_by_its_interval() -> None:
    """Half of the way from .05 to .55 is .3, which a rate up to .2 is below; half of the way to .2 is .12."""
    own = {"favor": AT_CHANCE, "gold": (0.55, 0.45, 0.65)}
    said = voices(facts(scores=kept(own), methods=("favor",)))
    assert said == "Half of the voice or more is ruled out for FAVoR."
    said = voices(facts(scores=kept({**own, "gold": (0.2, 0.1, 0.35)}), methods=("favor",)))
    assert said.startswith("Whether texts go to the right author more often than by chance is open for FAVoR; a method")
    assert voices(facts()) == ""


def test_lists_are_corrected_for_their_length() -> None:
    """One interval just above chance is a claim alone, and none among fourteen."""
    just = (0.25, 0.1, 0.5)
    names = [f"method_{number}" for number in range(14)]
    one = voices(facts(scores=kept({"favor": just}), methods=("favor",)))
    assert one.startswith("Above chance")
    many = voices(facts(scores=kept(dict.fromkeys(names, just)), methods=names))
    assert many.startswith(
        "Whether texts go to the right author more often than by chance is open for method_0, method_1, method_2 and "
        "11 more methods;"
    )


def likelihoods(top1, own=(0.1, 0.05, 0.15), others=(-0.03, -0.08, 0.02), authors=AUTHORS) -> pd.DataFrame:
    """Scores of the family: of the base one value; of FAVoR and FedAvg with limits over ``authors`` with texts."""
    voice = tuple(left - right for left, right in zip(own, others, strict=True))
    gains = {"own": own, "others": others, "voice": voice, "neutral": (-0.02, -0.03, -0.01)}
    known = [(method, "top1", values) for method, values in top1.items()]
    known += [("favor", f"{name}_gain", values) for name, values in gains.items()]
    rows = [
        (method, f"likelihood_{name}", end, value)
        for method, name, values in known
        for end, value in zip(("", "low", "high"), values, strict=False)
    ]
    rows += [(method, "likelihood_top1", "chance", 0.05) for method in top1]
    writers = [f"client_{number:03d}" for number in range(authors)]
    rows += [(method, "likelihood_gain", f"{writer}~{writer}", 0.1) for method in top1 for writer in writers]
    return pd.DataFrame(rows, columns=["method", "metric", "variant", "value"]).assign(encoder="", n=64)


TOP1 = {"base_only": (0.05,), "fedavg": (0.06, 0.02, 0.17), "favor": (0.28, 0.16, 0.44)}


def test_whose_adapters_know_their_authors() -> None:
    """The base has one model for all, so no interval; FedAvg's lies around chance. Texts are counted once per seed."""
    read = facts(methods=list(TOP1), likelihood=likelihoods(TOP1), seeds=2)
    said = adapters(read)
    assert said == (
        "Given 32 unseen texts, FAVoR's adapter of the true author fits best in 28% [16%, 44%] of an author's "
        "readings on average (20 authors, 2 seeds); chance is 5%. Above chance, and better than the base on their own "
        "authors: FAVoR. Open for FedAvg. Own gain: 0.100 [0.050, 0.150] nats per token over the base; voice gain: "
        "0.130 [0.130, 0.130], of which 0.030 is others' loss; neutral gain: −0.020 [−0.030, −0.010]."
    )
    assert findings(read)[-1] == said
    assert adapters(replace(read, methods=["base_only"])) == ""
    assert adapters(facts()) == ""


def test_of_adapters_the_authors_who_have_unseen_texts_are_counted() -> None:
    """Of twenty authors four have a text, or ten: t has their degrees of freedom."""
    said = adapters(facts(methods=list(TOP1), likelihood=likelihoods(TOP1, authors=4)))
    assert said == "What adapters know of their authors cannot be shown with 4 authors who have unseen texts."
    nobody = likelihoods(TOP1, authors=0)
    assert facts(likelihood=nobody).authors_read == facts(likelihood=nobody.iloc[:0]).authors_read == 0
    ten = facts(methods=list(TOP1), likelihood=likelihoods(TOP1, authors=10))
    assert "(10 authors, 1 seed)" in adapters(ten)
    alone = facts(methods=list(TOP1), likelihood=likelihoods(TOP1, authors=10), authors=10)
    assert readings(ten).equals(readings(alone))


def test_what_forgets_everything_is_given_no_voice() -> None:
    """The own gain's limits hold 0: a high voice gain and a high hit rate come from others' loss alone."""
    scores = likelihoods(TOP1, own=(0.01, -0.02, 0.04), others=(-0.5, -0.6, -0.4))
    said = adapters(facts(methods=list(TOP1), likelihood=scores))
    assert "Above chance, but not shown to read their own authors better than the base" in said
    assert "Own gain: 0.010 [−0.020, 0.040] nats per token over the base: no voice gain is claimed" in said
    assert "voice gain: 0.5" not in said
    assert "and better than the base" not in said


def test_nothing_to_compare() -> None:
    assert findings(facts(evidence().iloc[:0])) == ["No method has an output, so nothing can be compared."]
    alone = evidence(values={"favor": 0.3, "gold": 0.5})
    assert rival(facts(alone, methods=("favor",))) == ""
