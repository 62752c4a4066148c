"""Draw an experiment's training curves, its retention-utility plane and its allocation."""

import pandas as pd

from favor.corpora.tables import ALLOCATION
from favor.federation.tables import TRAINING_LOG
from favor.foundation.parquet import read_parquet
from favor.report.figures.allocation import draw_allocation
from favor.report.figures.curves import draw_training_curves
from favor.report.figures.retention_utility import draw_retention_utility
from favor.running.job import job
from favor.scores.tables import SCORES

with job(snakemake) as cfg:
    logs = {}
    for method in cfg["methods"]:
        own = (f"/shared/{cfg['tracks'].get(method)}/", f"/{method}/clients/")
        files = [path for path in snakemake.input.logs if any(part in path for part in own)]
        if files:
            logs[method] = pd.concat([read_parquet(path, TRAINING_LOG) for path in files], ignore_index=True)
    families = [read_parquet(path, SCORES) for path in (snakemake.input.prototypes, snakemake.input.utility)]

    def paths(figure):
        return [str(path) for path in snakemake.output if f"/{figure}." in str(path)]

    scores, display = pd.concat(families, ignore_index=True), cfg["display"]
    draw_training_curves(logs, *paths("training_curves"), display=display)
    draw_retention_utility(
        scores,
        cfg["style_encoder"],
        cfg["methods"],
        *paths("retention_utility"),
        display=display,
        references=cfg["references"],
    )
    draw_allocation(read_parquet(snakemake.input.allocation, ALLOCATION), *paths("allocation"))
