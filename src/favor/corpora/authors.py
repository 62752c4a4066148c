"""What each author has and can be: tokens under the base model's own tokenizer, background authors, clients."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from tokenizers import Tokenizer

from favor.corpora.documents import author_totals, stream_documents
from favor.corpora.prompts import cut_post
from favor.corpora.schemas import SUITABILITY
from favor.corpora.settings import Background, BackgroundChoice, Need
from favor.corpora.shortage import ShortageError
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed
from favor.foundation.tokenizer import most_tokens, open_tokenizer, token_counter
from favor.running.jobs.progress import Progress


def count_tokens(
    documents: Path, tokenizer: str | Path, minimum_tokens: int = 0, progress: Progress | None = None
) -> pd.DataFrame:
    """Return the ``authors`` table: topic, documents, words and tokens of every author, sorted by author.

    Tokens are counted document by document without special tokens. Authors whose texts are too short for
    ``minimum_tokens``, whatever is in them, are not counted (-1).
    """
    model = open_tokenizer(tokenizer)
    totals = author_totals(documents)
    counted = _worth_counting(documents, model, minimum_tokens) if minimum_tokens else set(totals["author"])
    if progress is not None:
        progress.total = int(totals.loc[totals["author"].isin(counted), "documents"].sum())
    count = token_counter(model)
    tokens = dict.fromkeys(totals["author"], -1) | dict.fromkeys(counted, 0)
    for batch in stream_documents(documents, ("author", "text"), 1024, counted):
        for author, number in zip(batch["author"], count(batch["text"].tolist()), strict=True):
            tokens[author] += number
        if progress is not None:
            progress.update(len(batch))
    return totals.assign(tokens=totals["author"].map(tokens).astype("int64"))


def _worth_counting(documents: Path, model: Tokenizer, minimum_tokens: int) -> set[str]:
    bound = most_tokens(model)
    most: Counter[str] = Counter()
    for batch in stream_documents(documents, ("author", "text")):
        for author, text in batch.itertuples(index=False, name=None):
            most[author] += minimum_tokens if bound is None else bound(text)
    return {author for author, tokens in most.items() if tokens >= minimum_tokens}


def choose_background(documents: Path, settings: Background) -> pd.DataFrame:
    """Return the background authors as an ``authors`` table (tokens not counted).

    The first ``authors`` in the order of a seeded hash of their names: a choice of n is part of every larger one.
    Raises ``ShortageError`` where fewer authors have ``background_minimum_words``.
    """
    eligible = possible_background(documents, settings)
    if len(eligible) < settings.authors:
        raise ShortageError(
            f"background: {len(eligible)} authors have {settings.background_minimum_words:,} words, "
            f"{settings.authors} are needed; lower 'roles.background' or 'background_minimum_words' of the corpus, or "
            "take a pretrained base model, which needs none: 'make real-base', then 'favor init' on your posts"
        )
    order = sorted(eligible["author"], key=lambda author: (derive_seed(settings.seed, "background", author), author))
    return eligible[eligible["author"].isin(order[: settings.authors])].reset_index(drop=True)


def possible_background(documents: Path, settings: BackgroundChoice) -> pd.DataFrame:
    """Return the rows of those who have enough words, as an ``authors`` table (tokens not counted)."""
    totals = author_totals(documents)
    return totals[totals["words"] >= settings.background_minimum_words]


def check_background(authors: Collection[str], file: str) -> None:
    """Raise ``UserError`` where the table of background authors is empty, because too few could be chosen."""
    if not authors:
        raise UserError(f"{file}: no background authors, since too few have enough words; 'favor check' says how many")


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
            *(author, need.experiment, made[need.cut][author], need.prompts.per_client, need.preferred_prompts),
            *(need.minimum_per_client, texts, need.training_texts, need.first_client, need.last_client),
        )
        for author, texts in training.items()
        for need in needs
    ]
    return pd.DataFrame(rows, columns=SUITABILITY.names).astype(dict.fromkeys(SUITABILITY.names[2:], "int32"))


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
        rows += [
            (name, "no prompt" if fewest == 1 else f"fewer than {fewest} prompts", none),
            (name, f"fewer than the {wanted} prompts wanted", few),
        ]
        rows.append((name, f"fewer than {texts} training texts", int(_few_texts(own).sum())))
    return pd.DataFrame(rows, columns=["experiment", "reason", "authors"])
