"""Draw the map of generations, the discriminability of coordinates, adapter energies and accuracy by last round."""

import pandas as pd

from favor.analysis.tables import ADAPTER_ENERGY, COORDINATE_EFFECTS, PARTICIPATION
from favor.encoders.tables import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.tables import GENERATIONS
from favor.foundation.parquet import read_parquet
from favor.report.figures.adapter_allocation import draw_adapter_allocation
from favor.report.figures.discriminability import draw_discriminability
from favor.report.figures.generation_map import draw_generation_map
from favor.report.figures.last_participation import draw_last_participation
from favor.running.job import job
from favor.scores.inputs import RUN_KEYS

with job(snakemake) as cfg:
    files, rows = snakemake.input, cfg["methods"]

    def paths(figure):
        return [str(path) for path in snakemake.output if f"/{figure}." in str(path)]

    human = [read_parquet(path, SOURCE_EMBEDDINGS) for path in (files.sources, files.golds)]
    kept = pd.concat([read_parquet(path, GENERATIONS, [*RUN_KEYS, "passed"]) for path in files.generations])
    vectors = read_parquet(files.embeddings, GENERATION_EMBEDDINGS)
    generations = vectors.merge(kept[kept["passed"]], on=RUN_KEYS, validate="one_to_one")
    draw_generation_map(*human, generations, rows, *paths("generation_map"), display=cfg["display"])
    effects = read_parquet(files.effects, COORDINATE_EFFECTS)
    draw_discriminability(effects, *paths("signature_space_discriminability"))
    draw_adapter_allocation(read_parquet(files.energy, ADAPTER_ENERGY), *paths("favor_lora_allocation"))
    participation = read_parquet(files.participation, PARTICIPATION)
    draw_last_participation(participation, rows, *paths("last_participation"), display=cfg["display"])
