"""Common prompts: each is continued by every client, so that continuations differ by their author's adapter alone.

Holding the prompt fixed over writers is how homogenisation is measured elsewhere (Padmakumar and He 2024, "Does Writing
with Language Models Reduce Content Diversity?", ICLR).
"""

import sys
from collections.abc import Collection, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.corpora.copies import SHARED_WORDS, shares_a_run, word_runs
from favor.corpora.documents import stream_documents
from favor.corpora.posts import UNKNOWN_TOPIC, ReaderSettings
from favor.corpora.prompts import cut_post
from favor.corpora.schemas import COMMON_PROMPTS
from favor.corpora.settings import CommonChoice, PromptCut
from favor.corpora.tabular import read_rows
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed
from favor.foundation.tokenizer import open_tokenizer

FREE_ROLES = ("unused", "too_small")  # authors whose text nobody trains on
ENCODER_ROLES = ("asce_a", "asce_b")
_COLUMNS = ["document_id", "topic", "prompt_text", "prompt_tokens"]
_Prompt = tuple[str, str, str, list[int]]  # by these columns


def select_common_prompts(
    documents: Path,
    roster: pd.DataFrame,
    client_texts: pd.DataFrame,
    tokenizer: str | Path,
    cut: PromptCut,
    settings: CommonChoice,
    left_out: Collection[str] = (),
) -> pd.DataFrame:
    """Return the table ``common_prompts``, cut from posts of authors who have no role.

    Topics take turns, within a topic authors, in an order drawn by ``settings.seed``; no author gives a second prompt
    before every author of its topic has given one. Posts in ``left_out`` (near duplicates), posts that are too short
    (``cut``) and prompts that share ``SHARED_WORDS`` words in a row with a text that a client trains on, or with any
    post of a style encoder's authors, give none.

    documents: file of the table of that name. roster, client_texts: the tables of these names. Raises ``UserError``
    where there are fewer prompts than asked for.
    """
    chosen = roster[roster["role"].isin(FREE_ROLES)]
    free: dict[str, str] = dict(zip(chosen["author"], chosen["topic"], strict=True))
    encoders = roster.loc[roster["role"].isin(ENCODER_ROLES), "author"].tolist()
    posts: dict[str, dict[str, list[Any]]] = {}
    known = [word_runs(text for text in client_texts["training_text"] if text)]
    for batch in stream_documents(documents, ("author", "document_id", "prompt", "text")):
        post: Any
        for post in batch[batch["author"].isin(list(free))].itertuples():
            if post.document_id not in left_out:
                posts.setdefault(free[post.author], {}).setdefault(post.author, []).append(post)
        known.append(word_runs(batch.loc[batch["author"].isin(encoders), "text"]))
    seen = np.unique(np.concatenate(known))
    model = open_tokenizer(tokenizer)
    found: list[_Prompt] = []
    for post in _in_turn(posts, settings.seed):
        if len(found) == settings.count:
            break
        made = cut_post(post.text, model, cut, post.prompt)
        if made is not None and not shares_a_run(made.prompt_text, seen):
            found.append((post.document_id, free[post.author], made.prompt_text, made.prompt_tokens))
    if len(found) < settings.count:
        raise UserError(
            f"common prompts: {len(found)} of {settings.count} can be cut from posts of {len(free)} authors without a "
            f"role; lower 'prompts.common.count' to {len(found)} or the corpus's 'roles', or give prompts of your own "
            "('prompts.common.path')"
        )
    return _table(found)


def read_common_prompts(
    path: Path, tokenizer: str | Path, settings: CommonChoice, client_texts: pd.DataFrame
) -> pd.DataFrame:
    """Return the table ``common_prompts`` of the user's own prompts, in their order.

    Where it has more than ``settings.count``, the first ones. Raises ``UserError`` for a prompt that is empty or there
    twice. One that shares words with a client's training text is reported on standard error.
    """
    model, found, seen, sharing = open_tokenizer(tokenizer), [], dict[str, str](), list[str]()
    known = word_runs(text for text in client_texts["training_text"] if text)
    columns = {"prompt": "prompt", "topic": "topic"}
    for row in read_rows(path, ReaderSettings(has_keys=False), columns, ["prompt"], "a column 'prompt'"):
        text = row.values["prompt"]
        if not text.strip():
            raise UserError(f"{path}: {row.label}: the prompt is empty; write one or remove the row")
        if text in seen:
            raise UserError(f"{path}: {row.label} repeats the prompt of {seen[text]}; remove one of them")
        seen[text] = row.label
        if shares_a_run(text, known):
            sharing.append(row.label)
        tokens = model.encode(text, add_special_tokens=False).ids
        found.append(("", row.values.get("topic") or UNKNOWN_TOPIC, text, tokens))
    if not found:
        raise UserError(f"{path}: holds no prompt; write one per row")
    if sharing:
        who = f"{sharing[0]} shares" if len(sharing) == 1 else f"{len(sharing)} prompts ({sharing[0]} first) share"
        print(f"{path}: {who} {SHARED_WORDS} words with a client's training text", file=sys.stderr)
    return _table(found[: settings.count])


def client_prompts(common: pd.DataFrame, clients: Iterable[str]) -> pd.DataFrame:
    """Return the common prompts once per client: client, and the columns of ``common``."""
    return pd.DataFrame({"client": list(clients)}).merge(common, how="cross")


def _table(found: list[_Prompt]) -> pd.DataFrame:
    names = [f"common-{number:03d}" for number in range(1, len(found) + 1)]
    return pd.DataFrame(found, columns=_COLUMNS).assign(prompt_id=names)[COMMON_PROMPTS.names]


def _in_turn(posts: Mapping[str, Mapping[str, list[Any]]], seed: int) -> Iterable[Any]:
    """Yield posts by topic in turn, within a topic by author in turn."""

    def order(kind: str, names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: (derive_seed(seed, f"common prompts, {kind}", name), name))

    piles = []
    for topic in order("topics", posts):
        hands = []
        for author in order("authors", posts[topic]):
            own = {post.document_id: post for post in posts[topic][author]}
            hands.append([own[name] for name in order("posts", own)])
        piles.append([post for row in zip_longest(*hands) for post in row if post is not None])
    return (post for row in zip_longest(*piles) for post in row if post is not None)
