"""Write the numbers of the paper's running text, ours beside the paper's."""

from pathlib import Path

from favor.analysis.schemas import COORDINATE_EFFECTS
from favor.corpora.schemas import ALLOCATION
from favor.federation.schemas import GATES
from favor.foundation.files import read_json, write_json, write_text
from favor.foundation.parquet import read_parquet, read_tables
from favor.paper.measured_numbers import judged_numbers, measured_numbers, validated_numbers
from favor.paper.numbers import numbers_of
from favor.paper.settings import Numbers
from favor.report.claimed_numbers import with_claims
from favor.report.facts import Facts
from favor.report.paper_agreement import number_macros
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.tables.cell_table import TABLE_CELLS

with job(snakemake, Numbers) as settings:
    written = {}
    for name, wanted in settings.experiments.items():
        tables = {label: read_parquet(path, TABLE_CELLS) for label, path in wanted.tables.items()}
        written[name] = numbers_of(tables, wanted.paper_dataset, wanted.whole)
        measured = measured_numbers(
            read_parquet(wanted.allocation, ALLOCATION),
            wanted.participations,
            read_tables(wanted.effects, COORDINATE_EFFECTS),
            read_tables(wanted.gates, GATES),
            {role: read_json(path)["manifest"] for role, path in wanted.encoders.items()},
            wanted.paper_dataset,
        )
        # A study has another allocation and other encoders than the paper's text speaks of.
        written[name] += measured if wanted.whole else []
        for path in wanted.judges:
            written[name] += judged_numbers(read_parquet(path, SCORES), wanted.paper_dataset)
        for path in wanted.validation:
            written[name] += validated_numbers(read_parquet(path, SCORES))
        written[name] = with_claims(written[name], Facts.read(Path(settings.results) / name, wanted.claims))
    write_json(written, snakemake.output.numbers)
    write_text(number_macros(written), snakemake.output.macros)
