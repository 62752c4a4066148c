"""Give every author one role: client, style encoder A or B, background, or none; show that no two roles overlap."""

import sys
from pathlib import Path

from favor.corpora.author_measures import failing
from favor.corpora.roster import RosterSettings, measure_overlap, select_roster
from favor.corpora.suitability import shortcomings, suits_by
from favor.corpora.tables import AUTHOR_MEASURES, AUTHORS, OVERLAP, ROSTER, SPLITS, SUITABILITY
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.job import job

with job(snakemake) as cfg:
    documents = Path(snakemake.input.documents)
    roles = {name: count for name, count in cfg["roles"].items() if name != "background"}
    settings = RosterSettings(
        **roles,
        **{name: cfg[name] for name in ("minimum_tokens", "selection", "style_clusters", "seed")},
    )
    background = [name for path in snakemake.input.background for name in read_parquet(path, AUTHORS)["author"]]
    authors = read_parquet(snakemake.input.authors, AUTHORS)
    splits = read_parquet(snakemake.input.splits, SPLITS)
    filtered: set[str] = set()
    for path in snakemake.input.measures:
        measures = read_parquet(path, AUTHOR_MEASURES)
        for name, fails in failing(measures, cfg["filters"]).items():
            print(f"filter {name}: {fails.sum()} of {len(measures)} authors left out", file=sys.stderr)
            filtered.update(measures.loc[fails, "author"])
    suitability = read_parquet(snakemake.input.suitability, SUITABILITY)
    free = suitability[~suitability["author"].isin([*background, *filtered])]
    for row in shortcomings(free).query("authors > 0").itertuples():
        print(f"{row.experiment}: {row.authors:,} authors have {row.reason}", file=sys.stderr)
    suits = [suits_by(suitability, "wanted_prompts"), suits_by(suitability, "minimum_prompts")]
    roster = select_roster(authors, splits, background, documents, settings, filtered, suits)
    write_parquet(measure_overlap(roster, documents), snakemake.output.overlap, OVERLAP)
    write_parquet(roster, snakemake.output.roster, ROSTER)
