"""Items of the human audit: who is drawn, what stands in a profile, which side is right."""

import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.words import output_words
from favor.studies.human_audit.items import CHECK, draw_items, excerpt, from_a_word, shares, whole_sentences
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS
from favor.studies.settings import AuditItems

WORDS = output_words("paper")


def test_shares_are_the_papers() -> None:
    assert shares(AuditItems()) == {"ditto": 20, "favor": 20, "gold": 10}
    assert shares(AuditItems(methods=["favor"], items=6, human_items=0)) == {"favor": 6}


def test_sources_sides_and_authors_are_balanced(items) -> None:
    assert items["source"].value_counts().to_dict() == {"ditto": 4, "favor": 4, "gold": 2}
    sides = items.groupby(["source", "right"]).size().unstack()
    assert (sides["A"].tolist(), sides["B"].tolist()) == ([2, 2, 1], [2, 2, 1])
    # Seven authors have texts that pass, so four items of a source have four authors.
    assert (items.groupby("source")["client"].nunique() == [4, 4, 2]).all()
    assert sorted(items["item"]) == [f"item_{number:03d}" for number in range(1, 11)]


def test_a_candidate_is_the_text_it_is_said_to_be(items, generations, prompts) -> None:
    gold = prompts.assign(method="gold", text=prompts["gold_text"])
    known = pd.concat([generations, gold]).set_index(["method", "seed", "client", "prompt_id"])["text"]
    for row in items.to_dict("records"):
        place = (row["source"], row["seed"], row["client"], row["prompt_id"])
        assert row["candidate"] == known[place].strip()
    generated = items[items["source"] != "gold"]
    assert "client_001" not in set(generated["client"])  # its outputs fail the filter


def test_no_held_out_document_serves_twice(items, prompts) -> None:
    documents = items.merge(prompts, on=["seed", "client", "prompt_id"])["document_id"]
    assert len(documents) == len(items)
    assert documents.is_unique


def test_profiles_are_training_texts_of_both_authors(items, texts) -> None:
    long = texts[(texts["split"] == "train") & (texts["text"].str.split().str.len() >= 20)]
    shown = {client: {excerpt(text, 20, WORDS) for text in found} for client, found in long.groupby("client")["text"]}
    for row in items.to_dict("records"):
        own, other = ("profile_a", "profile_b") if row["right"] == "A" else ("profile_b", "profile_a")
        assert row["distractor"] != row["client"]
        for side, client in ((own, row["client"]), (other, row["distractor"])):
            # Four texts fill an excerpt; the short fifth comes only where they run out.
            assert len(set(row[side])) == 3
            assert set(row[side]) <= shown[client]
            assert all(len(text.split()) == 21 for text in row[side])  # the ellipsis counts


def test_attention_checks_repeat_an_excerpt_of_the_right_author(items, generations, prompts, texts, settings) -> None:
    drawn = draw_items(generations, prompts, texts, settings.model_copy(update={"attention_checks": 4}))
    checks, others = drawn[drawn["source"] == CHECK], drawn[drawn["source"] != CHECK]
    assert len(checks) == 4
    assert checks["right"].value_counts().to_dict() == {"A": 2, "B": 2}
    assert checks["client"].is_unique
    for row in checks.to_dict("records"):
        own, other = ("profile_a", "profile_b") if row["right"] == "A" else ("profile_b", "profile_a")
        assert row["candidate"] in {text.removesuffix(" …") for text in row[own]}
        assert row["candidate"] not in {text.removesuffix(" …") for text in row[other]}
        assert row["distractor"] != row["client"]
    # The audit's own items are those of an audit without checks; only their codes are dealt again.
    own = [name for name in drawn.columns if name != "item"]
    key = ["source", "seed", "client", "prompt_id"]
    left, right = (part[own].sort_values(key, ignore_index=True) for part in (others, items))
    pd.testing.assert_frame_equal(left, right)


