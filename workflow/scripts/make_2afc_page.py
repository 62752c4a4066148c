"""Write the page of one annotator of the human audit. It quotes texts: for the annotator, not for publication."""

from favor.foundation.files import write_text
from favor.foundation.parquet import read_parquet
from favor.running.jobs.job import job
from favor.studies.human_audit.page import annotator_page
from favor.studies.human_audit.responses import annotator_name
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS
from favor.studies.settings import AuditPage

with job(snakemake, AuditPage) as settings:
    items = read_parquet(snakemake.input.audit, HUMAN_2AFC_ITEMS)
    annotator = annotator_name(int(snakemake.wildcards.annotator))
    write_text(annotator_page(items, annotator, settings.seed, settings.times), snakemake.output.page)
