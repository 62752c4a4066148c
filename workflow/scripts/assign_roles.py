"""Give every author one role: client, style encoder A or B, background, or none; show that no two roles overlap."""

from pathlib import Path

from favor.corpora.roster import RosterSettings, measure_overlap, select_roster
from favor.corpora.tables import AUTHORS, OVERLAP, ROSTER, SPLITS
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
    roster = select_roster(authors, splits, background, documents, settings)
    write_parquet(measure_overlap(roster, documents), snakemake.output.overlap, OVERLAP)
    write_parquet(roster, snakemake.output.roster, ROSTER)
