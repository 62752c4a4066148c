"""Texts in another language than the other authors': refused a number, warned of, or named in a note."""

import numpy as np
import pytest
from tests.exports.conftest import refusal as said
from tests.voice.conftest import Trigrams, command, refusal, training

from favor.foundation.errors import UserError
from favor.voice.contrast import embedded_contrast
from favor.voice.language import Language, check_language
from favor.voice.score import score_voice

GERMAN = """
ich habe gestern lange mit meiner schwester gesprochen und wir waren uns einig dass die sache so nicht weiter gehen
kann am ende war es in der küche still man hörte die uhr der hund lief hinaus was will er an diesem tag
"""


def german(number, words=120) -> str:
    return " ".join(np.random.default_rng(number).choice(GERMAN.split(), words))


def test_counts_by_hand() -> None:
    """Of "a" 4 of 10 words, "b" 3, "c" 2, "d" 1: the list holds all four, and one of two authors has no "d"."""
    language = Language.of({"one": ["a a a a b b b c c d"], "two": ["A a b b c"]})
    assert language.words == {"a", "b", "c", "d"}
    assert language.usual == pytest.approx(1.0)
    assert language.foreign(["a x x", "B y"]) == ""
    assert language.foreign(["a a a x x y"]) == "they use 1 of the others' 4 commonest words"
    assert language.few("a x x x")  # a fourth; a third is not few
    assert not language.few("a x x")


def test_presidents_share_a_language_and_german_is_another() -> None:
    presidents = embedded_contrast()
    language = Language.of(presidents)
    assert 0.4 < language.usual < 0.5
    for texts in presidents.values():
        assert not language.foreign(texts)
        assert not any(map(language.few, texts))
    with pytest.raises(UserError, match=r"not in the language of the other authors \(they use \d of .* --contrast"):
        check_language([german(n) for n in range(30)], presidents)


def test_a_score_needs_one_language_and_names_a_draft_in_another() -> None:
    presidents = embedded_contrast()
    author = presidents.pop("Donald J. Trump")
    few = {name: presidents[name] for name in list(presidents)[::4]}
    found = score_voice({"own": author[9], "draft": german(1)}, author[:9], few, Trigrams())
    assert any("Of another language (few function words)" in note and "draft" in note for note in found.notes)
    assert not any("own" in note for note in found.notes)
    line = said(score_voice, {"own": author[9]}, [german(n) for n in range(30)], few, Trigrams())
    assert "not in the language of the other authors" in line


@pytest.mark.slow(3)
def test_training_warns_and_the_report_asks_for_other_authors(toy, tmp_path, capsys) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(32):
        (folder / f"{number:02d}.txt").write_text(german(number))
    command("train", folder, *training(toy, tmp_path / "v", "--epochs", 1)[2:])
    assert "warning: the texts are not in English (they use" in capsys.readouterr().err
    assert "not in the language of the other authors" in refusal("report", "--voice", tmp_path / "v")
    assert not (tmp_path / "v" / "report.html").exists()
