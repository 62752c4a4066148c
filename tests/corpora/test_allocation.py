"""The long-tail allocation, the release's figures, and the clients' texts."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from favor.corpora.allocation import ClientTexts, allocate, gini, materialise, missed_targets, rank_weights
from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS
from favor.corpora.settings import Allocation, Splitting
from favor.corpora.splits import split_documents
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet
from favor.foundation.words import document_words

WORDS = document_words("paper")


def test_the_release(request) -> None:
    # The authors' anonymised allocation (their data supplement, MIT); our defaults reproduce it to the unit.
    golden = json.loads((request.path.parent / "data" / "released_allocation.json").read_text())
    names = [f"client_{number:03d}" for number in range(1, 51)]
    made = allocate(dict(zip(names, golden["available"], strict=True)), Allocation())
    assert made["client"].tolist() == names
    assert made["target_words"].tolist() == golden["target"]
    assert made["allocated_words"].tolist() == golden["allocated"]
    assert made["allocated_words"].sum() == golden["total_allocated"] == 904_378
    assert round(gini(made["allocated_words"]), 4) == golden["gini"] == 0.1962
    assert (made["available_words"] < made["target_words"]).sum() == 15


def test_a_total_that_is_not_reached_is_said_and_can_be_reached() -> None:
    # Shares of 100 by 1 / rank for three clients: 55, 27, 18 by the shuffle of seed 2027; one client has 5 words.
    have = {"client_001": 5, "client_002": 200, "client_003": 200}
    made = allocate(have, Allocation(alpha=1.0, total_words=100))
    lost = int((made["target_words"] - made["allocated_words"]).sum())
    assert lost == made["target_words"][0] - 5 > 5
    sentence = missed_targets(made)
    assert f"total {100 - lost} where 100 was the target" in sentence
    assert "Gini" in sentence
    assert "1 of 3 clients have less text" in sentence
    reached = allocate(have, Allocation(alpha=1.0, total_words=100, reach_total=True))
    assert reached["allocated_words"].sum() == 100
    assert reached["target_words"].tolist() == made["target_words"].tolist()
    assert "total" not in missed_targets(reached)
    scarce = allocate(have, Allocation(total_words=1_000, reach_total=True))
    assert scarce["allocated_words"].tolist() == [5, 200, 200]  # all there is
    plenty = dict.fromkeys(have, 10_000)
    assert missed_targets(allocate(plenty, Allocation(total_words=1_000))) == ""


def test_gini_by_hand() -> None:
    assert gini([5, 5, 5]) == 0
    # (1, 2, 3): (-2 * 1 + 0 * 2 + 2 * 3) / (3 * 6) = 4 / 18
    assert gini([3, 1, 2]) == pytest.approx(4 / 18)
    assert gini([0, 0, 1]) == pytest.approx(2 / 3)  # the most three values can have
    assert gini([]) == gini([0, 0]) == 0


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_gini_is_half_the_relative_mean_difference(values) -> None:
    array = np.array(values, dtype=float)
    expected = np.abs(array[:, None] - array).mean() / (2 * array.mean())
    assert gini(values) == pytest.approx(expected)


@pytest.mark.parametrize(("level", "alpha"), [("balanced", 0.0), ("moderate", 0.35), ("strong", 0.70)])
def test_levels_of_the_sweep_give_out_exactly_the_total(level, alpha) -> None:
    plenty = {f"client_{number:03d}": 10**9 for number in range(1, 51)}
    made = allocate(plenty, Allocation(shape=level, total_words=904_378))
    assert made["allocated_words"].sum() == 904_378
    assert gini(made["allocated_words"]) == pytest.approx(gini(rank_weights(50, alpha)), abs=1e-4)


def test_what_a_cap_frees_goes_to_clients_with_room() -> None:
    # Balanced, 100 words for 10, 30 and 1,000: 10 is full, 90 left for two is 45, 30 is full, the rest is 60.
    made = allocate({"a": 10, "b": 30, "c": 1000}, Allocation(shape="balanced", total_words=100))
    assert made["allocated_words"].tolist() == [10, 30, 60]
    # Two full clients and a rounding unit: 7 words for 3 with room is 2, 2, 2 and one more for the first of them.
    made = allocate(dict.fromkeys("abc", 50), Allocation(shape="balanced", total_words=7))
    assert made["allocated_words"].tolist() == [3, 2, 2]


@given(clients=st.integers(1, 30), total=st.integers(1, 60), seed=st.integers(0, 50))
def test_a_few_words_leave_nobody_with_less_than_none(clients, total, seed) -> None:
    plenty = {f"client_{number:03d}": 10**9 for number in range(clients)}
    targets = allocate(plenty, Allocation(total_words=total, seed=seed))["target_words"]
    assert targets.min() >= 0
    assert targets.sum() == total


def test_bad_levels_and_totals_are_refused() -> None:
    for total in (None, 11):
        with pytest.raises(UserError, match="exactly this many words; there are 10, so set at most that"):
            allocate({"a": 5, "b": 5}, Allocation(shape="strong", total_words=total))


@given(
    available=st.lists(st.integers(1, 10_000), min_size=1, max_size=30),
    share=st.floats(0.01, 1.0),
    level=st.sampled_from(["balanced", "moderate", "strong"]),
)
def test_the_sweep_never_gives_more_than_there_is(available, share, level) -> None:
    total = max(1, int(share * sum(available)))
    clients = {f"client_{number:03d}": words for number, words in enumerate(available)}
    made = allocate(clients, Allocation(shape=level, total_words=total))
    assert made["allocated_words"].sum() == total
    assert (made["allocated_words"] <= made["available_words"]).all()


@given(
    available=st.lists(st.integers(1, 10_000), min_size=1, max_size=30),
    total=st.none() | st.integers(1, 200_000),
    alpha=st.floats(0, 3),
)
def test_targets_sum_to_the_total_and_nobody_exceeds_what_there_is(available, total, alpha) -> None:
    named = {f"client_{number:03d}": words for number, words in enumerate(available, start=1)}
    made = allocate(named, Allocation(alpha=alpha, total_words=total))
    assert made["target_words"].sum() == (sum(available) if total is None else total)
    assert (made["allocated_words"] == made[["available_words", "target_words"]].min(axis=1)).all()


def test_cut_words() -> None:
    # A text with no more words than asked for stays whole, its end mark with it; a cut ends at a word.
    text = "It's  a -- 22\nfine day."
    expected = ["", "It's", "It's  a", "It's  a -- 22\nfine", "It's  a -- 22\nfine day", text]
    assert [WORDS.cut(text, words) for words in range(6)] == expected


@given(st.text(alphabet="ab' .\n1é", max_size=60), st.integers(1, 20))
def test_cut_is_a_prefix_with_as_many_words(text, words) -> None:
    cut = WORDS.cut(text, words)
    assert text.startswith(cut)
    assert WORDS.count(cut) == min(words, WORDS.count(text))


@pytest.fixture
def clients(documents) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    posts = [
        (author, " ".join([f"{author}{chr(97 + number)}"] * 30))
        for author, count in (("x", 20), ("y", 20), ("z", 30), ("other", 20))
        for number in range(count)
    ]
    path = documents(posts)
    names = ["client_002", "client_001", "client_003", ""]
    roster = pd.DataFrame({"author": ["x", "y", "z", "other"], "client": names})
    return path, split_documents(path, Splitting()).splits, roster


def test_materialise(clients, tmp_path) -> None:
    path, splits, roster = clients
    settings = Allocation(total_words=1000, enforce=True)
    made = materialise(path, splits, roster, settings, "paper")
    write_parquet(made.texts, tmp_path / "texts.parquet", CLIENT_TEXTS)
    write_parquet(made.allocation, tmp_path / "allocation.parquet", ALLOCATION)
    # 20 posts give 16 for training, 30 give 24, of 30 words each
    assert made.allocation["available_words"].tolist() == [480, 480, 720]
    assert made.allocation["target_words"].sum() == 1000
    texts = made.texts
    assert len(texts) == 70
    assert texts[texts["client"] == "client_001"]["document_id"].str.startswith("y-").all()
    spent = texts.groupby("client")["allocated_words"].sum().tolist()
    assert spent == made.allocation["allocated_words"].tolist()
    assert (texts.loc[texts["split"] != "train", "training_text"] == "").all()
    for row in texts[texts["split"] == "train"].itertuples():
        assert row.text.startswith(row.training_text)
        assert WORDS.count(row.training_text) == row.allocated_words
    cut = texts[(texts["allocated_words"] > 0) & (texts["allocated_words"] < texts["words"])]
    assert cut.groupby("client").size().max() <= 1  # whole posts but for one
    again = materialise(path, splits, roster, settings, "paper")
    pd.testing.assert_frame_equal(texts, again.texts)


def test_not_enforced_trains_on_everything(clients) -> None:
    path, splits, roster = clients
    made = materialise(path, splits, roster, Allocation(total_words=1000, enforce=False), "paper")
    train = made.texts[made.texts["split"] == "train"]
    assert (train["training_text"] == train["text"]).all()
    assert (train["allocated_words"] == train["words"]).all()
    assert made.allocation["allocated_words"].sum() == 1000


def test_balanced_subsets_of_rising_volume_are_nested(clients) -> None:
    totals = (390, 780, 1560)
    # The volumes of the text-volume study: 25 %, 50 % and 100 % of a budget that the smallest client cannot fill.
    settings = [Allocation(shape="balanced", total_words=total, enforce=True) for total in totals]
    made = [materialise(*clients, each, "paper") for each in settings]
    for part, total in zip(made, totals, strict=True):
        assert part.allocation["allocated_words"].sum() == part.texts["allocated_words"].sum() == total
    # 390 is 130 each, 780 is 260 each; of 1,560 two clients take the 480 words they have, the third the other 600.
    assert [part.allocation["allocated_words"].tolist() for part in made] == [[130] * 3, [260] * 3, [480, 480, 600]]
    for less, more in pairwise(made):
        assert less.texts["document_id"].tolist() == more.texts["document_id"].tolist()
        pairs = list(zip(less.texts["training_text"], more.texts["training_text"], strict=True))
        # A text that is trained on at the smaller volume is trained on at the larger, whole or as a longer start.
        assert all(longer.startswith(shorter) for shorter, longer in pairs)
        assert sum(shorter != longer for shorter, longer in pairs) > 0


def test_shots_are_nested_and_apart_from_the_texts_set_aside(clients) -> None:
    path, splits, roster = clients

    def few(shots) -> ClientTexts:
        return materialise(path, splits, roster, Allocation(shots=shots, reference_texts=6), "paper")

    used, aside = {}, {}
    for shots in (1, 4, 10):
        texts, allocation = few(shots)
        trained = texts[texts["allocated_words"] > 0]
        used[shots] = set(trained["document_id"])
        aside[shots] = set(texts.loc[texts["split"] == "reference", "document_id"])
        assert trained.groupby("client").size().tolist() == [shots] * 3
        assert (trained["training_text"] == trained["text"]).all()
        assert set(trained["split"]) == {"train"}
        # Nothing else of the training texts is left; of 20, 20 and 30 posts, 2, 2 and 3 are for validation and test.
        counts = texts["split"].value_counts().to_dict()
        assert counts == {"train": 3 * shots, "reference": 18, "validation": 7, "test": 7}
        assert (texts.loc[texts["split"] != "train", "training_text"] == "").all()
        assert allocation["available_words"].tolist() == [480, 480, 720]
        assert allocation["allocated_words"].tolist() == [30 * shots] * 3
    assert used[1] < used[4] < used[10]
    assert aside[1] == aside[4] == aside[10]
    assert not aside[1] & used[10]
    with pytest.raises(UserError, match="16 training texts, but 11 shots and 6 reference texts are wanted"):
        few(11)
