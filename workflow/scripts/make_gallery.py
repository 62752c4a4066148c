"""Show one prompt per author with every row's continuation, on one page that quotes texts."""

from favor.foundation.files import write_json, write_text
from favor.report.gallery import exhibits, gallery_page, sample
from favor.report.settings import Gallery
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, Gallery) as settings:
    encoder = settings.style_encoder
    limits = {"filter": settings.generation, "words": settings.words}
    inputs = ScoreInputs.load(snakemake.input, settings.seeds, [encoder], **limits)
    shown = exhibits(inputs, encoder, settings.rows)
    write_text(gallery_page(settings.title, shown, settings.display, settings.generated), snakemake.output.gallery)
    write_json(sample(shown, settings.rows, settings.display), snakemake.output.sample)
