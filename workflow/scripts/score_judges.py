"""Score the judgements of an experiment, or record that it has no judge."""

from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.studies.judges.judges import judge_scores, no_judge_scores
from favor.studies.judges.schemas import JUDGE_KEY, JUDGEMENTS
from favor.studies.settings import JudgeScoring

with job(snakemake, JudgeScoring) as settings:
    if snakemake.input.judged:
        judgements, key = (
            read_parquet(path, table)
            for path, table in zip(snakemake.input.judged, (JUDGEMENTS, JUDGE_KEY), strict=True)
        )
        resampling = (settings.bootstrap.seed, settings.bootstrap.draws)
        scores = judge_scores(judgements, key, settings.methods, "favor", settings.voice, *resampling)
    else:
        scores = no_judge_scores(settings.seeds, settings.methods)
    write_parquet(scores, snakemake.output.scores, SCORES)
