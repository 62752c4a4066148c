"""Print the qualitative table, which quotes texts and is not for publication: Parquet, LaTeX and HTML."""

from favor.federation.generations import first_samples
from favor.foundation.files import write_text
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import load_prompts
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.completion import printed_spec
from favor.tables.html import html_document
from favor.tables.latex import latex_table
from favor.tables.quoted_examples import build_excerpts
from favor.tables.settings import Excerpts

with job(snakemake, Excerpts) as settings:
    generations = first_samples(snakemake.input.generations)
    context = settings.context
    prompts = load_prompts(context.seeds, snakemake.input.prompts)
    spec = printed_spec("qualitative-appendix")
    spec, cells = build_excerpts(spec, generations, prompts, context, settings.words)
    write_parquet(cells, snakemake.output.cells, TABLE_CELLS)
    write_text(latex_table(spec, cells), snakemake.output.tex)
    write_text(html_document(spec, cells), snakemake.output.html)
