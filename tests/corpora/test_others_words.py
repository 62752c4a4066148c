"""Others' words: hand-made traps by kind, shares by hand, passages of other authors against comparing all of them."""

import random

import pytest
from tests.corpora.made import built, write_documents

from favor.corpora.copies import runs_in_order, word_digests, word_runs
from favor.corpora.others_words import KINDS, covered_share, marked_spans, measure_others_words
from favor.foundation.errors import UserError
from favor.foundation.words import compared_spans, compared_words

OWN = "Today I walked along the river with my dog and thought about the summer, which was long and hot."
QUOTE = "The trouble with the world is that the stupid are cocksure and the clever are full of doubt"
QUESTIONS = ("Do you smoke", "Favourite colour", "Who is your hero", "Cats or dogs", "Any siblings", "Best day ever")
QUIZ = " ".join(f"{number}. {question}? well, {number}" for number, question in enumerate(QUESTIONS, 1))


def marked(text) -> dict[str, list[tuple[int, int]]]:
    return marked_spans(text, word_digests([text])[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OWN, []),
        (f'He said "no" and then "why not", and I left. {OWN}', []),  # speech in a story
        (f"{OWN} “{QUOTE}.”", ["quotation"]),
        (f'{OWN} "{QUOTE}"', ["quotation"]),
        (f'a 5" pipe and a 7" pipe. {OWN}', []),  # inches
        ("> a man walks in\n> and falls", ["quoted_lines"]),
        (f"fwd > a man walks in > he sits down > he falls {OWN}", ["quoted_lines"]),
        ("2 > 1 and 3 > 2 and 4 > 3", []),
        (f"{OWN} -----Original Message----- hi there", ["quoted_lines"]),
        (f"[Chorus] la la la {OWN}", ["song"]),
        (f"I love the chorus of that song, and the verse. {OWN}", []),
        (f"oh won't you stay with me {OWN} oh won't you stay with me", ["song"]),
        ("ha ha ha ha ha ha ha ha ha ha ha ha", []),
        (QUIZ, ["quiz"]),
        ("Which season are you? I am autumn", ["quiz"]),
        (f"I have 1. a dog and 2. a cat. {OWN}", []),
        (f"BAGHDAD (AP) - Two men were hurt on Monday. {OWN}", ["news"]),
        (f"I read the news on CNN and Reuters. {OWN}", []),
    ],
)
def test_kinds_by_hand(text, expected) -> None:
    assert [kind for kind, spans in marked(text).items() if spans] == expected


HEAD = "Title: The river\nAuthor: Ann\nLanguage: English"
FOOT = "Produced by: Bob\nRelease date: May\nCredits: the proofreaders"
STORY = "\n\n".join(f"{OWN} It was day {number}, and nothing else happened there." for number in range(10))
ANSWERS = "\n".join(f"{number}. {question}?\nWell, {OWN}" for number, question in enumerate(QUESTIONS, 1))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        (f"{HEAD}\n\n{STORY}\n\n{FOOT}", 0.03, 0.15),
        (f"{HEAD}\n\n{STORY.replace(chr(10), ' ')}\n\n{FOOT}", 0.03, 0.15),  # a paragraph is one line
        (f"{HEAD}\n\n{FOOT}", 0.9, 1.0),
        (f"{STORY}\n\n{QUIZ}\n\n{STORY}", 0.03, 0.15),
        (ANSWERS, 0.8, 1.0),  # one who answers each question below it
    ],
)
def test_a_quiz_ends_where_its_items_do(text, low, high) -> None:
    """A book's head and foot are lines of label and answer too, and the novel between them is the author's."""
    assert low <= covered_share(text, marked(text)["quiz"]) <= high


def test_shares_count_no_white_space_and_nothing_twice() -> None:
    assert covered_share("ab cd ef", [(0, 5)]) == pytest.approx(4 / 6)
    assert covered_share("ab cd ef", [(0, 5), (3, 5)]) == pytest.approx(4 / 6)
    assert covered_share(" ", []) == 0


