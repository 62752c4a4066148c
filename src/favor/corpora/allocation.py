"""Which of its own texts each client trains on, and how much: long-tailed by rank^-alpha, capped by what there is.

The paper's main split is "medium non-IID long-tail, target/realised Gini 0.25/0.196, 904,378 allocated word units".
The authors' release builds it as here with alpha 0.7, a total equal to what is available and shuffle seed 2027.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.corpora.documents import stream_documents
from favor.corpora.settings import Allocation, WordBudgets
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import document_words

# The paper's imbalance sweep: exponents of the weights, and exactly the same total (section on text volume).
SWEEP_ALPHA = {"balanced": 0.0, "moderate": 0.35, "strong": 0.70}
TOLERANCE = 0.05  # share of a target that realised budgets may miss without a word


def gini(values: Sequence[float] | np.ndarray) -> float:
    """Return the plain Gini coefficient, sum_i (2 i - n - 1) x_(i) / (n sum x), of n ascending values; 0 for none."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    total, n = ordered.sum(), len(ordered)
    return float(((2 * np.arange(1, n + 1) - n - 1) * ordered).sum() / (n * total)) if total > 0 else 0.0


def rank_weights(clients: int, alpha: float) -> list[float]:
    """Return rank^-alpha for the ranks 1 to ``clients``."""
    return [rank**-alpha for rank in range(1, clients + 1)]


def allocate(available: Mapping[str, int], settings: WordBudgets) -> pd.DataFrame:
    """Return the ``allocation`` table for ``available``, word units of training text by client name.

    Weights by rank are shuffled over the clients in name order, scaled to the total, rounded, the rounding remainder
    given to (or taken from) the first clients a unit each, and capped at what the client has. Raises ``UserError`` for
    a shape of the sweep whose total is not set or more than there is.
    """
    clients = sorted(available)
    weights = rank_weights(len(clients), SWEEP_ALPHA.get(settings.shape, settings.alpha))
    # Python's own generator, for its shuffle is the one behind the release's figures.
    random.Random(settings.seed).shuffle(weights)
    have = np.array([available[client] for client in clients], dtype=np.int64)
    total = int(have.sum()) if settings.total_words is None else settings.total_words
    targets = _rounded(np.array([total * weight / sum(weights) for weight in weights]), total)
    allocated = np.minimum(have, targets)
    if settings.shape in SWEEP_ALPHA:
        if settings.total_words is None or settings.total_words > have.sum():
            raise UserError(
                f"config key 'allocation.total_words': shape '{settings.shape}' gives out exactly this many words; "
                f"there are {int(have.sum()):,}, so set at most that"
            )
        allocated = _filled(np.array(weights), have, total)
    elif settings.reach_total:
        allocated = _filled(np.array(weights), have, min(total, int(have.sum())))
    return pd.DataFrame(
        {"client": clients, "available_words": have, "target_words": targets, "allocated_words": allocated}
    )


def missed_targets(allocation: pd.DataFrame) -> str:
    """Return a sentence about an ``allocation`` table whose total or Gini misses its target by over 5 %, else ""."""
    target, realised = (allocation[name].to_numpy() for name in ("target_words", "allocated_words"))
    missed = [
        f"{measure} {of(realised):,{form}} where {of(target):,{form}} was the target"
        for measure, of, form in (("total", lambda words: int(words.sum()), "d"), ("Gini", gini, ".3f"))
        if abs(of(realised) - of(target)) > TOLERANCE * of(target)
    ]
    capped = int((allocation["available_words"] < allocation["target_words"]).sum())
    if not missed:
        return ""
    return (
        f"Word budgets miss their targets: {'; '.join(missed)}. {capped} of {len(allocation)} clients have less text."
    )


def _rounded(shares: np.ndarray, total: int) -> np.ndarray:
    """Round shares and give (or take) the remainder from the first clients on, a unit each; nobody gets less than 0."""
    targets = np.array([round(share) for share in shares], dtype=np.int64)
    while (remainder := total - int(targets.sum())) != 0:
        open_to_it = np.flatnonzero(targets > 0) if remainder < 0 else np.arange(len(targets))
        targets[open_to_it[: abs(remainder)]] += 1 if remainder > 0 else -1
    return targets


def _filled(weights: np.ndarray, have: np.ndarray, total: int) -> np.ndarray:
    """Give out exactly ``total`` in proportion to the weights; what a client cannot take goes to those who can."""
    level, open_to_more = 0.0, np.ones(len(have), dtype=bool)
    while open_to_more.any():
        # Everyone with room gets level * weight, where level exhausts what is left beside the capped clients.
        level = (total - have[~open_to_more].sum()) / weights[open_to_more].sum()
        full = open_to_more & (level * weights >= have)
        if not full.any():
            break
        open_to_more &= ~full
    allocated = np.where(open_to_more, np.floor(level * weights), have).astype(np.int64)
    # The units that flooring left over, to the first clients with room.
    allocated[np.flatnonzero(allocated < have)[: total - int(allocated.sum())]] += 1
    return allocated


