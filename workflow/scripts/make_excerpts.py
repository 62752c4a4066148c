"""Print the qualitative table, which quotes texts and is not for publication: Parquet, LaTeX and HTML."""

from pathlib import Path

import pandas as pd

from favor.foundation.files import read_parquet, write_parquet, write_text
from favor.foundation.job import job
from favor.report.build import Context
from favor.report.excerpts import build_excerpts
from favor.report.html import html_document
from favor.report.latex import latex_table
from favor.report.specs import load_spec
from favor.scores.inputs import load_prompts

with job(snakemake) as cfg:
    generations = pd.concat([read_parquet(path, "generations") for path in snakemake.input.generations])
    prompts = load_prompts(dict(zip(cfg["seeds"], map(Path, snakemake.input.prompts), strict=True)))
    spec, cells = build_excerpts(load_spec("qualitative-appendix"), generations, prompts, Context(**cfg))
    write_parquet(cells, snakemake.output.cells, "table_cells")
    write_text(latex_table(spec, cells), snakemake.output.tex)
    write_text(html_document(spec, cells), snakemake.output.html)
