"""Which authors can be clients: prompts and training texts that experiments need, and a roster that keeps to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from favor.corpora.authors import count_tokens, measure_suitability, shortcomings, suits_by
from favor.corpora.prompts import select_prompts
from favor.corpora.roster import select_roster
from favor.corpora.schemas import SUITABILITY
from favor.corpora.settings import DealtRoles, Need, PromptCut, Roster, Splitting
from favor.corpora.splits import split_documents
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet

Build = Callable[[Iterable[tuple[str, str]]], Path]
PROMPTS = PromptCut(per_client=2, prefix_tokens=5, minimum_gold_tokens=5, maximum_gold_tokens=9)
LONG, SHORT = "one two three four five six seven eight nine ten eleven", "one two three"


@pytest.fixture
def tokenizer(tmp_path) -> str:
    """A tokenizer for which every word and every number is one token, white space none."""
    words = [*LONG.split(), *(chr(97 + author) for author in range(26)), *map(str, range(60))]
    model = Tokenizer(models.WordLevel({"[UNK]": 0, **{word: place for place, word in enumerate(words, 1)}}, "[UNK]"))
    model.pre_tokenizer = pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    model.save(str(path))
    return str(path)


def posts(author, long, short) -> list[tuple[str, str]]:
    """Return distinct posts of an author: ``long`` of 13 tokens, then ``short`` of 5."""
    return [(author, f"{LONG if number < long else SHORT} {author} {number}") for number in range(long + short)]


def corpus(documents, tokenizer, rows) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    path = documents(rows)
    return path, count_tokens(path, tokenizer), split_documents(path, Splitting()).splits


def need(tokenizer, **keys) -> Need:
    main = {"experiment": "main", "tokenizer_folder": tokenizer, "prompts": PROMPTS, "study": False}
    return Need(**{**main, "training_texts": 0, "first_client": 1, "last_client": 4, **keys})


def rosters(made, suitability, clients, **keys) -> list[str]:
    """Return the clients' authors in order, of a random roster without encoders."""
    path, authors, splits = made
    settings = Roster(
        roles=DealtRoles(clients=clients, asce_a=0, asce_b=0), minimum_tokens=50, selection="random", **keys
    )
    senses: dict[str, object] = {}
    if suitability is not None:
        senses["suits"] = [suits_by(suitability, "preferred_prompts"), suits_by(suitability, "minimum_prompts")]
    roster = select_roster(authors, splits, [], path, settings, **senses)
    return roster[roster["role"] == "client"].sort_values("client")["author"].tolist()


def test_counts_agree_with_the_prompts_that_are_cut(documents, tokenizer, tmp_path) -> None:
    made = corpus(
        documents, tokenizer, [*posts("a", 30, 0), *posts("b", 15, 15), *posts("c", 0, 30), *posts("d", 4, 0)]
    )
    path, authors, splits = made
    measured = measure_suitability(path, authors, splits, [need(tokenizer)], 50)
    write_parquet(measured, tmp_path / "suitability.parquet", SUITABILITY)
    assert measured["author"].tolist() == ["a", "b", "c"]  # d has too few documents for splits
    assert measured["training_texts"].tolist() == [24, 24, 24]
    texts = pd.read_parquet(path).merge(splits[["document_id", "split"]], on="document_id")
    for row in measured.itertuples():
        own = texts[texts["author"] == row.author].assign(client=row.author)
        if row.prompts:
            for seed in (1, 2, 3):
                assert len(select_prompts(own, tokenizer, PROMPTS, seed).prompts) == row.prompts
        else:
            with pytest.raises(UserError, match="has no test post of 10 tokens"):
                select_prompts(own, tokenizer, PROMPTS, 1)
    assert measured.set_index("author")["prompts"].to_dict()["a"] == 2  # of three, two are wanted
    assert measured.set_index("author")["prompts"].to_dict()["c"] == 0
    copied = set(splits.query("author == 'a' and split == 'test'")["document_id"][:2])
    dropped = measure_suitability(path, authors, splits, [need(tokenizer)], 50, copied)
    kept = measure_suitability(path, authors, splits, [need(tokenizer, near_duplicates="keep")], 50, copied)
    assert [frame.set_index("author")["prompts"].to_dict()["a"] for frame in (dropped, kept)] == [1, 2]


