"""Which outputs are judged, in which order, under which blind names: the matched design of the paper.

In every author-seed group one prompt is drawn, common to all methods; every output on it is judged twice. The requests
carry no method and no client: who is who stands in the key, which the judge's job does not read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import output_words
from favor.studies.judges.prompts import (
    QUALITY,
    QUALITY_INSTRUCTIONS,
    VOICE,
    VOICE_INSTRUCTIONS,
    quality_text,
    voice_text,
)
from favor.studies.judges.schemas import JUDGE_KEY, JUDGE_REQUESTS
from favor.studies.settings import JudgementDesign

_GROUP = ["seed", "client"]


@dataclass(frozen=True)
class Matched:
    """The prompt on which the outputs of one training seed and author are judged; ``passed``: all pass the filter."""

    seed: int
    client: str
    prompt_id: str
    passed: bool


def choose_prompts(generations: pd.DataFrame, methods: Sequence[str], seed: int) -> list[Matched]:
    """Return one prompt per training seed and author, sorted; ``generations`` has one output of a prompt.

    It is drawn among the prompts that all ``methods`` answered with outputs that pass the filter; where there is none,
    among those all answered.
    """
    rows = generations[generations["method"].isin(list(methods))]
    counts = rows.groupby([*_GROUP, "prompt_id"])["passed"].agg(["size", "sum"])
    answered = counts[counts["size"] == len(methods)].reset_index()
    chosen = []
    keys: Any
    for keys, group in answered.groupby(_GROUP, sort=True):
        run, client = int(keys[0]), str(keys[1])
        whole = group[group["sum"] == len(methods)]
        pool = sorted(str(prompt) for prompt in (whole if len(whole) else group)["prompt_id"])
        place = int(numpy_generator(seed, "judged prompt", run, client).integers(len(pool)))
        chosen.append(Matched(run, client, pool[place], bool(len(whole))))
    return chosen


def design_requests(
    design: JudgementDesign, generations: pd.DataFrame, prompts: pd.DataFrame, texts: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables ``judge_requests`` and ``judge_key``.

    ``prompts``: table ``prompts`` of all seeds with a column seed; ``texts``: table ``client_texts``. Of several
    samples of a prompt the first is judged. Raises ``UserError`` where a method to be judged was not run, or no prompt
    was answered by all of them.
    """
    generations = generations.sort_values("sample").drop_duplicates(["seed", "method", "prompt_id"])
    methods = list(dict.fromkeys([*design.methods, *(design.voice or ())]))
    absent = [method for method in methods if method not in set(generations["method"])]
    if absent:
        raise UserError(f"judges: method '{absent[0]}' is not run in this experiment; add its row or leave it out")
    chosen = choose_prompts(generations, methods, design.seed)
    if not chosen:
        raise UserError("judges: no prompt was answered by every method to be judged; run all of them under one seed")
    prefixes = prompts.set_index(["seed", "prompt_id"])["prompt_text"].to_dict()
    outputs = generations.set_index(["seed", "method", "prompt_id"])["text"].to_dict()
    rows = list(_quality_rows(design, chosen, prefixes, outputs))
    if design.voice is not None:
        rows += _voice_rows(design, design.voice, chosen, prefixes, outputs, texts)
    made = pd.DataFrame(rows, columns=[*JUDGE_KEY.names, "system", "user"])
    order = numpy_generator(design.seed, "order of judgements").permutation(len(made))
    asked = made.iloc[order].reset_index(drop=True).assign(position=range(len(made)))
    return asked[JUDGE_REQUESTS.names], made[JUDGE_KEY.names]


def _blind_names(design: JudgementDesign, kind: str, count: int) -> list[str]:
    """Names that say nothing of the order in which the items were made."""
    order = numpy_generator(design.seed, "blind names", kind).permutation(count)
    return [f"{kind}_{number + 1:05d}" for number in order]


def _quality_rows(
    design: JudgementDesign, chosen: Sequence[Matched], prefixes: Mapping[Any, str], outputs: Mapping[Any, str]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the key, each with what the judge reads."""
    names = iter(_blind_names(design, QUALITY, len(chosen) * len(design.methods)))
    for group, method in product(chosen, design.methods):
        item = next(names)
        text = quality_text(prefixes[group.seed, group.prompt_id], outputs[group.seed, method, group.prompt_id])
        for number in range(1, design.judgements + 1):
            judged = group.seed, group.client, group.prompt_id, method, "", group.passed
            yield QUALITY, item, number, *judged, QUALITY_INSTRUCTIONS, text


def _voice_rows(
    design: JudgementDesign,
    pair: Sequence[str],
    chosen: Sequence[Matched],
    prefixes: Mapping[Any, str],
    outputs: Mapping[Any, str],
    texts: pd.DataFrame,
) -> Iterator[tuple[object, ...]]:
    profiles = {client: author_profile(texts, client, design) for client in sorted({group.client for group in chosen})}
    for group, item in zip(chosen, _blind_names(design, VOICE, len(chosen)), strict=True):
        swapped = int(numpy_generator(design.seed, "order of voices", group.seed, group.client).integers(2))
        for number in range(1, design.judgements + 1):
            first, second = pair if (number + swapped) % 2 else pair[::-1]
            shown = [outputs[group.seed, method, group.prompt_id] for method in (first, second)]
            text = voice_text(profiles[group.client], prefixes[group.seed, group.prompt_id], *shown)
            judged = group.seed, group.client, group.prompt_id, first, second, group.passed
            yield VOICE, item, number, *judged, VOICE_INSTRUCTIONS, text


def author_profile(texts: pd.DataFrame, client: str, design: JudgementDesign) -> list[str]:
    """Return the beginnings of a few training texts of a client, drawn with the design's seed."""
    own = texts[(texts["client"] == client) & (texts["split"] == "train")].sort_values("document_id")
    if own.empty:
        raise UserError(f"judges: {client} has no training texts for a profile; run the corpus rules again")
    order = numpy_generator(design.seed, "author profile", client).permutation(len(own))[: design.profile_texts]
    words = output_words(design.words)
    return [" ".join(words.cut(str(own["text"].iloc[place]), design.profile_words).split()) for place in order]
