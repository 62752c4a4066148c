"""Give every author one role: client, style encoder A or B, background, or none; show that no two roles overlap."""

from favor.corpora.authors import check_background
from favor.corpora.roster import Measured, assign_roles, measure_overlap
from favor.corpora.schemas import NEAR_DUPLICATES, OVERLAP, ROSTER
from favor.corpora.settings import RoleAssignment
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake, RoleAssignment) as settings:
    measured = Measured.read(snakemake.input)
    for file in snakemake.input.background:
        check_background(measured.background, file)
    roster = assign_roles(measured, settings)
    copies = [read_parquet(path, NEAR_DUPLICATES) for path in snakemake.input.near_duplicates]
    near = (copies[0], settings.near_duplicates) if copies and settings.near_duplicates is not None else ()
    write_parquet(measure_overlap(roster, measured.documents, *near), snakemake.output.overlap, OVERLAP)
    write_parquet(roster, snakemake.output.roster, ROSTER)
