"""What adapters know, read without generating: the likelihood of every client's held-out texts under every client.

A text is a prefix as long as the experiment's prompts, which is context, and what follows it, which is supervised: a
model reads as it generates, and a gate that follows the prompt is that of the prefix.
"""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from favor.corpora.style_features import VERIFIER_WORDS
from favor.federation.inference import ClientAdapter, adapted_requests
from favor.federation.schemas import LIKELIHOOD, READ_TEXTS
from favor.federation.settings import TextChoice
from favor.foundation.names import printable
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import document_words
from favor.inference.generation import GenerationRequest
from favor.inference.likelihood import Question, log_likelihoods
from favor.lm.base import BaseModel
from favor.lm.settings import Lora
from favor.lm.tasks import Piece
from favor.lm.tokenizer import TextTokenizer, language_model_text, offsets
from favor.running.jobs.progress import Progress

_FUNCTION_WORDS = frozenset(VERIFIER_WORDS)


def texts_to_read(
    tokenizer: TextTokenizer,
    texts: pd.DataFrame,
    left_out: Collection[str],
    neutral: Sequence[str],
    choice: TextChoice,
) -> pd.DataFrame:
    """Return the table ``read_texts`` without what the base says of them.

    texts: the table ``client_texts``; of each client at most ``texts_per_client`` test texts are taken, in an order
    drawn by (``seed``, client), that are not in ``left_out`` and have ``minimum_tokens`` behind their prefix. neutral:
    passages, of which every token behind the first prefix is supervised once, in windows; at most ``neutral_texts`` of
    these. A line on standard error names the clients without a text.
    """
    rows: list[tuple[Any, ...]] = []
    prefix, most, least = choice.prefix_tokens, choice.maximum_tokens, choice.minimum_tokens
    test = texts[(texts["split"] == "test") & ~texts["document_id"].isin(list(left_out))]
    for client, own in test.sort_values("document_id").groupby("client"):
        order = numpy_generator(choice.seed, "likelihood texts", str(client)).permutation(len(own))
        made = 0
        for place in order:
            post = own.iloc[place]
            text = language_model_text(str(post["prompt"]), str(post["text"]))
            ids, spans = offsets(tokenizer, text)
            given = len(language_model_text(str(post["prompt"]), ""))
            # As prompts are cut: a writing prompt leaves room for the text's start within the prefix.
            if len(ids) < prefix + least or spans[prefix - 1][1] <= given:
                continue
            rows.append(("client", client, post["topic"], made, *_cut(ids, spans, text, 0, prefix, most)))
            made += 1
            if made == choice.texts_per_client:
                break
    unread = sorted({*texts["client"]} - {row[1] for row in rows})
    if unread:
        print(
            f"{', '.join(map(printable, unread))}: no unseen text of {prefix + least} tokens, so none of theirs is "
            f"read ({len(unread)} of {texts['client'].nunique()} clients)",
            file=sys.stderr,
        )
    windows = [
        _cut(ids, spans, passage, start, prefix, most)
        for passage in neutral
        for ids, spans in [offsets(tokenizer, passage)]
        for start in range(0, max(0, len(ids) - prefix - least + 1), most)
    ]
    rows += [("neutral", "", "", number, *window) for number, window in enumerate(windows[: choice.neutral_texts])]
    columns = [column for column in READ_TEXTS.names if column not in ("base", "function_base")]
    kinds = {"text": "int32", "start": "int32", "characters": "int32", "function_tokens": "int32"}
    return pd.DataFrame(rows, columns=columns).astype(kinds)


def _cut(
    ids: Sequence[int], spans: Sequence[tuple[int, int]], text: str, first: int, prefix: int, most: int
) -> tuple[list[int], int, list[int], int, int]:
    """Return tokens, length of the context, places of tokens of no content word, characters, number of such tokens."""
    stop = min(len(ids), first + prefix + most)
    content = content_characters(text)
    places = [
        place - first for place in range(first + prefix, stop) if not content[spans[place][0] : spans[place][1]].any()
    ]
    characters = spans[stop - 1][1] - spans[first + prefix - 1][1]
    return list(ids[first:stop]), prefix, places, characters, len(places)


def content_characters(text: str) -> np.ndarray:
    """Return which characters of ``text`` belong to content words or figures: boolean [len(text)].

    A content word is one that is not in the list of English function words by which stylometry counts.
    """
    found = np.array([character.isalnum() for character in text], dtype=bool)
    plain = text.replace("’", "'")
    for start, end in document_words("paper").spans(plain):
        if plain[start:end].lower() in _FUNCTION_WORDS:
            found[start:end] = False
    return found


