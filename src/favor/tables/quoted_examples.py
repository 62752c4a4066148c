"""The qualitative table: a few prompts, and what every method made of them, shortened."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from favor.foundation.seeds import numpy_generator
from favor.foundation.words import output_words
from favor.paper.names import METHODS, method_name
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.cells import DASH
from favor.tables.specs import Context, Row, TableSpec

SEED = 4302026  # the paper's
EXAMPLES = 3
WORDS = 24
KEYS = ["seed", "client", "prompt_id"]


def shortened(text: str, number: int = WORDS, words: str = "paper") -> str:
    """Return the first words of ``text`` on one line, with an ellipsis where some are left out."""
    counted = output_words(words)
    start = counted.cut(text, number) if counted.count(text) > number else text
    return " ".join(start.split()) + (" …" if start is not text else "")


def common_prompts(generations: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return seed, client and prompt_id of the prompts whose outputs pass the filter in every method, sorted."""
    passed = generations[generations["passed"] & generations["method"].isin(methods)]
    counts = passed.groupby(KEYS)["method"].nunique()
    return counts[counts == len(methods)].index.to_frame(index=False).sort_values(KEYS, ignore_index=True)


def build_excerpts(
    spec: TableSpec, generations: pd.DataFrame, prompts: pd.DataFrame, context: Context, words: str = "paper"
) -> tuple[TableSpec, pd.DataFrame]:
    """Return the specification with its rows filled in, and its ``table_cells``.

    ``prompts``: table ``prompts`` of all seeds with a column seed. Examples are numbered in the order in which they are
    drawn; seeds, clients and prompts are not named. Methods stand in the order of ``spec``, others of the configuration
    behind them.
    """
    order = [row.method for row in spec.rows if row.method in context.methods]
    order += [method for method in context.methods if method not in METHODS]
    common = common_prompts(generations, order)
    drawn = numpy_generator(SEED, "qualitative examples").permutation(len(common))[:EXAMPLES]
    texts = generations.set_index([*KEYS, "method"])["text"]
    asked = prompts.set_index(KEYS)
    rows: list[tuple[Row, str]] = []
    for number, place in enumerate(drawn, start=1):
        key = tuple(common.loc[int(place), KEYS])
        cues = (("Prefix cue", asked.loc[key, "prompt_text"]), ("Gold cue", asked.loc[key, "gold_text"]))
        outputs = ((method_name(method, context.display), texts.loc[(*key, method)]) for method in order)
        for name, text in (*cues, *outputs):
            rows.append((Row((str(number), name), group=str(number)), shortened(str(text), words=words)))
    panel = spec.panels[0]
    reason = "" if rows else "no prompt has outputs that pass the filter in every method"
    if not rows:
        rows = [(Row(("none", "none")), DASH)]
    cells = pd.DataFrame(
        {
            **dict.fromkeys(("section", "mark", "marking", "paper_text"), ""),
            **dict.fromkeys(("value", "deviation", "paper_value", "paper_deviation"), np.nan),
            "panel": panel.title,
            "row": [row.label for row, _ in rows],
            "column": panel.columns[0].label,
            "order": np.arange(len(rows)),
            "n": len(common),
            "text": [text for _, text in rows],
            "reason": reason,
        }
    )[TABLE_CELLS.names]
    caption = f"{spec.caption} {len(common)} prompts pass in all {len(order)} methods."
    return replace(spec, rows=tuple(row for row, _ in rows), caption=caption), cells