def test_news_begins_with_the_place_before_its_agency() -> None:
    text = f"I read. BAGHDAD, Iraq (AP) - Two men were hurt. {OWN} (Reuters) - More."
    assert marked(text)["news"] == [(7, len(text))]


def test_words_with_places_are_the_words_that_are_compared() -> None:
    for text in ("Don’t — stop, ﬁne (now)!", "日本語 です", ""):
        assert [word for word, _, _ in compared_spans(text)] == compared_words(text)
    assert compared_spans("a Bc") == [("a", 0, 1), ("bc", 2, 4)]


def test_passages_of_another_author_are_found_and_ones_own_are_not(tmp_path) -> None:
    draw = random.Random(3)
    words = ["".join(draw.choices("abcdefghij", k=5)) for _ in range(3000)]
    passage = " ".join(draw.sample(words, 20))
    rows = [("ann", f"{' '.join(draw.sample(words, 20))} {passage}"), ("bob", f"{passage.upper()}!")]
    own = " ".join(draw.sample(words, 40))
    rows += [("cid", f"{own} one"), ("cid", f"{own} two")]
    documents = [(author, f"{author}-{number}", "t", "", text, 1) for number, (author, text) in enumerate(rows)]
    path = write_documents(tmp_path / "d.parquet", documents)
    found = measure_others_words(path).set_index("document_id")
    assert found.columns.tolist() == ["author", *KINDS, "share"]
    # Half of ann's words and all of bob's lie in the passage; its ends may lie between two kept runs.
    assert 0.3 < found.loc["ann-0", "others_passage"] <= 0.51
    assert found.loc["bob-1", "others_passage"] > 0.6
    assert found.loc[["cid-2", "cid-3"], "share"].tolist() == [0, 0]
    alone = measure_others_words(path, ["ann", "cid"])  # nobody else has the passage
    assert list(zip(alone["author"], alone["share"], strict=True)) == [("ann", 0), ("cid", 0), ("cid", 0)]


def test_a_corpus_is_built_without_posts_that_are_others_words(tmp_path, blog_csv, capsys) -> None:
    song = f"[Chorus] {OWN}"
    posts = [("ann", OWN), ("ann", song), ("bob", f"“{QUOTE}.” she said"), ("bob", OWN[::-1])]

    def build(share) -> tuple[dict[str, int], list[str]]:
        counts, frame = built(blog_csv(posts), "blog_csv", tmp_path, others_words=share)
        return counts, frame["document_id"].tolist()

    counts, kept = build(None)
    assert "others_words" not in counts
    assert len(kept) == 4
    # ann's song holds her first post, which is her own; bob's quotation is 76 of 83 signs.
    counts, kept = build(0.5)
    assert (counts["others_words"], counts["kept"]) == (2, 2)
    assert kept == ["ann-00001", "bob-00002"]
    assert "2 posts are dropped for others' words; by one kind alone: quoted lines 0, quotation 1, song 1" in (
        capsys.readouterr().err
    )
    assert build(0.99)[1] == ["ann-00001", "bob-00001", "bob-00002"]
    posts[:] = [("ann", song)]
    with pytest.raises(UserError, match="every post is others' words; raise the corpus key"):
        build(0.5)


def test_runs_in_order_are_the_runs_that_are_compared() -> None:
    text = " ".join(map(str, range(30)))
    runs, at = runs_in_order(*word_digests(["no more", text, "than"]))
    assert sorted(runs) == word_runs([text]).tolist()
    assert at.tolist() == list(range(2, 23))


def test_words_of_several_texts_are_those_of_each() -> None:
    digests, owner = word_digests(["a b", "", "b"])
    assert owner.tolist() == [0, 0, 2]
    assert digests.tolist() == [*word_digests(["a b"])[0].tolist(), digests[1]]
    assert word_digests([""])[0].tolist() == word_digests([])[0].tolist() == []
