"""Which authors can be clients: prompts and training texts that experiments need, and a roster that keeps to them."""

from pathlib import Path
from string import ascii_lowercase

import pandas as pd
import pytest
from tests.corpora.made import word_level

from favor.corpora.authors import count_tokens, measure_suitability, shortcomings, suits_by
from favor.corpora.prompts import select_prompts
from favor.corpora.roster import select_roster
from favor.corpora.schemas import SUITABILITY
from favor.corpora.settings import DealtRoles, Need, PromptCut, Roster, Splitting
from favor.corpora.splits import split_documents
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet

PROMPTS = PromptCut(per_client=2, prefix_tokens=5, minimum_gold_tokens=5, maximum_gold_tokens=9)
LONG, SHORT = "one two three four five six seven eight nine ten eleven", "one two three"


@pytest.fixture
def tokenizer(tmp_path) -> str:
    """A tokenizer for which every word and every number is one token, white space none."""
    path = str(tmp_path / "tokenizer.json")
    word_level([*LONG.split(), *ascii_lowercase, *map(str, range(60))]).save(path)
    return path


def corpus(documents, tokenizer, numbers) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """``numbers``: by author, of its long posts of 13 tokens, and of the short ones of 5 that follow."""
    path = documents(
        (author, f"{LONG if place < long else SHORT} {author} {place}")
        for author, (long, short) in numbers.items()
        for place in range(long + short)
    )
    return path, count_tokens(path, tokenizer), split_documents(path, Splitting()).splits


def need(tokenizer, **keys) -> Need:
    main = {"experiment": "main", "tokenizer_folder": tokenizer, "prompts": PROMPTS, "study": False}
    return Need(**{**main, "training_texts": 0, "first_client": 1, "last_client": 4, **keys})


def rosters(made, suitability, clients) -> list[str]:
    """Return the clients' authors in order, of a random roster without encoders."""
    path, authors, splits = made
    roles = DealtRoles(clients=clients, asce_a=0, asce_b=0)
    settings = Roster(roles=roles, minimum_tokens=50, selection="random")
    columns = () if suitability is None else ("preferred_prompts", "minimum_prompts")
    suits = [suits_by(suitability, column) for column in columns] or [lambda author, place: True]
    roster = select_roster(authors, splits, [], path, settings, suits=suits)
    return roster[roster["role"] == "client"].sort_values("client")["author"].tolist()


def test_counts_agree_with_the_prompts_that_are_cut(documents, tokenizer, tmp_path) -> None:
    numbers = {"a": (30, 0), "b": (15, 15), "c": (0, 30), "d": (4, 0)}
    path, authors, splits = corpus(documents, tokenizer, numbers)
    measured = measure_suitability(path, authors, splits, [need(tokenizer)], 50)
    write_parquet(measured, tmp_path / "suitability.parquet", SUITABILITY)
    assert measured["author"].tolist() == ["a", "b", "c"]  # d has too few documents for splits
    assert measured["training_texts"].tolist() == [24, 24, 24]
    texts = pd.read_parquet(path).merge(splits[["document_id", "split"]], on="document_id")
    for row in measured.itertuples():
        own = texts[texts["author"] == row.author].assign(client=row.author)
        if row.prompts:
            for seed in (1, 2, 3):
                assert len(select_prompts(own, tokenizer, PROMPTS, seed)) == row.prompts
        else:
            with pytest.raises(UserError, match="has no test post of 10 tokens"):
                select_prompts(own, tokenizer, PROMPTS, 1)
    assert measured["prompts"].tolist()[::2] == [2, 0]  # of three, two are wanted
    copied = set(splits.query("author == 'a' and split == 'test'")["document_id"][:2])
    dropped = measure_suitability(path, authors, splits, [need(tokenizer)], 50, copied)
    kept = measure_suitability(path, authors, splits, [need(tokenizer, near_duplicates="keep")], 50, copied)
    assert [frame["prompts"][0] for frame in (dropped, kept)] == [1, 2]


def test_authors_without_prompts_are_passed_over_and_move_no_one(documents, tokenizer) -> None:
    made = corpus(documents, tokenizer, dict.fromkeys("bcefhi", (30, 0)) | dict.fromkeys("adgj", (0, 30)))
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
    assert reasons["no prompt"] == reasons["fewer than the 2 prompts wanted"] == 4


def test_needs_hold_for_the_places_of_an_experiment_alone(documents, tokenizer) -> None:
    made = corpus(documents, tokenizer, {author: (20 + place, 0) for place, author in enumerate("abcdefgh")})
    before = rosters(made, None, 6)
    few_shot = need(tokenizer, experiment="cold", training_texts=19, first_client=5, last_client=6)
    suitability = measure_suitability(*made, [need(tokenizer), few_shot], 50)
    chosen = rosters(made, suitability, 6)
    assert chosen[:4] == before[:4]
    enough = set(suitability.query("experiment == 'cold' and training_texts >= 19")["author"])
    assert set(chosen[4:]) <= enough
    assert not enough >= set(before[4:])  # the cold start stopped there


def test_a_study_prefers_nobody(documents, tokenizer) -> None:
    made = corpus(documents, tokenizer, dict.fromkeys("bdfh", (30, 0)) | dict.fromkeys("acegi", (9, 21)))
    main = need(tokenizer, prompts=PROMPTS.model_copy(update={"per_client": 1}))
    study = need(tokenizer, experiment="study", study=True, prompts=PROMPTS.model_copy(update={"per_client": 3}))
    alone, laid = measure_suitability(*made, [main], 50), measure_suitability(*made, [main, study], 50)
    assert (laid.query("experiment == 'study'")["prompts"] < 3).any()
    assert rosters(made, laid, 4) == rosters(made, alone, 4)
    own = measure_suitability(*made, [main, study.model_copy(update={"study": False})], 50)
    assert rosters(made, own, 4) != rosters(made, alone, 4)


def test_fewer_prompts_will_do_and_none_is_refused_with_the_number_that_would(documents, tokenizer, capsys) -> None:
    made = corpus(documents, tokenizer, dict.fromkeys("abcd", (30, 0)) | dict.fromkeys("ef", (0, 30)))
    suitability = measure_suitability(*made, [need(tokenizer, last_client=6)], 50)
    some = suitability.assign(prompts=suitability["prompts"].where(suitability["author"] != "a", 1))
    assert set(rosters(made, some, 4)) == set("abcd")
    assert ", so some give fewer" in capsys.readouterr().err
    assert set(rosters(made, some, 3)) == set("bcd")
    with pytest.raises(UserError, match="4 of 6 eligible authors can be clients, 5 are needed") as caught:
        rosters(made, suitability, 5)
    assert "lower 'roles.clients' of the corpus to 4" in str(caught.value)


def test_encoders_take_those_who_can_be_no_client(documents, tokenizer) -> None:
    numbers = dict.fromkeys("abcd", (30, 0)) | dict.fromkeys("efghi", (0, 30))
    path, authors, splits = corpus(documents, tokenizer, numbers)
    suitability = measure_suitability(path, authors, splits, [need(tokenizer)], 50)
    settings = Roster(roles=DealtRoles(clients=4, asce_a=3, asce_b=2), minimum_tokens=50, selection="random")
    roster = select_roster(authors, splits, [], path, settings, suits=[suits_by(suitability, "preferred_prompts")])
    assert set(roster.loc[roster["role"] == "client", "author"]) == set("abcd")
    assert roster["role"].value_counts().to_dict() == {"client": 4, "asce_a": 3, "asce_b": 2}
