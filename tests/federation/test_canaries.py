"""Planted secrets: who gets which, where they stand in a client's texts, and that all of a secret is trained on."""

import pandas as pd

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.canaries import CARRIER, candidates, carrying, planted, repeats_by_client, secret
from favor.lm.tasks import cut_pieces
from favor.lm.tokenizer import train_tokenizer


def test_a_secret_depends_on_the_seed_and_its_client_alone() -> None:
    assert secret(1, "client_001") == secret(1, "client_001")
    assert len({secret(1, "client_001"), secret(1, "client_002"), secret(2, "client_001"), *candidates(1, 50)}) == 53
    assert candidates(1, 5) == candidates(1, 50)[:5]
    assert all(len(part) == 4 and part.isdigit() for part in secret(7, "client_001").split())


def test_repeats_are_taken_in_turn_whoever_shares_a_job() -> None:
    repeats = repeats_by_client(["a", "b", "c", "d"], [1, 4, 16])
    assert repeats == {"a": 1, "b": 4, "c": 16, "d": 1}
    texts = pd.DataFrame(
        [("a", "x", "train", "t", "", "some words", 2, 2, "some words")], columns=CLIENT_TEXTS.names
    ).astype({"words": "int32", "allocated_words": "int32"})
    made = planted(texts, {"b": 4, "a": 1}, seed=3)
    assert made.dtypes.equals(texts.dtypes)
    assert made.groupby("client").size().to_dict() == {"a": 2, "b": 4}
    assert not made.duplicated(["client", "document_id"]).any()
    own = made[made["client"] == "b"]
    assert set(own["training_text"]) == {carrying(secret(3, "b"))}
    assert (own["allocated_words"] > 0).all()
    assert planted(texts, {"a": 1}, 3).equals(made[made["client"] == "a"].reset_index(drop=True))


def test_training_supervises_the_whole_secret_whatever_the_prefix(tmp_path) -> None:
    tokenizer = train_tokenizer([CARRIER, "1 2 3 4 5 6 7 8 9 0", "so it goes"] * 3, 300, tmp_path)
    tokens = tokenizer.encode(carrying("1234 5678 9012 3456"))
    before = len(tokenizer.encode(CARRIER))
    assert tokenizer.decode(tokens[before:]).strip() == "1234 5678 9012 3456."
    for prefix in (1, 8, 16, 32, 96):
        (piece,) = cut_pieces(tokens, "canary", prefix, 1024)
        assert piece.response_start <= before
