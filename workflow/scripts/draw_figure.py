"""Draw one figure of an experiment from what its file asks for."""

from favor.figures.data import FigureData
from favor.figures.specs import load_figure
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    files = {name: [str(path) for path in paths] for name, paths in snakemake.input.items()}
    load_figure(snakemake.wildcards.figure).draw(FigureData(files, **cfg), *map(str, snakemake.output))
