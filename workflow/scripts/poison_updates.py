"""Multiply what attackers among the clients of a job upload."""

from favor.federation.client_archive import read_pack, write_pack
from favor.federation.poisoning import lied
from favor.federation.settings import FalseUploads
from favor.running.jobs.job import job

with job(snakemake, FalseUploads) as settings:
    uploads, header = read_pack(snakemake.input.upload)
    for client in settings.attackers:
        uploads[client] = {content: lied(update, settings.factor) for content, update in uploads[client].items()}
    write_pack(snakemake.output.upload, uploads, header)
