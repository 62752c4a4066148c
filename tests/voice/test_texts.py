"""Whose texts a folder holds by its front matter."""

import pytest
from tests.exports.conftest import refusal

from favor.foundation.errors import UserError
from favor.voice.own_texts import own_texts
from favor.voice.texts import own_files, read_author, read_texts


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


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "Author,text\nann,One.\nbo,Two.\n"),
        ("a.jsonl", '{"user": {"name": "ann"}, "text": "One."}\n{"user": {"name": "bo"}, "text": "Two."}\n'),
    ],
)
def test_people_in_another_column_are_not_one_author(tmp_path, name, content) -> None:
    write(tmp_path, **{name: content})
    assert "names 2 people; call it 'author'" in refusal(read_author, tmp_path / name)
    assert "names 2 people; call it 'author'" in refusal(own_texts, tmp_path / name, "ann", {})
    assert len(read_texts(tmp_path / name)) == 2  # texts to be scored may be anybody's


def test_authors_are_seen_in_later_lines_and_rows_without_one_are_said(tmp_path, capsys) -> None:
    lines = '{"text": "One."}\n{"author": "ann", "text": "Two."}\n'
    write(tmp_path, **{"a.jsonl": lines, "b.jsonl": lines + '{"author": "bo", "text": "Three."}\n'})
    assert read_author(tmp_path / "a.jsonl") == ["One.", "Two."]
    assert "rows that name nobody are taken as those of ann: 1" in capsys.readouterr().err
    assert "2 authors" in refusal(read_author, tmp_path / "b.jsonl")


def test_folders_in_a_folder_of_one_person_are_said(tmp_path, capsys) -> None:
    for name in ("2019", "2020"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, **{"a.txt": "One."})
    assert read_author(tmp_path) == ["One.", "One."]
    assert "its 2 folders (2019, 2020) are taken as one person's texts" in capsys.readouterr().err
