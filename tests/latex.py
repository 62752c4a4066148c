"""Tables in the document that a paper is: an article of two columns, with the packages that their first lines name."""

from __future__ import annotations

import re
from pathlib import Path

from favor.report.pdf import compile_latex


def two_columns(tables, folder) -> tuple[Path, list[str]]:
    """Set ``tables`` (LaTeX sources) and return the PDF, and what pdfLaTeX says is too wide or too tall."""
    sources = list(filter(None, tables))  # a table of every metric has none where nothing was scored
    (needed,) = {source.partition("\n")[0].partition(": needs ")[2] for source in sources}
    # Pages are cleared so that LaTeX's limit of waiting floats is not what is tested.
    body = "\n\\clearpage\n".join(sources)
    document = folder / "tables.tex"
    document.write_text(
        rf"\documentclass[twocolumn]{{article}}\usepackage{{{needed}}}\begin{{document}}"
        f"\n{body}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    pdf = compile_latex(document)
    log = document.with_suffix(".log").read_text(errors="replace")
    return pdf, re.findall(r"Float too large.*|Overfull \\hbox.*|Reference .* undefined.*", log)
