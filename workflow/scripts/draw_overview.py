"""Draw the method and the pipeline."""

from favor.figures.overview import draw_pipeline, draw_workflow
from favor.running.jobs.job import job

with job(snakemake):
    paths = [str(path) for path in snakemake.output]
    draw_workflow(*(path for path in paths if "favor_overview" in path))
    draw_pipeline(*(path for path in paths if "pipeline" in path))