def test_a_short_text_is_taken_where_long_ones_run_out(generations, prompts, texts, settings) -> None:
    whole = draw_items(generations, prompts, texts, settings.model_copy(update={"excerpts": 5}))
    assert all(any("…" not in text for text in profile) for profile in whole["profile_a"])
    with pytest.raises(UserError, match=r"client_00\d has 5 training texts, a profile takes 6; lower"):
        draw_items(generations, prompts, texts, settings.model_copy(update={"excerpts": 6}))


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (None, "One two. Three four! five six seven"),
        (20, "One two. Three four!"),
        (6, "One two. Three four!"),
        (4, "One two. Three four!"),
        (3, "One two."),
        (1, "One"),
    ],
)
def test_a_candidate_is_cut_at_the_end_of_a_sentence(number, shown) -> None:
    text = " One two. Three four! five six seven "
    assert whole_sentences(text, number, output_words("paper")) == shown


@pytest.mark.parametrize(
    ("prompt", "text", "shown"),
    [
        ("the mar", "athon is old", "is old"),
        ("you shouldn", "'t buy it", "buy it"),
        ("the clock was", " simple", " simple"),  # a new word
        ("my website!!!\n", "I was", "I was"),
        ("我今天", "去了很远的地方看望我的老朋友然后回家吃饭睡觉", "去了很远的地方看望我的老朋友然后回家吃饭睡觉"),
        ("cl", "ock", "ock"),  # nothing else is there
    ],
)
def test_a_candidate_begins_at_a_word(prompt, text, shown) -> None:
    assert from_a_word(prompt, text) == shown


def test_an_excerpt_keeps_line_breaks() -> None:
    assert excerpt(" one\n\ntwo  three four", 3, WORDS) == "one\n\ntwo  three …"
    assert excerpt("one two\n", 2, WORDS) == "one two"


def test_a_distractor_of_the_same_topic(generations, prompts, texts, settings) -> None:
    topics = texts.groupby("client")["topic"].first()
    drawn = draw_items(generations, prompts, texts, settings.model_copy(update={"distractor": "same_topic"}))
    assert (topics[drawn["client"]].to_numpy() == topics[drawn["distractor"]].to_numpy()).all()
    # Where a topic has one author, any other author serves.
    alone = texts.assign(topic=texts["client"])
    assert len(draw_items(generations, prompts, alone, settings.model_copy(update={"distractor": "same_topic"}))) == 10


def test_draws_depend_on_the_seed_alone(items, generations, prompts, texts, settings, tmp_path) -> None:
    shuffled = (frame.sample(frac=1, random_state=1) for frame in (generations, prompts, texts))
    again = draw_items(*shuffled, settings)
    write_parquet(items, tmp_path / "one.parquet", HUMAN_2AFC_ITEMS)
    write_parquet(again, tmp_path / "two.parquet", HUMAN_2AFC_ITEMS)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    read = read_parquet(tmp_path / "one.parquet", HUMAN_2AFC_ITEMS).set_index("item")
    assert list(read.loc["item_001", "profile_a"]) == items.set_index("item").loc["item_001", "profile_a"]
    other = draw_items(generations, prompts, texts, settings.model_copy(update={"seed": 8}))
    assert other["candidate"].tolist() != items["candidate"].tolist()


def test_too_few_candidates_name_the_key(generations, prompts, texts, settings) -> None:
    # Seven clients have outputs that pass, each on two documents: 14 candidates of a method, fewer once some are taken.
    with pytest.raises(UserError, match=r"source 'ditto' has 14 texts .* 20 are wanted; lower 'studies"):
        draw_items(generations, prompts, texts, settings.model_copy(update={"items": 40, "human_items": 0}))
    with pytest.raises(UserError, match=r"source 'favor' has 6 texts .* 8 are wanted"):
        draw_items(generations, prompts, texts, settings.model_copy(update={"items": 16, "human_items": 0}))
