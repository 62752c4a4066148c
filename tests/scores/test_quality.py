"""The output filter and its family."""

import pytest

from favor.lm.settings import OutputFilter
from favor.scores import quality
from favor.scores.text_quality import distinct_bigram_ratio, quality_columns


def test_distinct_bigram_ratio_by_hand() -> None:
    # "a b a b a": bigrams ab ba ab ba, 2 distinct of 4
    assert distinct_bigram_ratio("A b a B a") == 0.5
    assert distinct_bigram_ratio("one") == 0.0
    assert distinct_bigram_ratio("") == 0.0
    assert distinct_bigram_ratio("one two") == 1.0


def test_limits_are_inclusive_as_the_paper_words_them() -> None:
    nineteen, twenty = (" ".join(f"w{i}" for i in range(n)) for n in (19, 20))
    # 21 bigrams of two alternating words: 2 / 21 = 0.095 < 0.15;
    # 3 words in a cycle, 20 bigrams: 3 / 20 = 0.15, which is not below 0.15
    alternating = "x y " * 11
    cycle = " ".join(["x y z"] * 7)
    columns = quality_columns([nineteen, twenty, alternating, cycle, "", "  \n "])
    assert columns["words"].tolist() == [19, 20, 22, 21, 0, 0]
    assert columns["passed"].tolist() == [False, True, False, True, False, False]
    assert columns["distinct_bigram_ratio"].tolist()[3] == pytest.approx(0.15)
    unlimited = OutputFilter(minimum_words=0, minimum_distinct_bigram_ratio=0.0)
    assert quality_columns(["", "one"], unlimited)["passed"].tolist() == [False, True]


def test_family(three_authors, score_value) -> None:
    scores = quality.score(three_authors)
    assert score_value(scores, "pass_rate") == pytest.approx(5 / 6)
    assert score_value(scores, "mean_words") == pytest.approx((5 * 25 + 3) / 6)
    assert score_value(scores, "pass_rate", method="gold") == 1.0
