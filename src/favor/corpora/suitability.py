"""Who can be a client: authors whose held-out posts give the prompts, and who have the texts, that experiments need."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from favor.corpora.documents import stream_documents
from favor.corpora.prompts import cut_post
from favor.corpora.settings import Need
from favor.corpora.tables import SUITABILITY
from favor.foundation.tokenizer import open_tokenizer
from favor.running.jobs.progress import Progress


def measure_suitability(
    documents: Path,
    authors: pd.DataFrame,
    splits: pd.DataFrame,
    needs: Sequence[Need],
    minimum_tokens: int,
    copies: Collection[str] = (),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return the ``suitability`` table of every author with ``minimum_tokens`` and splits, for every need.

    ``copies``: documents that are near duplicates. Test posts of an author are cut as
    :func:`favor.corpora.prompts.select_prompts` does, until there are enough of them, so a count says how many prompts
    the author gives under any seed.
    """
    large = set(authors.loc[authors["tokens"] >= minimum_tokens, "author"])
    split_of = dict(zip(splits["document_id"], splits["split"], strict=True))
    training = dict.fromkeys(sorted(large & set(splits["author"])), 0)
    cuts = dict.fromkeys(need.cut for need in needs)
    tokenizers = {name: open_tokenizer(name) for name, _, _ in cuts}
    made = {cut: dict.fromkeys(training, 0) for cut in cuts}
    for batch in stream_documents(documents, ("author", "document_id", "prompt", "text")):
        for author, document, opening, text in batch.itertuples(index=False, name=None):
            if author not in training:
                continue
            split = split_of.get(document)
            training[author] += split == "train"
            for (tokenizer, settings, repeated), counts in made.items():
                if split != "test" or (repeated == "drop" and document in copies):
                    continue
                if counts[author] < settings.per_client:
                    counts[author] += cut_post(text, tokenizers[tokenizer], settings, opening) is not None
        if progress is not None:
            progress.update(len(batch))
    rows = [
        (
            author,
            need.experiment,
            made[need.cut][author],
            need.prompts.per_client,
            need.preferred_prompts,
            need.minimum_per_client,
            texts,
            need.training_texts,
            need.first_client,
            need.last_client,
        )
        for author, texts in training.items()
        for need in needs
    ]
    frame = pd.DataFrame(rows, columns=SUITABILITY.names)
    return frame.astype(dict.fromkeys(SUITABILITY.names[2:], "int32"))


# Whether an author can be the client at a place of the roster, counted from 1.
Suits = Callable[[str, int], bool]


def suits_by(suitability: pd.DataFrame, prompts: Literal["preferred_prompts", "minimum_prompts"]) -> Suits:
    """Return whether an author has what every experiment with a client at that place asks for.

    ``prompts``: the column of the ``suitability`` table that says how many prompts an author must give.
    """
    lacking = suitability[_few_prompts(suitability, prompts) | _few_texts(suitability)]
    places: dict[str, list[range]] = {}
    columns = (lacking[name].tolist() for name in ("author", "first_client", "last_client"))
    for author, first, last in zip(*columns, strict=True):
        places.setdefault(author, []).append(range(first, last + 1))
    return lambda author, place: not any(place in taken for taken in places.get(author, ()))


def _few_prompts(suitability: pd.DataFrame, prompts: str) -> pd.Series:
    return suitability["prompts"] < suitability[prompts]


def _few_texts(suitability: pd.DataFrame) -> pd.Series:
    return suitability["training_texts"] < suitability["minimum_texts"]


def shortcomings(suitability: pd.DataFrame) -> pd.DataFrame:
    """Return experiment, reason and authors: how many of those in the table lack what an experiment asks for."""
    rows = []
    for name, own in suitability.groupby("experiment", sort=True):
        wanted, fewest, texts = (
            int(own[key].iloc[0]) for key in ("wanted_prompts", "minimum_prompts", "minimum_texts")
        )
        none, few = (int(_few_prompts(own, key).sum()) for key in ("minimum_prompts", "wanted_prompts"))
        rows.append((name, f"fewer than {fewest} prompts", none))
        rows.append((name, f"fewer than the {wanted} prompts wanted", few))
        rows.append((name, f"fewer than {texts} training texts", int(_few_texts(own).sum())))
    return pd.DataFrame(rows, columns=["experiment", "reason", "authors"])
