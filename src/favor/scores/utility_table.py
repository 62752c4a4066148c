"""Makes the utility table: BERTScore F1 and semantic similarity of every output with its gold continuation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from favor.encoders.base import load_encoder
from favor.foundation.errors import UserError
from favor.running.progress import Progress
from favor.scores.bertscore import BertScorer
from favor.scores.bertscore_canary import check_canary
from favor.scores.inputs import RUN_KEYS, read_settings, shuffled_attribution, unit_embeddings

DEFAULTS: dict[str, Any] = {
    "bertscore_source": "roberta-large",
    "bertscore_layer": 17,
    "bertscore_tokens": 512,
    "sentence_encoder": {"kind": "sentence", "source": "embedded-minilm"},
    "batch_size": 32,
}


def utility(
    generations: pd.DataFrame,
    prompts: pd.DataFrame,
    settings: Mapping[str, Any],
    sentence_embeddings: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Return table ``utility`` for every generation and for the control ``shuffled``.

    ``prompts`` holds the prompts of all seeds with a column seed. ``sentence_embeddings`` are the
    (generation_embeddings, source_embeddings) tables of the sentence encoder where the experiment has them already;
    otherwise the texts are embedded here. Semantic similarity is a cosine; an empty generation has 0 in both columns.
    The control pairs the gold continuation of another author with each prompt's own: the random-pair baseline.
    """
    checked = read_settings("utility table", settings, DEFAULTS)
    keys = ["seed", "client", "prompt_id"]
    gold = prompts[[*keys, "gold_text"]]
    table = pd.concat([generations[[*RUN_KEYS, "text"]].assign(text_item=""), _shuffled(prompts)])
    table = table.merge(gold, on=keys, how="left", validate="many_to_one").reset_index(drop=True)
    if table["gold_text"].isna().any():
        row = table[table["gold_text"].isna()].iloc[0]
        raise UserError(
            f"generation of prompt '{row['prompt_id']}' (seed {row['seed']}) has no prompt; run prompts again"
        )
    progress = Progress("BERTScore", len(table), "pairs")
    scorer = BertScorer(
        checked["bertscore_source"], checked["bertscore_layer"], checked["bertscore_tokens"], checked["batch_size"]
    )
    check_canary(scorer, checked["bertscore_source"], checked["bertscore_layer"])
    f1 = scorer.f1(table["text"].tolist(), table["gold_text"].tolist(), progress)
    progress.close()
    if sentence_embeddings is None:
        similarity = _encoded_similarity(table, checked["sentence_encoder"])
    else:
        similarity = _known_similarity(table, *sentence_embeddings)
    empty = table["text"].str.strip() == ""
    scored = table.assign(bertscore_f1=f1, semantic_similarity=similarity.mask(empty, 0.0))
    return scored[[*RUN_KEYS, "bertscore_f1", "semantic_similarity"]]


def _shuffled(prompts: pd.DataFrame) -> pd.DataFrame:
    parts = []
    for seed in sorted(set(prompts["seed"].tolist())):
        ordered = prompts[prompts["seed"] == seed].sort_values(["client", "prompt_id"], ignore_index=True)
        giver = shuffled_attribution(ordered["client"].to_numpy(), seed)
        kept = ordered[giver >= 0]
        given = ordered.iloc[giver[giver >= 0]]
        parts.append(
            kept[["seed", "client", "prompt_id"]].assign(
                method="shuffled",
                sample=0,
                text=given["gold_text"].to_numpy(),
                text_item=given["prompt_id"].to_numpy(),
            )
        )
    return pd.concat(parts)


def _encoded_similarity(table: pd.DataFrame, spec: Mapping[str, Any]) -> pd.Series:
    encoder = load_encoder(spec)
    texts = pd.concat([table["text"], table["gold_text"]])
    progress = Progress("semantic similarity", texts.nunique(), "texts")
    rows = encoder.encode(texts.tolist(), progress).astype("float64")
    progress.close()
    return pd.Series((rows[: len(table)] * rows[len(table) :]).sum(axis=1), index=table.index)


def _known_similarity(table: pd.DataFrame, generated: pd.DataFrame, source: pd.DataFrame) -> pd.Series:
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
