"""Write the page of one annotator of the human audit. It quotes texts: for the annotator, not for publication."""

from favor.foundation.files import read_parquet, write_text
from favor.foundation.job import job
from favor.studies.human_2afc_page import annotator_page
from favor.studies.human_2afc_responses import annotator_name

with job(snakemake) as cfg:
    items = read_parquet(snakemake.input.audit, "human_2afc_items")
    write_text(annotator_page(items, annotator_name(cfg["annotator"]), cfg["seed"]), snakemake.output.page)
