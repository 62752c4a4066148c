"""Write the report: one HTML page and, where LaTeX is installed, one PDF."""

from pathlib import Path

from favor.report.assembly import assemble
from favor.report.page import write_html_report
from favor.report.pdf import write_pdf_report
from favor.running.job import job

with job(snakemake) as cfg:
    experiments = {name: cfg["experiments"][name] for name in cfg["order"]}
    report = assemble(Path(cfg["results"]), experiments, cfg["sweeps"], cfg["accepted"])
    for path in snakemake.output:
        (write_pdf_report if path.endswith(".pdf") else write_html_report)(path, report)
