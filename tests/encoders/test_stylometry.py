"""The stylometric space: features by hand, blocks, fitting, saving."""

from pathlib import Path

import numpy as np
import pytest

from favor.corpora.style_features import STRUCTURE, VERIFIER_WORDS, function_word_rates, structure_rates
from favor.encoders.base import load_encoder
from favor.encoders.kinds.stylometry import fit_stylometry
from favor.encoders.settings import Stylometry
from favor.foundation.errors import UserError

SETTINGS = Stylometry(character_features=300, word_features=100)


@pytest.fixture(scope="module")
def fitted(styled_texts, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("stylometry")
    train = styled_texts[styled_texts["split"] == "train"]["text"].tolist()
    fit_stylometry(train, SETTINGS, folder)
    return folder


def test_function_words_by_hand() -> None:
    # "The cat and the dog don't" has 6 words: the 2, and 1, don't 1
    rates = dict(zip(VERIFIER_WORDS, function_word_rates("The cat and the dog don’t"), strict=True))
    assert (rates["the"], rates["and"], rates["don't"], rates["of"]) == (2 / 6, 1 / 6, 1 / 6, 0)
    assert len(set(VERIFIER_WORDS)) == len(VERIFIER_WORDS)
    assert not function_word_rates("").any()


def test_structure_by_hand() -> None:
    # 22 characters, words "i", "am", "SO", "glad", "Yes" (5), sentences of 4 and 1 words
    rates = dict(zip(STRUCTURE, structure_rates("i am SO glad!!  Yes :)"), strict=True))
    per_character = {"rate of !": 2, "repeated marks": 1, "double spaces": 1, "emoticons": 1, "upper case": 3}
    per_word = {"capitalised words": 2, "all-capital words": 1, "lone lower-case i": 1, "lower-case sentence starts": 1}
    expected = {name: count / 22 for name, count in per_character.items()}
    expected |= {name: count / 5 for name, count in per_word.items()}
    expected |= {"word length": 12 / 5, "sentence length": 2.5, "sentence length deviation": 1.5}
    expected |= {"distinct words": 5 / np.sqrt(5)}
    assert {name: rates[name] for name in expected} == expected
    assert np.isfinite(structure_rates("")).all()


def test_rows_are_four_unit_blocks(fitted, styled_texts) -> None:
    encoder = load_encoder({"kind": "stylometry"}, fitted)
    rows = encoder.encode([*styled_texts["text"], ""])
    assert rows.dtype == np.float32
    assert rows.shape == (len(styled_texts) + 1, encoder.dimension)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    # each block has length 1 of a total of sqrt(4): 0.5
    structure = rows[:-1, -len(STRUCTURE) :]
    np.testing.assert_allclose(np.linalg.norm(structure, axis=1), 0.5, atol=1e-5)
    np.testing.assert_allclose(encoder.encode([styled_texts["text"][3]])[0], rows[3], atol=1e-7)
    assert encoder.encode([]).shape == (0, encoder.dimension)
    held_out = (styled_texts["split"] == "validation").to_numpy()
    same = np.equal.outer(*[styled_texts["author"][held_out].to_numpy()] * 2)
    cosines = rows[:-1][held_out] @ rows[:-1][held_out].T
    assert cosines[same].mean() > cosines[~same].mean() + 0.2


def test_words_are_those_of_the_corpus(tmp_path) -> None:
    """Scripts without a letter from A to Z have word n-grams too, in a space that is saved and loaded."""
    texts = ["Мама мыла раму.", "Мама спит!", "раму мыла мама"]
    with pytest.raises(UserError, match="no word n-gram can be kept"):
        fit_stylometry(texts, SETTINGS, tmp_path)
    fit_stylometry(texts, SETTINGS.model_copy(update={"words": "unicode"}), tmp_path)
    encoder = load_encoder({"kind": "stylometry"}, tmp_path)
    grams = encoder.state["word"]
    assert grams == ["мама", "мыла", "раму"]
    start = len(encoder.state["character"])
    (row,) = encoder.encode(["Мама, мыла? мама"])[:, start : start + 3]
    # (1 + log 2) idf of a word in all three texts, which is 1, and idf of one in two of them.
    expected = np.array([1 + np.log(2), np.log(4 / 3) + 1, 0.0])
    np.testing.assert_allclose(row / np.linalg.norm(row), expected / np.linalg.norm(expected), rtol=1e-6)

    # Words without spaces
    fit_stylometry(["我喜欢北京。", "他喜欢上海。"], SETTINGS.model_copy(update={"words": "segmented"}), tmp_path)
    assert load_encoder({"kind": "stylometry"}, tmp_path).state["word"] == ["喜欢"]


def test_fitting_is_independent_of_order_and_repeatable(fitted, styled_texts, tmp_path) -> None:
    train = styled_texts[styled_texts["split"] == "train"]["text"].tolist()
    fit_stylometry(train[::-1], SETTINGS, tmp_path)
    for name in ("encoder.json", "encoder.safetensors"):
        assert (tmp_path / name).read_bytes() == (fitted / name).read_bytes()


def test_bad_input(tmp_path) -> None:
    for texts, problem in ((["one"], "at least 2 texts"), (["12 34"] * 2, "no word n-gram can be kept")):
        with pytest.raises(UserError, match=problem):
            fit_stylometry(texts, SETTINGS, tmp_path)
    with pytest.raises(UserError, match="needs the folder"):
        load_encoder({"kind": "stylometry"})
