"""Texts of clients: held-out ones, and what encoder transfer reads, all training texts beside as many held-out ones."""

from pathlib import Path

import pandas as pd
import pytest
from tests.corpora.made import write_documents

from favor.corpora.held_out import held_out_texts, transfer_texts
from favor.foundation.errors import UserError


@pytest.fixture
def corpus(tmp_path) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """Three authors of six posts each, of which four are test posts, and the roles of two of them."""
    roster = pd.DataFrame({"author": ["ann", "bob", "cid"], "client": ["client_001", "client_002", ""]})
    roster["role"] = ["client", "client", "unused"]
    names = [(author, f"{author}{number}") for author in roster["author"] for number in range(6)]
    rows = [(author, name, "t", "", f"text of {name}", 3) for author, name in names]
    splits = pd.DataFrame(names, columns=["author", "document_id"]).assign(split=(["test"] * 4 + ["train"] * 2) * 3)
    return write_documents(tmp_path / "documents.parquet", rows), splits, roster


def test_texts_are_held_out_ones_of_those_asked_for_whoever_else_is(corpus) -> None:
    found = held_out_texts(*corpus, ["client_001", "client_002"], 3, 5)
    assert found.groupby("client").size().to_dict() == {"client_001": 3, "client_002": 3}
    assert all(int(name[-1]) < 4 for name in found["document_id"])
    assert found["text"].tolist() == [f"text of {name}" for name in found["document_id"]]
    alone = held_out_texts(*corpus, ["client_002"], 3, 5)
    assert alone.equals(found[found["client"] == "client_002"].reset_index(drop=True))


def test_near_duplicates_of_other_posts_are_not_held_out(corpus) -> None:
    assert held_out_texts(*corpus, ["client_001"], 9, 5)["document_id"].tolist() == ["ann0", "ann1", "ann2", "ann3"]
    found = held_out_texts(*corpus, ["client_001"], 9, 5, {"ann1", "bob0"})
    assert found["document_id"].tolist() == ["ann0", "ann2", "ann3"]
    with pytest.raises(UserError, match="client_001 has no test text without a near duplicate"):
        held_out_texts(*corpus, ["client_001"], 9, 5, {f"ann{number}" for number in range(4)})


def test_a_client_without_a_held_out_text_is_named(corpus) -> None:
    documents, splits, roster = corpus
    splits = splits.assign(split=splits["split"].where(splits["author"] != "bob", "train"))
    with pytest.raises(UserError, match="client_002 has no test text; raise 'minimum_posts'"):
        held_out_texts(documents, splits, roster, ["client_001", "client_002"], 2, 5)
    with pytest.raises(UserError, match="transfer: client_002 has no test text"):
        transfer_texts(documents, splits, roster, 1, 3)


def test_transfer_reads_clients_alone_under_their_anonymous_names(corpus) -> None:
    texts = transfer_texts(*corpus, held_out=1, seed=3)
    assert texts.groupby(["client", "kind"]).size().unstack().to_dict("list") == {"test": [1, 1], "train": [2, 2]}
    assert sorted(set(texts["client"])) == ["client_001", "client_002"]
    assert texts.loc[texts["client"] == "client_002", "text"].str.startswith("text of bob").all()
    seeds = [transfer_texts(*corpus, held_out=1, seed=seed) for seed in (3, *range(9))]
    pd.testing.assert_frame_equal(seeds[0], texts)
    assert len({tuple(drawn.query("kind == 'test'")["item"]) for drawn in seeds}) > 1
    assert len(transfer_texts(*corpus, held_out=6, seed=3).query("kind == 'test'")) == 8  # there are no more
