"""The table of certified encoders on the terminal, from certificates and embedded human texts alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from favor.encoders.schemas import CERTIFICATE, SOURCE_EMBEDDINGS
from favor.foundation.parquet import read_parquet
from favor.scores.author_retrieval import retrieval_scores
from favor.scores.inputs import Sources, unit_embeddings
from favor.scores.metric import scores_frame
from favor.scores.settings import Resampled
from favor.scores.stel import stel_scores
from favor.tables.build import build_table
from favor.tables.cell_table import rows_of_cells
from favor.tables.completion import cautions, printed_spec
from favor.tables.marks import dash_reasons, letter
from favor.tables.specs import Context

NO_TEXTS = "no experiment of the configuration measures with this encoder, so it has no human texts"


def certificate_lines(
    certificates: Mapping[str, Path], texts: Mapping[str, Path], context: Context, settings: Resampled
) -> list[str]:
    """Return the table ``encoder-certificates`` of some encoders as lines, cautions first.

    certificates: files of the table ``certificate``, by encoder.
    texts: files of the table ``source_embeddings`` of one experiment, by encoder; without an encoder it has no texts.
    context: of that experiment.
    settings: draws and seed of the family ``author_retrieval``.
    """
    scores = stel_scores({name: read_parquet(path, CERTIFICATE) for name, path in certificates.items()})
    retrieval = scores_frame(row for name, path in texts.items() for row in _retrieval(name, path, settings))
    spec = printed_spec("encoder-certificates")
    cells = build_table(spec, pd.concat([scores, retrieval], ignore_index=True), context)
    if not texts:  # of the reasons, the one that says what to do
        cells.loc[cells["reason"] != "", "reason"] = NO_TEXTS
    lines = cautions(retrieval, set(texts), context.encoder_titles)
    reasons = dash_reasons(cells)
    for panel, own in cells.groupby("panel", sort=False):
        lines += ["", str(panel), *_aligned(own, reasons)]
    return [*lines, "", *(f"{letter(number)}: {reason}" for reason, number in reasons.items())]


def _retrieval(encoder: str, path: Path, settings: Resampled) -> list[Any]:
    frame = read_parquet(path, SOURCE_EMBEDDINGS).sort_values(["client", "item"])
    parts = [frame[frame["kind"] == kind].reset_index(drop=True) for kind in ("train", "test")]
    train, test = (Sources(own[["client", "item", "topic"]], unit_embeddings(own["embedding"])) for own in parts)
    return list(retrieval_scores(encoder, train, test, settings.draws, settings.seed))


def _aligned(cells: pd.DataFrame, reasons: Mapping[str, int]) -> list[str]:
    rows = [["Encoder", *dict.fromkeys(cells["column"])]]
    for _, row, line in rows_of_cells(cells):
        marks = [f" {letter(reasons[cell['reason']])}" if cell["reason"] else "" for cell in line]
        rows.append([row, *(cell["text"] + mark for cell, mark in zip(line, marks, strict=True))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [[f"{text:>{width}}" for text, width in zip(row, widths, strict=True)] for row in rows]
    return ["  ".join([row[0].ljust(widths[0]), *right[1:]]) for row, right in zip(rows, aligned, strict=True)]
