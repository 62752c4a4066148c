"""BERTScore against the values that the library publishes: a departure stops the run."""

import os
from typing import Any

import pytest

from favor.foundation.errors import UserError
from favor.scores.bertscore import BertScorer, check_canary


class Fixed:
    """A scorer with given values."""

    def __init__(self, values) -> None:
        self.values = values

    def f1(self, candidates, references) -> Any:
        assert len(candidates) == len(references) == len(self.values)
        return self.values


PUBLISHED = [0.9833561182022095, 0.9782299995422363, 0.916214644908905]  # F of bert-score's test_scorer


def test_published_values_pass_and_a_shift_is_refused() -> None:
    assert check_canary(Fixed(PUBLISHED), "roberta-large", 17)
    assert check_canary(Fixed(PUBLISHED), "/models/roberta-large", 17)
    with pytest.raises(UserError, match=r"differs by 0.0012 from the values that bert-score publishes"):
        check_canary(Fixed([*PUBLISHED[:2], PUBLISHED[2] - 0.0012]), "roberta-large", 17)
    with pytest.raises(UserError, match="differs by nan"):
        check_canary(Fixed([*PUBLISHED[:2], float("nan")]), "roberta-large", 17)
    # Models without published values are not compared.
    assert not check_canary(Fixed([]), "embedded-minilm", 5)
    assert not check_canary(Fixed([]), "roberta-large", 16)


def test_the_real_model_gives_the_published_values() -> None:
    source = os.environ.get("FAVOR_ROBERTA_LARGE")
    if not source:
        pytest.skip("without roberta-large (FAVOR_ROBERTA_LARGE)")
    assert check_canary(BertScorer(source, layer=17), "roberta-large", 17)
