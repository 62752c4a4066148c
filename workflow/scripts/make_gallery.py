"""Show one prompt per author with every row's continuation, on one page that quotes texts."""

from pathlib import Path

from favor.foundation.files import write_text
from favor.report.gallery import exhibits, gallery_page
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake) as cfg:
    encoder = cfg["encoder"]
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(cfg["seeds"], map(Path, snakemake.input.prompts), strict=True)),
        {encoder: Path(snakemake.input.embeddings)},
        {encoder: (snakemake.input.sources, snakemake.input.golds)},
        quality_limits=tuple(cfg["quality_limits"]),
        words=cfg["words"],
    )
    shown = exhibits(inputs, encoder, cfg["rows"])
    write_text(gallery_page(cfg["title"], shown, cfg["display"], cfg["generated"]), snakemake.output.gallery)
