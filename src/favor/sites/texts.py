"""A site's own texts, by what the workflow's jobs do with everybody's, and their style vectors."""

import json
import tempfile
from pathlib import Path

import pandas as pd

from favor.corpora.allocation import ClientTexts, materialise
from favor.corpora.building import build_documents
from favor.corpora.documents import author_totals
from favor.corpora.posts import ReaderSettings, open_reader
from favor.corpora.settings import DocumentBuilding, Splitting, TextAllocation
from favor.corpora.splits import split_documents
from favor.encoders.base import load_encoder
from favor.foundation.errors import UserError
from favor.foundation.names import nearest
from favor.plan import Planner
from favor.plan.job_settings import job_settings
from favor.plan.keys import Key
from favor.sites.agreement import Agreement


def own_texts(
    planner: Planner, agreed: Agreement, client: str, author: str | None, words: int | None, folder: Path
) -> ClientTexts:
    """Return the texts of ``client``: cleaned, split and, up to ``words`` word units, trained on.

    ``author``: who it is in the raw corpus of the configuration, where that holds others too; ``folder``: where
    intermediate files may lie. Raises ``UserError`` for an author who is not there, and as the workflow's jobs do.
    """
    key = Key(corpus=planner.config.experiments[agreed["experiment"]].corpus)
    building = job_settings(DocumentBuilding, planner.project.corpus_section(key))
    read = ReaderSettings.of(building)
    splitting = Splitting.model_validate_json(json.dumps(agreed["splitting"]))
    texts = TextAllocation.model_validate_json(json.dumps(agreed["texts"]))
    with tempfile.TemporaryDirectory(dir=folder) as place:
        documents, dropped = Path(place) / "documents.parquet", Path(place) / "dropped.parquet"
        source = Path(planner.project.raw_corpus(key))
        others_words = building.filters.others_words
        build_documents(
            source, open_reader(building.reader), building, documents, dropped, None, read, None, others_words
        )
        authors = author_totals(documents)["author"].tolist()
        if author is None and len(authors) > 1:
            raise UserError(f"{source}: holds texts of {len(authors)} authors; name the one of this site by --author")
        if author is not None and author not in authors:
            raise UserError(f"{source}: nobody there is named '{author}'; {nearest(author, authors)}")
        own = author or authors[0]
        splits = split_documents(documents, splitting).splits
        if own not in set(splits["author"]):
            raise UserError(
                f"{source}: {own} has too few documents to be split; the corpus needs 'minimum_posts' of them"
            )
        budget = texts.allocation.model_copy(update={"total_words": words, "shape": "long_tail"})
        roster = pd.DataFrame({"author": [own], "client": [client]})
        return materialise(documents, splits, roster, budget, texts.words)


def own_embeddings(planner: Planner, agreed: Agreement, texts: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``source_embeddings`` of a site's texts, by the style encoder of the experiment."""
    name = planner.config.experiments[agreed["experiment"]].style_encoder
    loaded = planner.project.loaded_encoder(Key(encoder=name))
    vectors = load_encoder(loaded.spec, loaded.path).encode(texts["text"].tolist())
    named = texts.rename(columns={"document_id": "item", "split": "kind"})
    return named[["client", "item", "kind", "topic"]].assign(embedding=list(vectors))
