"""Compares every output with its gold continuation: BERTScore F1 beside the cosine of their sentence embeddings."""

import pandas as pd

from favor.foundation.errors import UserError
from favor.scores.inputs import RUN_KEYS, shuffled_prompts, unit_embeddings


def utility(
    generations: pd.DataFrame, prompts: pd.DataFrame, scores: pd.DataFrame, generated: pd.DataFrame, gold: pd.DataFrame
) -> pd.DataFrame:
    """Return table ``utility``: semantic similarity beside the ``scores``, a table ``bertscore``.

    ``generated`` and ``gold`` are the tables generation_embeddings and source_embeddings of the sentence encoder.
    Semantic similarity is a cosine; an empty generation has 0 in both columns. Raises ``UserError`` for a text without
    an embedding.
    """
    compared = pairs(generations, prompts)
    similarity = _similarity(compared, generated, gold).mask(compared["text"].str.strip() == "", 0.0)
    table = compared.assign(semantic_similarity=similarity)
    table = table.merge(scores, on=RUN_KEYS, how="left", validate="one_to_one")
    return table[[*RUN_KEYS, "bertscore_f1", "semantic_similarity"]]


def pairs(generations: pd.DataFrame, prompts: pd.DataFrame) -> pd.DataFrame:
    """Return every text to compare beside the ``gold_text`` of its prompt, those of the control ``shuffled`` last.

    The control pairs the gold continuation of another author with each prompt's own: the random-pair baseline;
    ``text_item`` names the prompt that it continues. Raises ``UserError`` for a generation without a prompt.
    """
    keys = ["seed", "client", "prompt_id"]
    table = pd.concat([generations[[*RUN_KEYS, "text"]].assign(text_item=""), _shuffled(prompts)])
    table = table.merge(prompts[[*keys, "gold_text"]], on=keys, how="left", validate="many_to_one")
    if table["gold_text"].isna().any():
        row = table[table["gold_text"].isna()].iloc[0]
        raise UserError(
            f"generation of prompt '{row['prompt_id']}' (seed {row['seed']}) has no prompt; run prompts again"
        )
    return table


def _shuffled(prompts: pd.DataFrame) -> pd.DataFrame:
    parts = []
    for seed in sorted(set(prompts["seed"].tolist())):
        kept, given = shuffled_prompts(prompts, seed)
        text, item = (given[name].to_numpy() for name in ("gold_text", "prompt_id"))
        own = kept[["seed", "client", "prompt_id"]]
        parts.append(own.assign(method="shuffled", sample=0, text=text, text_item=item))
    return pd.concat(parts)


def _similarity(table: pd.DataFrame, generated: pd.DataFrame, source: pd.DataFrame) -> pd.Series:
    gold = source.loc[source["kind"] == "gold", ["item", "embedding"]].set_index("item")["embedding"]
    own = table.merge(generated[[*RUN_KEYS, "embedding"]], on=RUN_KEYS, how="left", validate="one_to_one")["embedding"]
    own = own.where(own.notna(), table["text_item"].map(gold))
    other = table["prompt_id"].map(gold)
    missing = (own.isna() | other.isna()) & (table["text"].str.strip() != "")
    if missing.any():
        row = table[missing].iloc[0]
        raise UserError(
            f"sentence embeddings: none for prompt '{row['prompt_id']}', method '{row['method']}'; embed again"
        )
    known = own.notna() & other.notna()
    similarity = pd.Series(0.0, index=table.index)
    similarity[known] = (unit_embeddings(own[known]) * unit_embeddings(other[known])).sum(axis=1)
    return similarity
