"""Roles from what was measured of a corpus: filters first, then who suits the experiments, then the roster."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from favor.corpora.author_measures import failing
from favor.corpora.roster import select_roster
from favor.corpora.settings import Roster
from favor.corpora.suitability import shortcomings, suits_by
from favor.corpora.tables import AUTHOR_MEASURES, AUTHORS, SPLITS, SUITABILITY
from favor.foundation.parquet import read_parquet


@dataclass(frozen=True)
class Measured:
    """A corpus before roles are given: its documents (a file), its tables, and the names of background authors.

    ``measures``: the table ``author_measures`` where the configuration filters by it, else None.
    """

    documents: Path
    authors: pd.DataFrame
    splits: pd.DataFrame
    suitability: pd.DataFrame
    background: list[str]
    measures: pd.DataFrame | None

    @classmethod
    def read(cls, files: Any) -> Measured:
        """Read the inputs of a job, by their names in its rule."""
        measures = [read_parquet(path, AUTHOR_MEASURES) for path in files.measures]
        return cls(
            Path(files.documents),
            read_parquet(files.authors, AUTHORS),
            read_parquet(files.splits, SPLITS),
            read_parquet(files.suitability, SUITABILITY),
            [name for path in files.background for name in read_parquet(path, AUTHORS)["author"]],
            measures[0] if measures else None,
        )


def assign_roles(measured: Measured, settings: Roster) -> pd.DataFrame:
    """Return the ``roster`` table under ``settings``; say on standard error who is left out, and why.

    Raises ``UserError`` where too few authors are left.
    """
    filtered: set[str] = set()
    if measured.measures is not None:
        for name, fails in failing(measured.measures, settings.filters).items():
            print(f"filter {name}: {fails.sum()} of {len(measured.measures)} authors left out", file=sys.stderr)
            filtered.update(measured.measures.loc[fails, "author"])
    suitability = measured.suitability
    free = suitability[~suitability["author"].isin([*measured.background, *filtered])]
    for row in shortcomings(free).query("authors > 0").itertuples():
        print(f"{row.experiment}: {row.authors:,} authors have {row.reason}", file=sys.stderr)
    suits = [suits_by(suitability, "preferred_prompts"), suits_by(suitability, "minimum_prompts")]
    return select_roster(
        measured.authors, measured.splits, measured.background, measured.documents, settings, filtered, suits
    )
