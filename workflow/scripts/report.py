"""Write the report: one HTML page and, where LaTeX is installed, a PDF of everything and one of its first screen."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from favor.report.assembly import assemble
from favor.report.page import write_html_report
from favor.report.pdf import write_pdf_report
from favor.report.settings import WholeReport
from favor.running.jobs.job import job

with job(snakemake, WholeReport) as settings:
    experiments = {name: settings.experiments[name] for name in settings.order}
    report = assemble(Path(settings.results), experiments, settings.sweeps, settings.accepted)

    def write(path: str) -> None:
        """Write the report in the format that the name ends with."""
        if path.endswith(".pdf"):
            write_pdf_report(path, report, card=path.endswith(".card.pdf"))
        else:
            write_html_report(path, report)

    with ThreadPoolExecutor() as pool:  # LaTeX is a process of its own
        list(pool.map(write, snakemake.output))
