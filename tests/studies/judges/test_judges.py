"""Scores of judgements against numbers worked out by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.paper.values import load_paper_values
from favor.scores.metric import SOURCE
from favor.studies.judges.judges import judge_scores, no_judge_scores
from favor.studies.judges.prompts import QUALITY, RATINGS, VOICE
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.specs import Context

METHODS = ("favor", "ditto")
# Overall ratings by (seed, client, method): two judgements each; None is missing.
RATED = {
    (1, "a", "favor"): (4, 4),
    (1, "a", "ditto"): (2, 3),
    (1, "b", "favor"): (3, 3),
    (1, "b", "ditto"): (3, None),
    (2, "a", "favor"): (5, 4),
    (2, "a", "ditto"): (4, 4),
    (2, "b", "favor"): (1, 1),
    (2, "b", "ditto"): (None, None),
}
# Choices of a comparison, first with FAVoR as A, then with Ditto as A.
COMPARED = {
    (1, "a"): ("A", "B"),  # FAVoR twice
    (1, "b"): ("A", "A"),  # one each: a tie
    (2, "a"): ("tie", "A"),  # Ditto
    (2, "b"): ("A", "tie"),  # FAVoR
}


def tables(rated=RATED, compared=COMPARED) -> tuple[pd.DataFrame, pd.DataFrame]:
    judgements, key = [], []
    empty = dict.fromkeys(RATINGS, 0)
    for number, ((seed, client, method), values) in enumerate(rated.items()):
        for judgement, value in enumerate(values, start=1):
            names = {"kind": QUALITY, "item": f"q{number}", "judgement": judgement}
            ratings = empty if value is None else {**dict.fromkeys(RATINGS, 1), "overall": value}
            reason = "cut" if value is None else ""
            judgements.append({**names, **ratings, "choice": "", "judge": "j", "reason": reason, "answers": 1})
            key.append({**names, "seed": seed, "client": client, "prompt_id": "p", "first": method, "second": ""})
    for number, ((seed, client), choices) in enumerate(compared.items()):
        for judgement, choice in enumerate(choices, start=1):
            names = {"kind": VOICE, "item": f"v{number}", "judgement": judgement}
            first, second = METHODS if judgement == 1 else METHODS[::-1]
            answer = {"choice": choice or "", "reason": "" if choice else "cut"}
            judgements.append({**names, **empty, **answer, "judge": "j", "answers": 1})
            key.append({**names, "seed": seed, "client": client, "prompt_id": "p", "first": first, "second": second})
    return pd.DataFrame(judgements), pd.DataFrame(key).assign(passed=True)


def scored(voice=METHODS, draws=200, **changes) -> pd.DataFrame:
    table = judge_scores(*tables(**changes), METHODS, "favor", voice, 7, draws)
    return table.set_index(["seed", "method", "metric", "variant"])


def test_the_judgements_of_an_output_are_averaged_first() -> None:
    values = scored()["value"]
    assert values[1, "favor", "judge_overall", ""] == pytest.approx((4 + 3) / 2)
    assert values[1, "ditto", "judge_overall", ""] == pytest.approx((2.5 + 3) / 2)  # b's one judgement is its output's
    assert values[2, "ditto", "judge_overall", ""] == 4  # b's output has none
    assert values[0, "favor", "judge_overall", "pooled"] == pytest.approx((4 + 3 + 4.5 + 1) / 4)
    assert values[0, "ditto", "judge_overall", "pooled"] == pytest.approx((2.5 + 3 + 4) / 3)
    assert values[0, "favor", "judge_fluency", "pooled"] == 1


def test_what_is_missing_is_counted() -> None:
    table = scored()
    assert table.loc[(0, "ditto", "judge_missing", ""), ["value", "n"]].tolist() == [3, 8]
    assert table.loc[(0, "favor", "judge_missing", ""), ["value", "n"]].tolist() == [0, 8]
    assert table.loc[(0, "ditto", "judge_overall", "pooled"), "n"] == 3


def test_repeated_ratings_that_are_equal() -> None:
    row = scored().loc[(0, SOURCE, "judge_repeated", "")]
    # Judged twice: favor 44 33 54 11, ditto 23 44; equal: 44 33 11 44.
    assert row["value"] == pytest.approx(4 / 6)
    assert row["n"] == 6


def test_differences_are_matched_and_resample_authors_with_all_their_seeds() -> None:
    table = scored(draws=20_000)
    row = table.loc[(0, "ditto", "judge_difference", "")]
    # Matched: (1, a) 1.5, (1, b) 0, (2, a) 0.5; (2, b) has no output of Ditto.
    assert row["value"] == pytest.approx(2 / 3)
    assert row["n"] == 3
    # Two authors: a draw is aa (mean 1), ab (mean 2/3, twice as likely) or bb (mean 0), and rises by .5 with each a. So
    # a adds .5 and b takes it; the error of a mean of two such is sqrt(.5 / 2) = .5, and t(.975, 1) = 12.706.
    ends = [table.loc[(0, "ditto", "judge_difference", end), "value"] for end in ("low", "high")]
    # With the weights 2 and 1 it is wider still; two ratings are not more than 4 apart.
    assert ends == [-4.0, 4.0]
    # a's outputs differ by 1.5 + 0.5 and b's by 0: turning b's sign changes nothing, and all four patterns are as far.
    assert table.loc[(0, "ditto", "judge_difference", "p"), "value"] == 1.0


def test_holm_runs_over_the_baselines() -> None:
    rated = {}
    for number, seed in itertools.product(range(12), (1, 2)):
        client = f"c{number:02d}"
        rated |= {
            (seed, client, "favor"): (4, 4),
            (seed, client, "ditto"): (2, 2 + number % 2),
            (seed, client, "fedavg"): (4 - number % 2, 4 + number % 3 // 2),
        }
    judgements, key = tables(rated, {})
    table = judge_scores(judgements, key, ("favor", "ditto", "fedavg"), "favor", None, 7, 1000)
    rows = table[table["metric"] == "judge_difference"].set_index(["method", "variant"])["value"]
    assert rows["ditto", "p"] == pytest.approx(2 / 2**12)  # no draw at or below 0: the signs of twelve authors
    assert rows["ditto", "p_holm"] == pytest.approx(4 / 2**12)
    assert rows["fedavg", "p_holm"] == pytest.approx(max(rows["fedavg", "p"], rows["ditto", "p_holm"]))


def test_voices_are_preferred_by_the_sum_of_both_orders() -> None:
    table = scored(draws=20_000)
    assert table.loc[(0, "favor", "voice_ties", ""), ["value", "n"]].tolist() == [0.25, 4]
    row = table.loc[(0, "favor", "voice_preference", "")]
    assert row["value"] == pytest.approx(2 / 3)
    assert row["n"] == 3
    # Decided: a 1 and 0, b 1: with two authors, of weights 2 and 1, everything is open.
    assert [table.loc[(0, "favor", "voice_preference", end), "value"] for end in ("low", "high")] == [0.0, 1.0]
    # Minus a half, a's two are .5 - .5 and b's is .5: both signs of b are as far from 0.
    assert table.loc[(0, "favor", "voice_preference", "p"), "value"] == 1.0


def test_a_half_is_in_the_interval_of_a_preference_where_p_says_so() -> None:
    """All of six authors: p = 2 / 2^6, and six authors leave open that 1 - .05^(1/6) = .393 of all prefer the other."""
    for authors, p, low in ((6, 2 / 2**6, 0.05 ** (1 / 6)), (5, 2 / 2**5, 0.5)):
        table = scored(compared={(1, f"c{number}"): ("A", "B") for number in range(authors)})
        found = [table.loc[(0, "favor", "voice_preference", end), "value"] for end in ("", "low", "high", "p")]
        assert found == pytest.approx([1.0, low, 1.0, p])


def test_a_comparison_judged_in_one_order_only_is_left_out() -> None:
    table = scored(compared={(1, "a"): ("A", None), (1, "b"): ("B", "A"), (2, "a"): ("A", "B")})
    row = table.loc[(0, "favor", "voice_preference", "")]
    assert (row["value"], row["n"]) == (0.5, 2)
    assert table.loc[(0, "favor", "judge_missing", "voice"), "value"] == 1


@pytest.mark.parametrize(
    ("compared", "note"), [({}, "no comparison was judged"), ({(1, "a"): ("A", "A")}, "every comparison is a tie")]
)
def test_no_preference_has_its_reason(compared, note) -> None:
    row = scored(compared=compared).loc[(0, "favor", "voice_preference", "")]
    assert np.isnan(row["value"])
    assert row["note"] == note


def test_nothing_judged_gives_reasons_not_numbers() -> None:
    rated = dict.fromkeys(RATED, (None, None))
    table = scored(rated=rated, compared={})
    assert table.loc[(0, "ditto", "judge_overall", "pooled"), "note"] == "no judgement: cut"
    assert "no author and seed" in table.loc[(0, "ditto", "judge_difference", ""), "note"]


def test_judgements_of_another_key_are_refused() -> None:
    judgements, key = tables()
    with pytest.raises(UserError, match="judge again"):
        judge_scores(judgements[1:], key, METHODS, "favor", None, 7, 100)


SPEC = printed_spec("qwen-generic-quality")


def cells_of(scores) -> pd.DataFrame:
    context = Context("demo", METHODS, paper_dataset="BlogText", seeds=(1, 2))
    table = build_table(SPEC, scores, context, load_paper_values(SPEC.label))
    return table.set_index(["row", "column"])


def test_the_table_prints_ours_beside_the_papers() -> None:
    cells = cells_of(scored().reset_index())
    assert cells.loc[("Ditto", "Mean quality"), "text"] == "3.167"  # 9.5 / 3
    assert cells.loc[("Ditto", "FAVoR − method"), "text"] == "+0.667"
    assert cells.loc[("Ditto", "Unadjusted 95% CI"), "text"] == "[−4.000, 4.000]"  # fewer draws than above
    assert cells.loc[("FAVoR", "FAVoR − method"), "reason"] == "the method that the others are compared with"
    for column, value in (("Mean quality", 2.37), ("FAVoR − method", -0.173), ("Holm-adjusted p", 1.0)):
        assert cells.loc[("Ditto", column), "paper_value"] == value
    assert cells.loc[("Ditto", "Unadjusted 95% CI"), "paper_text"] == "[-0.443, 0.103]"
    assert cells.loc[("FAVoR", "Mean quality"), "paper_value"] == 2.197


def test_without_a_judge_the_table_prints_dashes_with_the_reason() -> None:
    cells = cells_of(no_judge_scores((1, 2), METHODS)).reset_index()
    assert set(cells["text"]) == {"–"}
    others = cells[(cells["row"] != "FAVoR") | (cells["column"] == "Mean quality")]
    assert set(others["reason"]) == {"no judge is configured for this experiment (studies.judges)"}


def test_judgements_of_one_author_have_no_interval_and_say_so() -> None:
    rated = {key: values for key, values in RATED.items() if key[1] == "a"}
    found = scored(rated=rated, compared={key: votes for key, votes in COMPARED.items() if key[1] == "a"})
    for method, metric in (("ditto", "judge_difference"), ("favor", "voice_preference")):
        own = found.sort_index().loc[0, method, metric]
        assert np.isfinite(own["value"][""])
        assert own["note"]["low"] == own["note"]["high"] == "needs judgements of two authors"
    cells = cells_of(found.reset_index())
    assert cells.loc[("Ditto", "FAVoR − method"), "text"] == "+1.000"  # (1.5 + 0.5) / 2
    assert cells.loc[("Ditto", "Unadjusted 95% CI"), "text"] == "–"
    assert cells.loc[("Ditto", "Unadjusted 95% CI"), "reason"] == "needs judgements of two authors"
