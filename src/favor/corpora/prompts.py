"""Evaluation prompts: the first tokens of held-out posts, and the author's own continuation as gold.

The paper: "96-token prefixes of held-out posts (192 tokens on Mythos-Reddit), generations capped at 220 new tokens".
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from favor.corpora.copies import shares_a_run
from favor.corpora.settings import PromptCut
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.tokenizer import open_tokenizer

SEPARATOR = "\n\n"  # between a writing prompt and its story


def few_prompts(made: Mapping[str, int], wanted: int, cause: str) -> str:
    """Return one line on the clients that have fewer prompts than ``wanted``; "" where none has."""
    short = sorted(client for client, count in made.items() if count < wanted)
    if not short:
        return ""
    who = f"{short[0]} has" if len(short) == 1 else f"{len(short)} clients ({short[0]} first) have"
    return f"{who} fewer than {wanted} prompts; {cause}"


class Cut(NamedTuple):
    """One post cut in two: prompt ids and text, gold text and length in tokens."""

    prompt_tokens: list[int]
    prompt_text: str
    gold_text: str
    gold_tokens: int


def cut_post(text: str, tokenizer: Tokenizer, settings: PromptCut, opening: str = "") -> Cut | None:
    """Return ``text`` cut after ``prefix_tokens`` tokens, or None where no faithful cut is there.

    ``opening``, a writing prompt, comes before the text and must leave room for the text's start within the prefix.
    A cut is faithful where the two decoded parts, put together, are the decoded whole: a character whose bytes lie
    on both sides of the prefix's end spoils it, one at the gold's end shortens the gold by its part. Where that would
    leave less than ``minimum_gold_tokens``, the gold is as many and the rest of the character. So
    ``maximum_gold_tokens`` does not decide whether a post gives a prompt.
    """
    joined = f"{opening}{SEPARATOR}{text}" if opening else text
    ids = tokenizer.encode(joined, add_special_tokens=False).ids
    prefix = settings.prefix_tokens
    least = prefix + settings.minimum_gold_tokens
    if len(ids) < least:
        return None
    whole = tokenizer.decode(ids, skip_special_tokens=False)
    prompt_text = tokenizer.decode(ids[:prefix], skip_special_tokens=False)
    if not whole.startswith(prompt_text) or (opening and len(prompt_text) <= len(opening) + len(SEPARATOR)):
        return None

    def through(stop: int) -> str | None:
        decoded: str = tokenizer.decode(ids[:stop], skip_special_tokens=False)
        return decoded if whole.startswith(decoded) else None

    shortest = next((stop for stop in range(least, min(len(ids), least + 3) + 1) if through(stop) is not None), None)
    if shortest is None:
        return None
    last = min(len(ids), prefix + settings.maximum_gold_tokens)
    for stop in (*range(last, max(last - 4, shortest), -1), shortest):
        decoded = through(stop)
        if decoded is not None:
            return Cut(ids[:prefix], prompt_text, decoded[len(prompt_text) :], stop - prefix)
    return None


def select_prompts(
    client_texts: pd.DataFrame,
    tokenizer: str | Path,
    settings: PromptCut,
    seed: int,
    left_out: Collection[str] = (),
    trained: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the ``prompts`` table, those of every client for the training seed ``seed``.

    A client's test posts are tried in an order shuffled by (``seed``, client), and the first that are long enough
    are taken: one prompt a post, never a second window of the same post, so a client with few long test posts has
    fewer prompts. ``left_out``: documents that give none, being near duplicates of others.
    ``trained``: runs of words of texts that are trained on (:func:`favor.corpora.copies.word_runs`); a post with one
    of them gives none, wherever in it, so that ``max_new_tokens`` decides on no prompt. Raises ``UserError`` where a
    client has no prompt.
    """
    model = open_tokenizer(tokenizer)
    rows = []
    test = client_texts[client_texts["split"] == "test"]
    for client in sorted(set(test["client"])):
        posts = test[test["client"] == client].sort_values("document_id")
        made = 0
        for place in numpy_generator(seed, "prompts", client).permutation(len(posts)):
            post = posts.iloc[place]
            if post["document_id"] in left_out:
                continue
            cut = cut_post(post["text"], model, settings, post["prompt"])
            if cut is not None and (trained is None or not shares_a_run(post["text"], trained)):
                made += 1
                rows.append((client, f"{client}-{seed}-{made}", post["document_id"], post["topic"], *cut))
            if made == settings.per_client:
                break
    if without := sorted(set(client_texts["client"]) - {row[0] for row in rows}):
        raise UserError(
            f"prompts: {without[0]} (of {len(without)} such clients) has no test post of "
            f"{settings.prefix_tokens + settings.minimum_gold_tokens} tokens that gives a prompt; lower "
            "'prompts.prefix_tokens' or 'prompts.minimum_gold_tokens', set 'prompts.near_duplicates' or "
            "'prompts.shared_passages' to keep, or run this experiment in a results folder of its own, where the "
            "roster is made for it"
        )
    columns = ["client", "prompt_id", "document_id", "topic", *Cut._fields]
    return pd.DataFrame(rows, columns=columns).astype({"gold_tokens": "int32"})
