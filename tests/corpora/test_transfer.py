"""Texts for encoder transfer: all training texts of the clients, and as many held-out ones as are asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from favor.corpora.schemas import DOCUMENTS
from favor.corpora.transfer import transfer_texts
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet


@pytest.fixture
def corpus(tmp_path) -> tuple[Path, pd.DataFrame, Path]:
    """Three authors of ten documents, eight in train and two in test each; the last is no client."""
    rows = [
        (f"u{author}", f"u{author}-{n}", "t", "", f"text {author} {n}", 2, "") for author in range(3) for n in range(10)
    ]
    frame = pd.DataFrame(rows, columns=["author", "document_id", "topic", "prompt", "text", "words", "date"])
    write_parquet(frame, tmp_path / "documents.parquet", DOCUMENTS)
    splits = frame[["author", "document_id"]].assign(
        split=["train"] * 8 + ["test"] * 2 + ["train"] * 8 + ["test"] * 2 + ["train"] * 10
    )
    roster = pd.DataFrame(
        {
            "author": ["u0", "u1", "u2"],
            "role": ["client", "client", "unused"],
            "client": ["client_002", "client_001", ""],
        }
    )
    return tmp_path / "documents.parquet", splits, roster


def test_clients_alone_under_their_anonymous_names(corpus) -> None:
    texts = transfer_texts(*corpus, held_out=1, seed=3)
    assert texts.groupby(["client", "kind"]).size().to_dict() == {
        ("client_001", "test"): 1,
        ("client_001", "train"): 8,
        ("client_002", "test"): 1,
        ("client_002", "train"): 8,
    }
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
