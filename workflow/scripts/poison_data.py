"""Give every attacker the texts of the client whose voice the shared adapter shall take."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.poisoning import hijacked
from favor.federation.settings import Hijack
from favor.foundation.parquet import read_parquet, write_row_groups
from favor.running.jobs.job import job

with job(snakemake, Hijack) as settings:
    texts = hijacked(read_parquet(snakemake.input.texts, CLIENT_TEXTS), settings.attackers, settings.target)
    write_row_groups(texts, snakemake.output.texts, CLIENT_TEXTS, "client")
