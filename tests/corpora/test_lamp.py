"""LaMP's files as its own programs read and write them, made by hand: whose profile it is, and what is no post."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from favor.corpora import json_lists
from favor.corpora.posts import RawPost, ReaderSettings, open_reader
from favor.foundation.errors import UserError


def read(path) -> list[RawPost]:
    return list(open_reader("lamp").read(path, ReaderSettings()))


def sentence(author, number) -> str:
    """A text of eight words or more that nobody else writes."""
    return f"{author} wrote number {number} in the year of the great flood"


def documents(author, numbers, **more) -> list[dict]:
    return [{"id": f"x{n}", "text": sentence(author, n), "title": "A title", **more} for n in numbers]


def question(name, profile) -> dict:
    return {"id": name, "input": "Generate a headline for the following article: never a post", "profile": profile}


def write(folder, content, name="train_questions.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def authors(posts) -> dict[str, int]:
    return Counter(post.author for post in posts)


PROFILES = {
    "LaMP-1, LaMP-5": ({"id": "1", "title": "T", "abstract": "an abstract"}, "an abstract"),
    "LaMP-2, first version": ({"id": "1", "title": "T", "text": "an article", "category": "arts"}, "an article"),
    "LaMP-3": ({"id": "1", "text": "a review", "score": "4"}, "a review"),
    "LaMP-4, LaMP-6": ({"id": "1", "title": "T", "text": "an article or a mail"}, "an article or a mail"),
    "LaMP-7": ({"id": "1", "text": "a tweet"}, "a tweet"),
}


@pytest.mark.parametrize("task", PROFILES)
def test_a_document_of_a_profile_is_a_post(tmp_path, task) -> None:
    document, text = PROFILES[task]
    folder = write(tmp_path, [question("110", [{**document, "date": "2014-3-5"}]), question(7, [document])])
    assert read(folder) == [
        RawPost("train-110", "indUnk", "", text, "2014-03-05", "train-110, document 1"),
        RawPost("train-7", "indUnk", "", text, "", "train-7, document 1"),  # texts of a few words tell no author
    ]


@pytest.mark.parametrize("date", [2014, "2014", None, "5.3.2014"])
def test_a_year_alone_is_no_day(tmp_path, date) -> None:
    assert read(write(tmp_path, [question("1", documents("a", [1], date=date))]))[0].date == ""


def test_questions_that_share_half_of_a_profile_are_one_author(tmp_path, capsys) -> None:
    """The time-based version asks a user again, with a longer profile; the other files hold the same users."""
    write(tmp_path, [question("1", documents("ann", range(4))), question("2", documents("bob", range(4)))])
    write(tmp_path, [question("1", documents("ann", range(2, 9)))], "dev_questions.json")
    posts = read(tmp_path)
    assert authors(posts) == {"train-1": 9, "train-2": 4}
    assert len({post.text for post in posts}) == 13  # what both profiles hold is a post once
    assert posts[-1].row_label == "dev-1, document 7"
    assert capsys.readouterr().err == ""


def test_a_question_that_may_be_one_of_two_authors_is_left_out(tmp_path, capsys) -> None:
    some = documents("ann", range(3)) + documents("cyd", range(7))  # 3 of 10: more than a tenth, less than half
    both = documents("ann", range(9)) + documents("bob", range(9))
    few = documents("ann", [0]) + documents("dan", range(19))  # 1 of 10, of the smaller: ann's ten
    rows = [("1", documents("ann", range(10))), ("2", documents("bob", range(10))), ("3", some), ("4", both)]
    rows += [("5", documents("eve", range(20)) + documents("ann", [9])), ("6", few)]
    found = authors(read(write(tmp_path, [question(*row) for row in rows])))
    assert found == {"train-1": 10, "train-2": 10}
    assert "4 questions are left out, because they share texts" in (said := capsys.readouterr().err)
    assert "the first is train-3" in said
    # One of eleven is below a tenth.
    rows = [("1", documents("ann", range(11))), ("2", documents("eve", range(20)) + documents("ann", [9]))]
    assert authors(read(write(tmp_path, [question(*row) for row in rows]))) == {"train-1": 11, "train-2": 21}


def test_papers_have_several_authors_so_no_two_questions_are_joined(tmp_path, capsys) -> None:
    def papers(author, numbers) -> list[dict]:
        return [{"id": "1", "title": "T", "abstract": sentence(author, number)} for number in numbers]

    rows = [("1", papers("ann", range(8))), ("2", papers("ann", range(3)) + papers("bob", range(5)))]
    rows += [("3", papers("ann", range(4)))]  # a student of hers, or herself
    assert authors(read(write(tmp_path, [question(*row) for row in rows]))) == {"train-1": 8, "train-2": 8}
    assert "1 questions are left out" in capsys.readouterr().err


TWEETS = [{"id": "1", "text": "so late again"}]
GOLDS = [{"id": "1", "output": "never on time, me"}]


@pytest.mark.parametrize("outputs", [GOLDS, {"task": "LaMP_7", "golds": GOLDS}])
def test_the_gold_tweet_of_a_question_is_its_authors_too(tmp_path, outputs) -> None:
    write(tmp_path, [question("1", TWEETS)])
    write(tmp_path, outputs, "train_outputs.json")
    assert [post.text for post in read(tmp_path)] == ["so late again", "never on time, me"]
    assert [post.text for post in read(tmp_path / "train_questions.json")] == ["so late again"]


def test_outputs_of_other_tasks_are_no_posts(tmp_path) -> None:
    write(tmp_path, [question("1", documents("a", [1]))])
    write(tmp_path, "broken", "train_outputs.json")
    assert [post.text for post in read(tmp_path)] == [sentence("a", 1)]


def test_outputs_that_are_missing_are_said_and_those_of_another_version_refused(tmp_path, capsys) -> None:
    assert [post.text for post in read(write(tmp_path, [question("2", TWEETS)]))] == ["so late again"]
    assert "train_outputs.json: not there, so that the texts of profiles alone are read" in capsys.readouterr().err
    write(tmp_path, GOLDS, "train_outputs.json")
    with pytest.raises(UserError, match=r"question 2 has no output in train_outputs\.json; fetch both files again"):
        read(tmp_path)


def test_empty_texts_and_profiles_are_no_author(tmp_path) -> None:
    rows = [question("1", []), question("2", [{"id": "1", "text": None}, {"id": "2", "text": ""}])]
    assert [(post.author, post.text) for post in read(write(tmp_path, rows))] == [("train-2", ""), ("train-2", "")]


BROKEN = {
    "": "is empty",
    "{}": "not a JSON list of objects",
    '[{"id": "1", "profile": [}]': r"object 1 is not complete JSON|object 1 is cut short",
    '[{"id": "1"} {"id": "2"}, {"id": "3", "profile": []}]': "object 1 is not complete JSON",
    '[{"id": "1", "profile": [{"te': "object 1 is cut short",
    '[{"id": "1", "profile": [{"text": "a b"}]}, ': "object 1 is cut short|object 2 is cut short",
    "[1]": "object 1 is not an object",
    '[{"profile": []}]': "has no 'id'",
    '[{"id": "1", "profile": ["a"]}]': "'profile' is not a list of documents",
    '[{"id": "1", "profile": [{"text": 1.5}]}]': "question 1: 'text' is not text",
    '[{"id": "1", "profile": [{"body": "a"}]}]': "question 1: has no 'text'",
    '[{"id": "1", "profile": []}, {"id": 1, "profile": []}]': "question 1: the id is given twice",
    "[" * 100_000: "nested too deeply",
    '[{"id": 5, "profile": [{"description": "A man builds a boat.", "tag": "sci-fi"}]}]': (
        "question 5: LaMP-2 has descriptions of films and tags, none .* user wrote"
    ),
    '[{"id": "1", "profile": [{"id": "1", "text": "147-000874-EM.txt"}]}]': (
        r"147-000874-EM\.txt stands for a mail; make LaMP-6 from the Avocado"
    ),
}


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_file_is_one_line(tmp_path, content) -> None:
    with pytest.raises(UserError, match=BROKEN[content]):
        read(write(tmp_path, content))


def test_what_is_not_lamp_is_one_line(tmp_path) -> None:
    with pytest.raises(UserError, match=r"holds no train_questions\.json, dev_questions\.json or test_questions\.json"):
        read(tmp_path)
    with pytest.raises(UserError, match=r"posts\.json: not train_questions\.json, dev_questions\.json or test_"):
        read(tmp_path / "posts.json")
    (tmp_path / "dev_questions.json").write_bytes(b'[{"id": "caf\xe9"}]')
    with pytest.raises(UserError, match=r"byte 12 is not utf-8"):
        read(tmp_path)


def test_a_list_is_read_in_pieces_wherever_they_end(tmp_path, monkeypatch) -> None:
    text = 'a "quoted\\" [text, with] {brackets} é \ud83d\ude00'
    rows = [question(str(number), [{"id": "1", "text": text}]) for number in range(3)]
    path = write(tmp_path, json.dumps({"task": "LaMP_6", "golds": rows}, indent=1)) / "train_questions.json"
    whole = read(path)
    assert [post.author for post in whole] == ["train-0", "train-1", "train-2"]
    for chunk in range(40, 120, 7):
        monkeypatch.setattr(json_lists, "CHUNK", chunk)
        assert read(path) == whole
    packed = tmp_path / "train_questions.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == whole