def test_authors_without_prompts_are_passed_over_and_move_no_one(documents, tokenizer) -> None:
    rows = [
        post for number in range(10) for post in posts(chr(97 + number), 30 * (number % 3 > 0), 30 * (number % 3 == 0))
    ]
    made = corpus(documents, tokenizer, rows)
    suitability = measure_suitability(*made, [need(tokenizer)], 50)
    without = set(suitability.loc[suitability["prompts"] == 0, "author"])
    assert without == set("adgj")
    before = rosters(made, None, 10)
    assert without & set(before[:4])  # the run stopped at select_prompts
    assert rosters(made, suitability, 4) == [author for author in before if author not in without][:4]
    assert rosters(made, suitability, 6)[:4] == rosters(made, suitability, 4)
    # Where nobody is without, nobody moves.
    assert rosters(made, suitability.assign(prompts=2), 4) == before[:4]
    reasons = shortcomings(suitability).set_index("reason")["authors"]
    assert reasons["fewer than 1 prompts"] == reasons["fewer than the 2 prompts wanted"] == 4


def test_needs_hold_for_the_places_of_an_experiment_alone(documents, tokenizer) -> None:
    made = corpus(
        documents, tokenizer, [post for number in range(8) for post in posts(chr(97 + number), 20 + number, 0)]
    )
    before = rosters(made, None, 6)
    few_shot = need(tokenizer, experiment="cold", training_texts=19, first_client=5, last_client=6)
    suitability = measure_suitability(*made, [need(tokenizer), few_shot], 50)
    chosen = rosters(made, suitability, 6)
    assert chosen[:4] == before[:4]
    enough = set(suitability.query("experiment == 'cold' and training_texts >= 19")["author"])
    assert set(chosen[4:]) <= enough
    assert not enough >= set(before[4:])  # the cold start stopped there


def test_a_study_prefers_nobody(documents, tokenizer) -> None:
    rows = [
        post
        for number in range(9)
        for post in posts(chr(97 + number), 30 if number % 2 else 9, 0 if number % 2 else 21)
    ]
    made = corpus(documents, tokenizer, rows)
    main = need(tokenizer, prompts=PROMPTS.model_copy(update={"per_client": 1}))
    study = need(tokenizer, experiment="study", study=True, prompts=PROMPTS.model_copy(update={"per_client": 3}))
    alone, laid = measure_suitability(*made, [main], 50), measure_suitability(*made, [main, study], 50)
    assert (laid.query("experiment == 'study'")["prompts"] < 3).any()
    assert rosters(made, laid, 4) == rosters(made, alone, 4)
    own = measure_suitability(*made, [main, study.model_copy(update={"study": False})], 50)
    assert rosters(made, own, 4) != rosters(made, alone, 4)


def test_fewer_prompts_will_do_and_none_is_refused_with_the_number_that_would(documents, tokenizer, capsys) -> None:
    rows = [post for number in range(6) for post in posts(chr(97 + number), 30 * (number < 4), 30 * (number >= 4))]
    made = corpus(documents, tokenizer, rows)
    suitability = measure_suitability(*made, [need(tokenizer, last_client=6)], 50)
    some = suitability.assign(prompts=suitability["prompts"].where(suitability["author"] != "a", 1))
    assert set(rosters(made, some, 4)) == set("abcd")
    assert "too few authors give all prompts" in capsys.readouterr().err
    assert set(rosters(made, some, 3)) == set("bcd")
    with pytest.raises(UserError, match="4 of 6 eligible authors can be clients, 5 are needed") as caught:
        rosters(made, suitability, 5)
    assert "lower 'roles.clients' of the corpus to 4" in str(caught.value)


def test_encoders_take_those_who_can_be_no_client(documents, tokenizer) -> None:
    rows = [post for number in range(9) for post in posts(chr(97 + number), 30 * (number < 4), 30 * (number >= 4))]
    path, authors, splits = corpus(documents, tokenizer, rows)
    suitability = measure_suitability(path, authors, splits, [need(tokenizer)], 50)
    settings = Roster(roles=DealtRoles(clients=4, asce_a=3, asce_b=2), minimum_tokens=50, selection="random")
    roster = select_roster(authors, splits, [], path, settings, suits=[suits_by(suitability, "preferred_prompts")])
    assert set(roster.loc[roster["role"] == "client", "author"]) == set("abcd")
    assert roster["role"].value_counts().to_dict() == {"client": 4, "asce_a": 3, "asce_b": 2}
