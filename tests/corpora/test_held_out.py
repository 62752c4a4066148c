"""Held-out texts of authors who take part and of authors who do not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from favor.corpora.documents import DocumentWriter
from favor.corpora.held_out import held_out_texts
from favor.foundation.errors import UserError


@pytest.fixture
def corpus(tmp_path) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """Three authors of six posts each, of which four are test posts, and the roles of two of them."""
    path = tmp_path / "documents.parquet"
    writer, splits = DocumentWriter(path), []
    for author in ("ann", "bob", "cid"):
        for number in range(6):
            name = f"{author}{number}"
            writer.write(author, name, "t", "", f"text of {name}", 3)
            splits.append((author, name, "test" if number < 4 else "train"))
    writer.close()
    roster = pd.DataFrame({"author": ["ann", "bob", "cid"], "client": ["client_001", "client_002", ""]})
    return path, pd.DataFrame(splits, columns=["author", "document_id", "split"]), roster


def test_texts_are_held_out_ones_of_those_asked_for(corpus) -> None:
    found = held_out_texts(*corpus, ["client_001", "client_002"], 3, 5)
    assert found.groupby("client").size().to_dict() == {"client_001": 3, "client_002": 3}
    assert all(int(name[-1]) < 4 for name in found["document_id"])
    assert found["text"].tolist() == [f"text of {name}" for name in found["document_id"]]


def test_whoever_else_is_asked_for_changes_no_draw(corpus) -> None:
    both = held_out_texts(*corpus, ["client_001", "client_002"], 2, 5)
    alone = held_out_texts(*corpus, ["client_002"], 2, 5)
    assert alone.equals(both[both["client"] == "client_002"].reset_index(drop=True))


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
