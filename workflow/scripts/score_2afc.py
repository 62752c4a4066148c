"""Check the response files of the human audit and score their votes; without any, the scores say why."""

from pathlib import Path

from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.studies.human_audit.human_2afc import audit_scores, missing_scores
from favor.studies.human_audit.items import HUMAN
from favor.studies.human_audit.responses import read_votes
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS, HUMAN_2AFC_VOTES
from favor.studies.settings import AuditVotes

with job(snakemake, AuditVotes) as settings:
    sources = [*settings.methods, HUMAN]
    if snakemake.input.audit:
        items = read_parquet(snakemake.input.audit, HUMAN_2AFC_ITEMS)
        sources = [source for source in sources if source in set(items["source"])]
        votes = read_votes(list(map(Path, snakemake.input.responses)), items, settings.annotators, settings.seed)
        scores = audit_scores(votes, sources, settings.annotators, settings.seed)
    else:
        votes = HUMAN_2AFC_VOTES.empty()
        scores = missing_scores(sources, "the experiment has no human audit (studies.human_2afc)")
    write_parquet(votes, snakemake.output.votes, HUMAN_2AFC_VOTES)
    write_parquet(scores, snakemake.output.scores, SCORES)
