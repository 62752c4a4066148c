"""Whose texts a folder holds by its front matter."""

from __future__ import annotations

import pytest

from favor.foundation.errors import UserError
from favor.voice.texts import own_files


def write(folder, **files) -> None:
    for name, content in files.items():
        (folder / name).write_text(content)


@pytest.mark.parametrize(
    ("author", "texts", "said"),
    [
        ("ann lee", ["One.", "Two."], "left out: by another 1, draft 1, several authors 1"),
        ("Bo", ["One.", "Three."], "left out: by another 1, draft 1, several authors 1"),
    ],
)
def test_front_matter_says_whose_texts_train_a_voice(tmp_path, capsys, author, texts, said) -> None:
    fronts = ("", "author: Ann Lee\n", "author: Bo\n", "draft: true\n", "authors: [Ann Lee, Bo]\n")
    for front, text in zip(fronts, ("One.", "Two.", "Three.", "Four.", "Five."), strict=True):
        write(tmp_path, **{f"{text}md": f"---\n{front}---\n{text}" if front else text})
    assert sorted(file.text for file in own_files(tmp_path, author)) == sorted(texts)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("author", "remedy"), [("Eve", r"2 authors \(Ann, Bo\); 'Eve' is not among them"), ("", "keep the texts of one")]
)
def test_front_matter_of_others_is_refused(tmp_path, author, remedy) -> None:
    write(tmp_path, **{"a.md": "---\nauthor: Ann\n---\nOne.", "b.md": "---\nauthor: Bo\n---\nTwo."})
    with pytest.raises(UserError, match=remedy):
        own_files(tmp_path, author)
