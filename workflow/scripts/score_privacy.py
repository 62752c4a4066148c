"""Score what was read of every attacked row: how well each attack does, and how sure that is."""

from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.studies.privacy import schemas
from favor.studies.privacy.privacy import Readings, distinctiveness, privacy_scores
from favor.studies.settings import PrivacyScoring

CLIENTS, LEAVERS = ("canary_cosine", "empirical_epsilon"), ("leaver_auc", "leaver_fall")

with job(snakemake, PrivacyScoring) as settings:
    tables = (
        schemas.PRIVACY_LOSSES,
        schemas.PRIVACY_LINKS,
        schemas.PRIVACY_CANARIES,
        schemas.PRIVACY_CANARY_CLIENTS,
        schemas.PRIVACY_NORMS,
    )
    readings = list(snakemake.input.readings)
    found = [read_tables(readings[at :: len(tables)], table) for at, table in enumerate(tables)]
    distinct = distinctiveness(read_parquet(snakemake.input.style, SOURCE_EMBEDDINGS))
    of_rows = {}
    for method in settings.methods:
        losses, links, canaries, clients, norms = (frame[frame["method"] == method] for frame in found)
        without = {
            "canary_exposure": "no secrets are planted (studies.privacy.canaries)",
            **dict.fromkeys(LEAVERS, "no run without clients who left (studies.privacy.leaving)"),
            **dict.fromkeys(CLIENTS, "no canary clients (studies.privacy.canary_clients), or the server takes no mean"),
        }
        if method not in settings.personal:
            without["personal"] = "the clients of this row keep no adapter"
        of_rows[method] = Readings(
            losses, links, canaries, clients, norms, distinct, settings.delta, without, method in settings.silent
        )
    scores = privacy_scores(of_rows, settings.bootstrap.seed, settings.bootstrap.draws)
    write_parquet(scores, snakemake.output.scores, SCORES)
