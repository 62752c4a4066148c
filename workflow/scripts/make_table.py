"""Print one table of the paper from its declared specification: Parquet, LaTeX and HTML."""

from favor.analysis.schemas import COMPARISONS, EVIDENCE
from favor.corpora.schemas import PROMPTS
from favor.foundation.files import write_text
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.paper.values import load_paper_values
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.tables.build import build_table
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.completion import EvaluationPosts, printed_spec
from favor.tables.html import html_document
from favor.tables.latex import latex_table
from favor.tables.settings import PrintedTable

with job(snakemake, PrintedTable) as settings:
    context, label = settings.context, snakemake.wildcards.label
    # A table of configuration alone reads no scores.
    scores = read_tables(snakemake.input.scores, SCORES)
    prompts = [read_parquet(path, PROMPTS, ["client", "document_id"]) for path in snakemake.input.prompts]
    posts = EvaluationPosts.of(dict(zip(context.seeds, prompts, strict=True)), context.prompts)
    retrieval = [read_parquet(path, SCORES) for path in snakemake.input.retrieval]
    spec = printed_spec(label, context, posts, next(iter(retrieval), None), scores)
    paper = load_paper_values(label) if snakemake.input.paper else None
    comparisons = [read_parquet(path, COMPARISONS) for path in snakemake.input.comparisons]
    evidence = [read_parquet(path, EVIDENCE) for path in snakemake.input.evidence]
    cells = build_table(spec, scores, context, paper, next(iter(comparisons), None), next(iter(evidence), None))
    write_parquet(cells, snakemake.output.cells, TABLE_CELLS)
    write_text(latex_table(spec, cells), snakemake.output.tex)
    write_text(html_document(spec, cells), snakemake.output.html)
