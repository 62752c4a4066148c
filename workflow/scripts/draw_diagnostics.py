"""Draw the map of generations, the discriminability of coordinates, adapter energies and accuracy by last round."""

import pandas as pd

from favor.foundation.files import read_parquet
from favor.foundation.job import job
from favor.report.figures.adapter_allocation import draw_adapter_allocation
from favor.report.figures.discriminability import draw_discriminability
from favor.report.figures.generation_map import draw_generation_map
from favor.report.figures.last_participation import draw_last_participation
from favor.scores.inputs import RUN_KEYS

with job(snakemake) as cfg:
    files, rows = snakemake.input, cfg["methods"]

    def paths(figure):
        return [str(path) for path in snakemake.output if f"/{figure}." in str(path)]

    human = [read_parquet(path, "source_embeddings") for path in (files.sources, files.golds)]
    kept = pd.concat([read_parquet(path, "generations", [*RUN_KEYS, "passed"]) for path in files.generations])
    vectors = read_parquet(files.embeddings, "generation_embeddings")
    generations = vectors.merge(kept[kept["passed"]], on=RUN_KEYS, validate="one_to_one")
    draw_generation_map(*human, generations, rows, *paths("generation_map"), display=cfg["display"])
    effects = read_parquet(files.effects, "coordinate_effects")
    draw_discriminability(effects, *paths("signature_space_discriminability"))
    draw_adapter_allocation(read_parquet(files.energy, "adapter_energy"), *paths("favor_lora_allocation"))
    participation = read_parquet(files.participation, "participation")
    draw_last_participation(participation, rows, *paths("last_participation"), display=cfg["display"])
