"""Texts for encoder transfer: all training texts of the clients, and as many held-out ones as are asked for."""

from pathlib import Path

import pandas as pd
import pytest
from tests.corpora.made import write_documents

from favor.corpora.transfer import transfer_texts
from favor.foundation.errors import UserError


@pytest.fixture
def corpus(tmp_path) -> tuple[Path, pd.DataFrame, Path]:
    """Three authors of ten documents, eight in train and two in test each; the last is no client."""
    rows = [(f"u{user}", f"u{user}-{n}", "t", "", f"text {user} {n}", 2) for user in range(3) for n in range(10)]
    parts = (["train"] * 8 + ["test"] * 2) * 2 + ["train"] * 10
    splits = pd.DataFrame([row[:2] for row in rows], columns=["author", "document_id"]).assign(split=parts)
    roster = pd.DataFrame({"author": ["u0", "u1", "u2"], "role": ["client", "client", "unused"]})
    roster["client"] = ["client_002", "client_001", ""]
    return write_documents(tmp_path / "documents.parquet", rows), splits, roster


def test_clients_alone_under_their_anonymous_names(corpus) -> None:
    texts = transfer_texts(*corpus, held_out=1, seed=3)
    assert texts.groupby(["client", "kind"]).size().unstack().to_dict("list") == {"test": [1, 1], "train": [8, 8]}
    assert sorted(set(texts["client"])) == ["client_001", "client_002"]
    assert texts.loc[texts["client"] == "client_002", "text"].str.startswith("text 0").all()
    pd.testing.assert_frame_equal(transfer_texts(*corpus, held_out=1, seed=3), texts)
    drawn = [
        transfer_texts(*corpus, held_out=1, seed=seed).query("kind == 'test'")["item"].tolist() for seed in range(9)
    ]
    assert len({tuple(items) for items in drawn}) > 1
    assert len(transfer_texts(*corpus, held_out=6, seed=3).query("kind == 'test'")) == 4  # there are no more


def test_a_client_without_held_out_texts_is_named(corpus) -> None:
    documents, splits, roster = corpus
    with pytest.raises(UserError, match="client_001 has no test text"):
        transfer_texts(documents, splits.assign(split="train"), roster, 1, 3)
