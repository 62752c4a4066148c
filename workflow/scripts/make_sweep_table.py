"""Print one table over the points of a sweep: Parquet, LaTeX and HTML."""

from pathlib import Path

import pandas as pd

from favor.analysis.schemas import COMPARISONS, EVIDENCE
from favor.corpora.schemas import PROMPTS
from favor.foundation.files import write_text
from favor.foundation.parquet import read_parquet, write_parquet
from favor.paper.values import load_paper_values
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES, SWEEP_SCORES
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.completion import EvaluationPosts, printed_spec
from favor.tables.html import html_document
from favor.tables.latex import latex_table
from favor.tables.settings import SweepPrinting
from favor.tables.sweeps import at_points, build_sweep, printed_at_points, with_choice

with job(snakemake, SweepPrinting) as settings:
    label, points, contexts = snakemake.wildcards.label, settings.points, settings.contexts
    # .../{experiment}/statistics/{label}.parquet
    comparisons = {
        Path(path).parent.parent.name: read_parquet(path, COMPARISONS) for path in snakemake.input.comparisons
    }
    # .../{experiment}/evidence.parquet
    evidence = {Path(path).parent.name: read_parquet(path, EVIDENCE) for path in snakemake.input.evidence}
    prompts: dict[str, dict[int, pd.DataFrame]] = {name: {} for name in contexts}
    for path in map(Path, snakemake.input.prompts):  # .../{experiment}/seed{seed}/prompts.parquet
        read = read_parquet(path, PROMPTS, ["client", "document_id"])
        prompts[path.parts[-3]][int(path.parts[-2].removeprefix("seed"))] = read
    posts = {name: EvaluationPosts.of(read, contexts[name].prompts) for name, read in prompts.items()}
    # .../{experiment}/scores/author_retrieval.parquet
    retrieval = {Path(path).parent.parent.name: read_parquet(path, SCORES) for path in snakemake.input.retrieval}
    specs = {name: printed_spec(label, own, posts[name], retrieval.get(name)) for name, own in contexts.items()}
    spec = printed_at_points(label, points, specs)
    paper = load_paper_values(label) if snakemake.input.paper else None
    scores = read_parquet(snakemake.input.scores, SWEEP_SCORES)
    if settings.choose_by:
        spec = with_choice(spec, scores, points, settings.display)
    cells = build_sweep(spec, points, scores, contexts, paper, comparisons, evidence)
    write_parquet(cells, snakemake.output.cells, TABLE_CELLS)
    write_text(latex_table(at_points(spec, points), cells), snakemake.output.tex)
    write_text(html_document(at_points(spec, points), cells), snakemake.output.html)
