"""STEL and STEL-or-Content: quads by hand, encoders of which the result is known, and the published predictions."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from favor.encoders.schemas import CERTIFICATE
from favor.encoders.stel import Item, certify, choices, content_choices, credit, read_items

PREDICTIONS = Path(__file__).parents[1] / "data" / "stel" / "predictions.tsv"
# Decisions of equal sides that the published code made by the last digit of a float; it is a tie here.
BY_ROUNDING = {"CharacterThreeGramSimilarity": 1, "PunctuationSimilarity": 11}
PUNCTUATION = "':,_!?;.\"()-"


def test_items_are_those_that_may_be_passed_on() -> None:
    items = read_items()
    expected = {"contraction": 100, "nbr_substitution": 100, "emotives": 200, "em-subj-pronoun": 100}
    assert Counter(item.dimension for item in items) == expected
    assert len({item.name for item in items}) == 500
    assert {item.correct for item in items} == {1, 2}
    # exact strings: the published file ends these sentences with a line feed
    assert all(item.anchors[0].endswith("\n") for item in items if item.dimension == "em-subj-pronoun")
    few = read_items(3)  # the first of each dimension
    assert Counter(item.dimension for item in few) == dict.fromkeys(expected, 3)
    assert few[:3] == items[:3]


def test_order_by_hand() -> None:
    # s(A1,S1) .9, s(A2,S2) .5: .01 + .25 = .26; s(A1,S2) .6, s(A2,S1) .7: .16 + .09 = .25, so S2-S1.
    # The sums of similarities say the other order, 1.4 against 1.3: the squares decide.
    assert choices(np.array([[[0.9, 0.6], [0.7, 0.5]]])).tolist() == [2]
    # .04 + .04 = .08 against .25 + .01 = .26
    assert choices(np.array([[[0.8, 0.5], [0.9, 0.8]]])).tolist() == [1]
    assert choices(np.array([[[0.8, 0.8], [0.3, 0.3]]])).tolist() == [0]


def test_a_tie_is_what_rounding_leaves_open_and_counts_half() -> None:
    near = np.array([[[0.8, 0.8 + 1e-8], [0.8, 0.8]], [[0.8, 0.8 + 1e-3], [0.8, 0.8]]])
    assert choices(near).tolist() == [0, 2]
    assert choices(near, tolerance=0.0).tolist() == [2, 2]
    assert credit(np.array([0, 1, 2]), np.array([2, 1, 1])).tolist() == [0.5, 1.0, 0.0]
    assert content_choices(np.array([0.5, 0.5, 0.4]), np.array([0.4, 0.5, 0.5])).tolist() == [1, 0, 2]


def test_a_quad_in_the_plane_by_hand() -> None:
    item = Item("d", "q", ("a1", "a2"), ("s1", "s2"), 2)  # A1 has the style of S2
    angles = {"a1": 0, "a2": 30, "s1": 50, "s2": 10}

    def encode(texts) -> np.ndarray:
        radians = np.radians([angles[text] for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1)

    row = certify(encode, [item]).iloc[0]
    # S1-S2: (1 - cos 50)^2 + (1 - cos 20)^2 = .1276 + .0036; S2-S1: (1 - cos 10)^2 + (1 - cos 20)^2 = .0002 + .0036
    assert row["stel"] == 1.0
    # S2 is 10 degrees from A1, and A2 is 30
    assert row["stel_or_content"] == 1.0
    angles["s2"] = 40  # now A2 is nearer than the sentence of A1's style
    assert certify(encode, [item]).iloc[0]["stel_or_content"] == 0.0


def hashed_content(texts) -> np.ndarray:
    """Vectors of the words that both versions of a sentence share, whatever its style."""
    vectors = np.zeros((len(texts), 64))
    for row, text in enumerate(texts):
        for word in re.findall(r"[a-z]{4,}", text.lower()):
            vectors[row, sum(word.encode()) % 64] += 1
    return vectors


def test_an_encoder_that_hashes_content_fails_where_style_competes_with_content() -> None:
    table = certify(hashed_content, read_items())
    assert list(table) == CERTIFICATE.names
    assert table.groupby("dimension")["stel_or_content"].mean().max() < 0.12


def test_an_encoder_of_style_alone_passes_both() -> None:
    for item in read_items(40):  # one at a time, because a sentence may serve two items in different places
        ordered = item.sentences if item.correct == 1 else item.sentences[::-1]
        style = dict(zip((*ordered, *item.anchors)[::-1], (1, 0, 1, 0), strict=True))
        table = certify(lambda texts, style=style: np.eye(2)[[style[text] for text in texts]], [item])
        assert table[["stel", "stel_or_content"]].to_numpy().tolist() == [[1.0, 1.0]]


def test_encoders_that_say_nothing_are_at_chance() -> None:
    for same in (np.zeros, np.ones):
        table = certify(lambda texts, same=same: same((len(texts), 3)), read_items())
        assert set(table[["stel", "stel_or_content"]].to_numpy().ravel()) == {0.5}


def cosine(left, right) -> float:
    if not left.any() or not right.any():
        return float(not left.any() and not right.any())
    return float(left @ right / np.sqrt(left @ left) / np.sqrt(right @ right))


def edits(left, right) -> int:
    row = list(range(len(right) + 1))
    for place, letter in enumerate(left, start=1):
        before, row[0] = row[0], place
        for other, match in enumerate(right, start=1):
            before, row[other] = row[other], min(before + (letter != match), row[other] + 1, row[other - 1] + 1)
    return row[-1]


def three_grams(left, right) -> float:
    counts = CountVectorizer(analyzer="char", ngram_range=(3, 3)).fit_transform([left, right]).toarray()
    return cosine(*counts.astype(np.float64))


def punctuation(text) -> np.ndarray:
    return np.array([text.count(mark) for mark in PUNCTUATION], dtype=np.float64)


def word_length(text) -> float:
    return float(np.mean([len(word) for word in text.split(" ")]))


def upper_share(text) -> float:
    return sum(letter.isupper() for letter in text) / len(text)


SIMILARITIES = {
    "LevenshteinSimilarity": lambda left, right: 1 - edits(left, right) / max(len(left), len(right)),
    "CharacterThreeGramSimilarity": three_grams,
    "PunctuationSimilarity": lambda left, right: cosine(punctuation(left), punctuation(right)),
    "WordLengthSimilarity": lambda left, right: (
        1 - abs(word_length(left) - word_length(right)) / max(word_length(left), word_length(right))
    ),
    "UppercaseSimilarity": lambda left, right: 1 - abs(upper_share(left) - upper_share(right)),
}


@pytest.mark.slow(10)
@pytest.mark.parametrize("name", SIMILARITIES)
def test_choices_are_the_published_ones_item_by_item(name) -> None:
    published = pd.read_csv(PREDICTIONS, sep="\t").set_index("ID")[name]
    items = [item for item in read_items() if item.name in published.index]
    assert len(items) == len(published) == 200
    similar = SIMILARITIES[name]
    table = [[[similar(anchor, sentence) for sentence in item.sentences] for anchor in item.anchors] for item in items]
    found = choices(np.array(table), tolerance=1e-12)
    expected = published[[item.name for item in items]].to_numpy()
    other = found != expected
    assert set(found[other]) <= {0}
    assert other.sum() == BY_ROUNDING.get(name, 0)
    assert (expected == 0).sum() > 50  # ties are compared, too
