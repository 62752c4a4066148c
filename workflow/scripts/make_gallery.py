"""Show one prompt per author with every row's continuation, on one page that quotes texts."""

from pathlib import Path

from favor.foundation.files import write_json, write_text
from favor.report.gallery import exhibits, gallery_page, sample
from favor.report.settings import Gallery
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, Gallery) as settings:
    encoder = settings.style_encoder
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(settings.seeds, map(Path, snakemake.input.prompts), strict=True)),
        {encoder: Path(snakemake.input.embeddings)},
        {encoder: (snakemake.input.sources, snakemake.input.golds)},
        filter=settings.generation,
        words=settings.words,
    )
    shown = exhibits(inputs, encoder, settings.rows)
    write_text(gallery_page(settings.title, shown, settings.display, settings.generated), snakemake.output.gallery)
    write_json(sample(shown, settings.rows, settings.display), snakemake.output.sample)
