"""Write the numbers of the paper's running text, ours beside the paper's."""

import pandas as pd

from favor.foundation.columns import TABLES
from favor.foundation.files import read_json, read_parquet, write_json
from favor.foundation.job import job
from favor.report.measured_numbers import judged_numbers, measured_numbers
from favor.report.numbers import numbers_of


def empty(table):
    return TABLES[table].schema.empty_table().to_pandas()


with job(snakemake) as cfg:
    written = {}
    for name, wanted in cfg["experiments"].items():
        tables = {label: read_parquet(path, "table_cells") for label, path in wanted["tables"].items()}
        gates = [read_parquet(path, "gates") for path in wanted["gates"]]
        effects = [read_parquet(path, "coordinate_effects") for path in wanted["effects"]]
        written[name] = numbers_of(tables, wanted["paper_dataset"], wanted["whole"])
        measured = measured_numbers(
            read_parquet(wanted["allocation"], "allocation"),
            wanted["participations"],
            pd.concat(effects or [empty("coordinate_effects")], ignore_index=True),
            pd.concat(gates or [empty("gates")], ignore_index=True),
            {role: read_json(path)["manifest"] for role, path in wanted["encoders"].items()},
            wanted["paper_dataset"],
        )
        # A study has another allocation and other encoders than the paper's text speaks of.
        written[name] += measured if wanted["whole"] else []
        for path in wanted["judges"]:
            written[name] += judged_numbers(read_parquet(path, "scores"), wanted["paper_dataset"])
    write_json(written, snakemake.output.numbers)
