"""Print one table of the paper from its declared specification: Parquet, LaTeX and HTML."""

from dataclasses import replace

import pandas as pd

from favor.analysis.schemas import COMPARISONS, EVIDENCE
from favor.corpora.schemas import PROMPTS
from favor.foundation.files import write_text
from favor.foundation.parquet import read_parquet, write_parquet
from favor.paper.values import load_paper_values
from favor.running.jobs.job import job
from favor.scores.metric import scores_frame
from favor.scores.schemas import SCORES
from favor.tables.build import build_table
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.every_metric import panels_of_scores
from favor.tables.html import html_document
from favor.tables.labels import printed_spec
from favor.tables.latex import latex_table
from favor.tables.remarks import EvaluationPosts, cautioned, with_remarks
from favor.tables.settings import PrintedTable

with job(snakemake, PrintedTable) as settings:
    spec = printed_spec(snakemake.wildcards.label)
    # A table of configuration alone reads no scores.
    families = [read_parquet(path, SCORES) for path in snakemake.input.scores]
    scores = pd.concat(families, ignore_index=True) if families else scores_frame([])
    comparisons = [read_parquet(path, COMPARISONS) for path in snakemake.input.comparisons]
    paper = load_paper_values(spec.label) if snakemake.input.paper else None
    context = settings.context
    if spec.every_metric:
        spec = replace(spec, panels=panels_of_scores(scores, context))
    prompts = [read_parquet(path, PROMPTS, ["client", "document_id"]) for path in snakemake.input.prompts]
    posts = EvaluationPosts.of(dict(zip(context.seeds, prompts, strict=True)), context.prompts)
    spec = with_remarks(spec, posts, context.remarks, context.clients)
    for path in snakemake.input.retrieval:
        spec = cautioned(spec, read_parquet(path, SCORES), context.encoders, context.encoder_titles)
    evidence = [read_parquet(path, EVIDENCE) for path in snakemake.input.evidence]
    cells = build_table(spec, scores, context, paper, next(iter(comparisons), None), next(iter(evidence), None))
    write_parquet(cells, snakemake.output.cells, TABLE_CELLS)
    write_text(latex_table(spec, cells), snakemake.output.tex)
    write_text(html_document(spec, cells), snakemake.output.html)
