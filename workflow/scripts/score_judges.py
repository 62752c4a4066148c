"""Score the judgements of an experiment, or record that it has no judge."""

from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.tables import SCORES
from favor.studies.judges.judges import judge_scores, no_judge_scores
from favor.studies.judges.tables import JUDGE_KEY, JUDGEMENTS

with job(snakemake) as cfg:
    if snakemake.input.judged:
        judgements, key = (
            read_parquet(path, table)
            for path, table in zip(snakemake.input.judged, (JUDGEMENTS, JUDGE_KEY), strict=True)
        )
        scores = judge_scores(
            judgements, key, cfg["methods"], "favor", cfg["voice"], cfg["bootstrap"]["seed"], cfg["bootstrap"]["draws"]
        )
    else:
        scores = no_judge_scores(cfg["seeds"], cfg["methods"])
    write_parquet(scores, snakemake.output.scores, SCORES)