def read_base(base: BaseModel, lora: Lora, texts: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``read_texts`` with the log-likelihoods under the base model."""
    questions = [Question(None, piece) for piece in _pieces(base, texts)]
    progress = Progress("base, held-out texts", len(questions), "texts")
    found = log_likelihoods(base, lora, questions, progress)
    progress.close()
    whole, function = _sums(texts, found)
    return texts.assign(base=whole, function_base=function)


def read_adapters(
    base: BaseModel, lora: Lora, texts: pd.DataFrame, adapters: Mapping[str, ClientAdapter | None], title: str
) -> pd.DataFrame:
    """Return the table ``likelihood`` of one run, without its seed and method: every adapter reads every text.

    ``texts``: the table ``read_texts``; ``adapters``: what each client generates with
    (:func:`favor.federation.inference.client_adapters`). What clients share is read once; the base, which was read
    before, is not read again.
    """
    texts = texts.reset_index(drop=True).rename(columns={"client": "writer"})
    asked = pd.DataFrame({"client": list(adapters)}).merge(texts.reset_index(names="place"), how="cross")
    prompts = asked.assign(
        prompt_id=asked["place"].astype(str),
        prompt_tokens=[tokens[:start] for tokens, start in zip(asked["tokens"], asked["start"], strict=True)],
    )
    requests, _ = adapted_requests(base, lora, prompts[["client", "prompt_id", "prompt_tokens"]], adapters)
    pieces = _pieces(base, texts)
    keys = [_key(request, place) for request, place in zip(requests, asked["place"], strict=True)]
    questions = {
        key: Question(request.state, pieces[place], request.companion, request.gate, request.token_gate)
        for key, request, place in zip(keys, requests, asked["place"], strict=True)
        if request.state is not None
    }
    progress = Progress(title, len(questions), "texts")
    found = log_likelihoods(base, lora, list(questions.values()), progress)
    progress.close()
    places = texts.iloc[[key[-1] for key in questions]]
    sums = dict(zip(questions, zip(*_sums(places, found), strict=True), strict=True))
    of_base = list(zip(asked["base"], asked["function_base"], strict=True))
    values = [sums.get(key, own) for key, own in zip(keys, of_base, strict=True)]
    topics = texts[texts["kind"] == "client"].groupby("writer")["topic"].first()
    rows = asked.assign(
        client_topic=asked["client"].map(topics).fillna(""),
        tokens=asked["tokens"].str.len() - asked["start"],
        log_likelihood=[whole for whole, _ in values],
        function_log_likelihood=[function for _, function in values],
    )
    return rows[LIKELIHOOD.names[2:]].astype({"tokens": "int32"})


def read_validation(
    base: BaseModel,
    lora: Lora,
    pieces: Mapping[str, Sequence[Piece]],
    adapters: Mapping[str, ClientAdapter | None],
    title: str,
) -> pd.DataFrame:
    """Return the table ``validation_losses``: every client's pieces under what it is sent, as training reads them.

    ``pieces``: by client (:func:`favor.federation.local.validation_pieces`); a client without any has no row.
    """
    asked = [(client, piece) for client, own in pieces.items() for piece in own]
    states = {client: None if adapter is None else adapter.state for client, adapter in adapters.items()}
    progress = Progress(title, len(asked), "texts")
    found = log_likelihoods(base, lora, [Question(states[client], piece) for client, piece in asked], progress)
    progress.close()
    tokens = pd.DataFrame(
        {"client": [client for client, _ in asked], "sum": map(np.sum, found), "tokens": map(len, found)}
    )
    sums = tokens.groupby("client").sum()
    return (-sums["sum"] / sums["tokens"]).rename("loss").reset_index()


def _key(request: GenerationRequest, place: int) -> tuple[Any, ...]:
    """Return what tells a reading of the text at ``place`` from another."""
    return request.adapter, request.gate if request.companion is not None else None, place


def _pieces(base: BaseModel, texts: pd.DataFrame) -> list[Piece]:
    before = np.asarray(base.opening, dtype=np.int32)
    return [
        Piece(np.concatenate([before, np.asarray(tokens, dtype=np.int32)]), len(before) + start, "")
        for tokens, start in zip(texts["tokens"], texts["start"], strict=True)
    ]


def _sums(texts: pd.DataFrame, found: Sequence[np.ndarray]) -> tuple[list[float], list[float]]:
    """Return the sums of ln p over all supervised tokens of every text, and over those of no content word."""

    def of_function(own: np.ndarray, places: Sequence[int], start: int) -> float:
        return float(own[np.asarray(places, dtype=np.int64) - start].sum())

    columns: Iterator[Any] = zip(found, texts["function"], texts["start"], strict=True)
    return [float(own.sum()) for own in found], [of_function(*row) for row in columns]
