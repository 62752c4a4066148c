"""Response files: those a page saves become votes, any other is refused by file and field."""

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.studies.human_audit.responses import FORMAT, annotator_name, page_digest, page_items, read_votes
from favor.studies.human_audit.schemas import HUMAN_2AFC_VOTES

SEED = 7


def response(items, number, choose=lambda place: "A") -> dict[str, Any]:
    """What the page of one annotator saves."""
    name = annotator_name(number)
    shown = page_items(items, name, SEED)
    answers = [
        {"item": entry["item"], "choice": choose(place), "confidence": 1 + place % 5, "comment": 'ü, "x"\n'}
        for place, entry in enumerate(shown)
    ]
    return {"format": FORMAT, "page": page_digest(shown, name), "annotator": name, "responses": answers}


def write(path, content) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_votes_are_joined_to_the_key(items, tmp_path) -> None:
    paths = [write(tmp_path / f"{number} (1).json", response(items, number)) for number in (2, 1)]
    votes = read_votes(paths, items, 3, SEED)
    assert votes.groupby("annotator").size().to_dict() == {"annotator_1": 10, "annotator_2": 10}
    # Everybody chose A, which is right for half of every source's items.
    assert votes.groupby("source")["correct"].mean().to_dict() == {"ditto": 0.5, "favor": 0.5, "gold": 0.5}
    right = items.set_index("item")["right"]
    assert (votes["correct"] == (right[votes["item"]].to_numpy() == "A")).all()
    write_parquet(votes, tmp_path / "votes.parquet", HUMAN_2AFC_VOTES)
    assert read_parquet(tmp_path / "votes.parquet", HUMAN_2AFC_VOTES)["comment"].unique().tolist() == ['ü, "x"\n']


def test_seconds_are_kept_where_a_page_records_them(items, tmp_path) -> None:
    content = response(items, 1)
    content["responses"][0]["seconds"] = 12.5
    votes = read_votes([write(tmp_path / "1.json", content)], items, 3, SEED)
    assert votes["seconds"].dropna().tolist() == [12.5]


def test_half_an_emoji_in_a_comment_is_kept_as_a_question_mark(items, tmp_path) -> None:
    content = response(items, 1)
    content["responses"][0]["comment"] = "fine \ud83d"
    votes = read_votes([write(tmp_path / "1.json", content)], items, 3, SEED)
    write_parquet(votes, tmp_path / "votes.parquet", HUMAN_2AFC_VOTES)
    assert "fine ?" in read_parquet(tmp_path / "votes.parquet", HUMAN_2AFC_VOTES)["comment"].tolist()


def test_no_file_gives_an_empty_table(items, tmp_path) -> None:
    write_parquet(read_votes([], items, 3, SEED), tmp_path / "votes.parquet", HUMAN_2AFC_VOTES)
    assert read_parquet(tmp_path / "votes.parquet", HUMAN_2AFC_VOTES).empty


def test_orders_differ_between_annotators_and_digests_follow_the_content(items) -> None:
    one, two = (page_items(items, annotator_name(number), SEED) for number in (1, 2))
    assert [entry["item"] for entry in one] != [entry["item"] for entry in two]
    assert sorted(entry["item"] for entry in one) == sorted(entry["item"] for entry in two) == sorted(items["item"])
    assert page_items(items.iloc[::-1], "annotator_1", SEED) == one
    assert page_digest(one, "annotator_1") != page_digest(one, "annotator_2")
    changed = copy.deepcopy(one)
    changed[3]["a"][0] += "."
    assert page_digest(changed, "annotator_1") != page_digest(one, "annotator_1")


def drop(content) -> None:
    del content["responses"][2:4]


def repeat(content) -> None:
    content["responses"][3] = content["responses"][2]


def answer(field, value) -> Callable[[dict[str, Any]], None]:
    def change(content) -> None:
        content["responses"][4][field] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(format="other"), "'format': .*'2afc-responses-1'"),
        (lambda content: content.pop("format"), "'format'"),
        (lambda content: content.update(page="00ff"), "'page': not a page of this audit"),
        (lambda content: content.update(page=["x"]), "'page'"),
        (lambda content: content.update(annotator="annotator_2"), "'annotator': .* belongs to annotator_1"),
        (lambda content: content.update(responses="none"), "'responses'"),
        (lambda content: content["responses"].insert(0, 5), "'responses.0'"),
        (drop, r"'responses': 2 of 10 items have no answer, first item_\d\d\d; ask the annotator to finish"),
        (repeat, r"'responses': item item_\d\d\d is answered twice"),
        (answer("item", "item_999\n"), r"'responses': item 'item_999\\n' is no item of this audit"),
        *((answer("item", value), "'responses.4.item'") for value in ({"a": 1}, None)),
        *((answer("choice", value), "'responses.4.choice'") for value in ("C", ["A"])),
        *((answer("confidence", value), "'responses.4.confidence'") for value in (6, 0, True, 2.0, [3])),
        (answer("comment", None), "'responses.4.comment'"),
        *((answer("seconds", x), "'responses.4.seconds'") for x in (-1, "12", True, float("inf"), 10**400, 1e18)),
    ],
)
def test_a_faulty_file_is_refused_in_one_line(items, tmp_path, change, message) -> None:
    content = response(items, 1)
    change(content)
    path = write(tmp_path / "faulty.json", content)
    with pytest.raises(UserError, match=rf"faulty\.json: key {message}") as caught:
        read_votes([path], items, 3, SEED)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b"\xff\xfe{}", b"[" * 100_000])
def test_a_broken_file_is_refused(items, tmp_path, content) -> None:
    (tmp_path / "broken.json").write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.json: .*; ask "):
        read_votes([tmp_path / "broken.json"], items, 3, SEED)


def test_the_same_annotator_twice_is_refused(items, tmp_path) -> None:
    path = write(tmp_path / "annotator_1.json", response(items, 1))
    shutil.copy(path, tmp_path / "annotator_1 (1).json")
    with pytest.raises(UserError, match=r"'annotator': annotator_1 has answered in .*annotator_1.* too; keep one"):
        read_votes(sorted(tmp_path.glob("*.json")), items, 3, SEED)


def test_another_audits_file_is_foreign(items, tmp_path) -> None:
    other = items.assign(candidate=items["candidate"] + " more")
    # A fourth annotator has no page where three were asked.
    for content in (response(other, 1), response(items, 4)):
        with pytest.raises(UserError, match="key 'page': not a page of this audit"):
            read_votes([write(tmp_path / "a.json", content)], items, 3, SEED)
