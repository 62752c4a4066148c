"""Continuations without training: what a client's prompt says of its author, from its own training texts alone.

A sheet and a persona are distilled once per client by a language model; passages are retrieved for every prompt. All of
it stays with the client: no job of the server reads it, and nothing is uploaded.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import bm25s
import numpy as np
import pandas as pd

from favor.federation.method import Prompting
from favor.federation.schemas import PROMPTED_REQUESTS
from favor.federation.settings import PassageLengths, SheetLengths
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.inference.chat import ChatTokens
from favor.inference.generation import GenerationRequest, generate
from favor.lm.base import BaseModel
from favor.lm.settings import ALL_LINEAR
from favor.lm.tokenizer import TextTokenizer
from favor.studies.prompting import templates
from favor.studies.prompting.templates import PERSONA_LEAD, Request, continuation_request


def training_texts(texts: pd.DataFrame, client: str) -> pd.DataFrame:
    """Return the texts a client may train on, by document. Raises ``UserError`` where it has none."""
    own = texts[(texts["client"] == client) & (texts["training_text"] != "")].sort_values("document_id")
    if own.empty:
        raise UserError(f"prompting: {client} has no training text; raise 'allocation.total_words' or leave it out")
    return own


def cut(tokenizer: TextTokenizer, text: str, tokens: int) -> str:
    """Return the first ``tokens`` tokens of ``text``; a character cut in two is left out."""
    ids = tokenizer.encode(text)
    return text if len(ids) <= tokens else tokenizer.decode(ids[:tokens]).rstrip("\ufffd")


def nearest_texts(texts: Sequence[str], query: str, count: int) -> list[int]:
    """Return the places of the ``count`` texts of highest BM25 score for ``query``, best first; the first on a tie.

    BM25: Robertson and Zaragoza 2009, by the library bm25s. Words are those of its tokenizer: lower case, English stop
    words left out. A query without a known word scores every text 0.
    """
    corpus = bm25s.tokenize(list(texts), show_progress=False)
    if not corpus.vocab:
        return list(range(min(count, len(texts))))
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    (words,) = bm25s.tokenize([query], return_ids=False, show_progress=False)
    known = [word for word in words if word in corpus.vocab]
    scores = index.get_scores(known) if known else np.zeros(len(texts))
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]


def distil_sheets(
    base: BaseModel, texts: pd.DataFrame, lengths: SheetLengths, repetition_penalty: float, rows_per_batch: int
) -> pd.DataFrame:
    """Return the table ``author_sheets``: of every client a sheet, and a persona made from the sheet.

    A sheet describes ``sheet_texts`` training texts, drawn by (seed, client), of which the model reads the first
    ``sheet_text_tokens`` tokens each. Raises ``UserError`` where a request does not fit the model's context.
    """
    clients = sorted(set(texts["client"]))
    chat = ChatTokens(base)

    def ask(wanted: Sequence[Request], new_tokens: int) -> list[str]:
        of_clients = zip(clients, wanted, strict=True)
        asked = [GenerationRequest(client, chat.encode(*request)) for client, request in of_clients]
        answers = generate(base, ALL_LINEAR, asked, new_tokens, repetition_penalty, rows_per_batch)
        return [base.tokenizer.decode(answer).strip() for answer in answers]

    chosen = []
    for client in clients:
        own = training_texts(texts, client)
        order = numpy_generator(lengths.seed, "author sheet", client).permutation(len(own))[: lengths.sheet_texts]
        chosen.append([cut(base.tokenizer, own["training_text"].iloc[at], lengths.sheet_text_tokens) for at in order])
    sheets = ask([templates.sheet_request(read) for read in chosen], lengths.sheet_tokens)
    personas = ask([templates.persona_request(sheet) for sheet in sheets], lengths.persona_tokens)
    if not chat.templated:
        personas = [f"{PERSONA_LEAD} {persona}" for persona in personas]
    return pd.DataFrame({"client": clients, "sheet": sheets, "persona": personas, "texts": list(map(len, chosen))})


def prompted_requests(
    base: BaseModel,
    prompting: Prompting,
    prompts: pd.DataFrame,
    texts: pd.DataFrame,
    sheets: pd.DataFrame | None,
    lengths: PassageLengths,
) -> tuple[pd.DataFrame, list[list[int]]]:
    """Return the table ``prompted_requests`` without seed and method, and the token ids of every request, aligned.

    ``prompts``: table ``prompts`` of one seed; ``texts``: ``client_texts``; ``sheets``: ``author_sheets``, for a
    ``prompting`` with a sheet. Where the model has no chat template, a request ends with the prompt's own tokens.
    """
    chat = ChatTokens(base)
    kept = {} if sheets is None else {str(row["client"]): row for row in sheets.to_dict("records")}
    rows, tokens = [], []
    asked: Any = prompts.sort_values(["client", "prompt_id"]).to_dict("records")
    for row in asked:
        own = kept.get(row["client"], {})
        if prompting.sheet and not own:
            raise UserError(f"author sheets: {row['client']} has none; delete their file and run again")
        passages, names = _passages(base.tokenizer, prompting, row, texts, lengths)
        sheet, persona = (str(own.get(part, "")) for part in ("sheet", "persona"))
        request = continuation_request(prompting, row["prompt_text"], sheet, persona, passages)
        if chat.templated:
            ids = chat.encode(request.system, f"{request.user}\n\n{request.lead}")
        else:
            ids = chat.encode(request.system, request.user, [int(token) for token in row["prompt_tokens"]])
        tokens.append(ids)
        said = f"{request.system}\n\n{request.user}\n\n{request.lead}"
        rows.append((row["client"], row["prompt_id"], said, len(ids), names))
    names = [name for name in PROMPTED_REQUESTS.names if name not in ("seed", "method")]
    return pd.DataFrame(rows, columns=names), tokens


def _passages(
    tokenizer: TextTokenizer, prompting: Prompting, row: Mapping[str, str], texts: pd.DataFrame, lengths: PassageLengths
) -> tuple[list[str], list[str]]:
    """Return the beginnings of the client's texts nearest to a prompt, and the names of their documents."""
    if not prompting.passages:
        return [], []
    own = training_texts(texts, row["client"])
    found = nearest_texts(own["training_text"].tolist(), row["prompt_text"], lengths.passages)
    cuts = [cut(tokenizer, own["training_text"].iloc[at], lengths.passage_tokens) for at in found]
    return cuts, [str(own["document_id"].iloc[at]) for at in found]
