"""Count correct outputs by the round of a client's last participation."""

from favor.analysis.participation import by_last_round
from favor.analysis.schemas import PARTICIPATION
from favor.analysis.settings import Participation
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, Participation) as settings:
    encoder = settings.style_encoder
    inputs = ScoreInputs.load(snakemake.input, settings.seeds, [encoder])
    last = {
        method: {int(seed): clients for seed, clients in seeds.items()}
        for method, seeds in settings.last_rounds.items()
    }
    write_parquet(by_last_round(inputs, encoder, last), snakemake.output.participation, PARTICIPATION)
