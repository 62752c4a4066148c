"""The whole corpus path on real blog text, where a copy is at hand (FAVOR_BLOG_CSV)."""

from __future__ import annotations

from favor.corpora.building import build_documents
from favor.corpora.documents import author_totals, stream_documents
from favor.corpora.posts import open_reader
from favor.corpora.settings import Cleaning, Splitting
from favor.corpora.splits import split_documents


def test_real_corpus(real_blog_csv, tmp_path) -> None:
    out = tmp_path / "documents.parquet"
    counts = build_documents(real_blog_csv, open_reader("blog_csv"), Cleaning(), out, tmp_path / "dropped.parquet")
    assert counts["kept"] > 0.8 * sum(counts.values())
    assert counts["empty"] > 0
    assert counts["duplicate_same_author"] > 0
    seen: set[str] = set()
    last = ("", "")
    for batch in stream_documents(out, ("author", "document_id", "text")):
        for author, document, text in batch.itertuples(index=False, name=None):
            assert last < (author, document)
            last = (author, document)
            assert text == text.strip()
            assert "urlLink" not in text
            assert "&nbsp;" not in text
            assert text not in seen
            seen.add(text)
    totals = author_totals(out)
    assert totals["documents"].sum() == counts["kept"]
    assert len(split_documents(out, Splitting()).splits) <= counts["kept"]