class ClientTexts(NamedTuple):
    """``texts``: the ``client_texts`` table. ``allocation``: the ``allocation`` table it keeps to."""

    texts: pd.DataFrame
    allocation: pd.DataFrame


def materialise(
    documents: Path, splits: pd.DataFrame, roster: pd.DataFrame, settings: Allocation, kind: str
) -> ClientTexts:
    """Return the clients' texts and allocation.

    With ``settings.enforce`` a client's training documents are taken whole, in an order shuffled by (seed,
    author), until its allocation is reached; the last one is cut after the word that reaches it. Otherwise all of
    them are trained on. A document cut to nothing, and every held-out one, has no training text.
    ``kind``: what counts as a word (:func:`favor.foundation.words.document_words`), as in the ``documents`` table. With
    ``settings.shots`` see :func:`few_shot`.
    """
    client_of = {author: client for author, client in zip(roster["author"], roster["client"], strict=True) if client}
    columns = ("author", "document_id", "topic", "prompt", "text", "words")
    texts = pd.concat(stream_documents(documents, columns, authors=client_of), ignore_index=True).merge(
        splits[["document_id", "split"]], on="document_id", how="inner", validate="one_to_one"
    )
    texts["client"] = texts["author"].map(client_of)
    if settings.shots is not None:
        return few_shot(texts, settings)
    train = texts[texts["split"] == "train"]
    available = {str(client): int(words) for client, words in train.groupby("client")["words"].sum().items()}
    allocation = allocate(available, settings)
    budgets = dict(zip(allocation["client"], allocation["allocated_words"], strict=True))
    cut = document_words(kind).cut
    allocated: dict[int, int] = {}
    for author, rows in train.groupby("author"):
        rows = rows.sort_values("document_id")
        places, words = rows.index.tolist(), rows["words"].tolist()
        left = budgets[client_of[str(author)]] if settings.enforce else sum(words)
        for place in numpy_generator(settings.seed, "allocation", str(author)).permutation(len(rows)):
            allocated[places[place]] = min(words[place], left)
            left -= allocated[places[place]]
    texts["allocated_words"] = texts.index.map(lambda row: allocated.get(row, 0)).astype("int32")
    texts["training_text"] = [
        text if words == part else cut(text, part)
        for text, words, part in zip(texts["text"], texts["words"], texts["allocated_words"], strict=True)
    ]
    texts.loc[texts["split"] != "train", "training_text"] = ""
    return ClientTexts(_client_texts(texts), allocation)


def few_shot(texts: pd.DataFrame, settings: Allocation) -> ClientTexts:
    """Return the texts and allocation of clients that have ``settings.shots`` whole training texts each.

    ``texts``: all texts of the clients, with author, client and split. Training texts come in an order shuffled by
    (seed, author): the first are the shots, so those of a smaller number are among those of a larger; the last
    ``settings.reference_texts`` become the split "reference", the same for every number of shots; the others are left
    out. Raises ``UserError`` where a client has too few.
    """
    shots, references = settings.shots or 0, settings.reference_texts
    train = texts[texts["split"] == "train"]
    chosen: list[int] = []
    for (author, client), rows in train.groupby(["author", "client"]):
        if len(rows) < shots + references:
            raise UserError(
                f"{client}: {len(rows)} training texts, but {shots} shots and {references} reference texts are wanted; "
                "lower 'allocation.shots' or 'allocation.reference_texts', or raise 'minimum_posts' of the corpus"
            )
        rows = rows.sort_values("document_id")
        order = rows.index[numpy_generator(settings.seed, "allocation", str(author)).permutation(len(rows))]
        chosen += order[:shots].tolist()
        texts.loc[order[len(order) - references :], "split"] = "reference"
    trained = texts.index.isin(chosen)
    texts["allocated_words"] = texts["words"].where(trained, 0).astype("int32")
    texts["training_text"] = texts["text"].where(trained, "")
    available = train.groupby("client")["words"].sum()
    allocated = texts.groupby("client")["allocated_words"].sum().reindex(available.index)
    columns = {"available_words": available, "target_words": allocated, "allocated_words": allocated}
    allocation = pd.DataFrame(columns).astype("int64").reset_index()
    return ClientTexts(_client_texts(texts[trained | (texts["split"] != "train")]), allocation)


def _client_texts(texts: pd.DataFrame) -> pd.DataFrame:
    names = ["client", "document_id", "split", "topic", "prompt", "text", "words", "allocated_words", "training_text"]
    return texts.sort_values(["client", "document_id"], ignore_index=True)[names]
